"""Decisions: records + policy + now -> plans and answers. No clock, no randomness, no I/O."""
