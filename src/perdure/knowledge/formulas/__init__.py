"""Arithmetic about facts: survival rates and chance."""
