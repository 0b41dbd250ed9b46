"""Frozen data about facts, entities and authorities."""
