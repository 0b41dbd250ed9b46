"""Checks of what callers pass in."""
