"""Facts: what is read from messages and believed of people and things. The kernel does not import it."""
