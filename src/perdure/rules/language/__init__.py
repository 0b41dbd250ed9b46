"""Words, sentences and tokens of a text."""
