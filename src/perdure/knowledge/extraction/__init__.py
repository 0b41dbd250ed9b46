"""What a message says: events, names, and claims with their predicates and values. May live here: reading words."""
