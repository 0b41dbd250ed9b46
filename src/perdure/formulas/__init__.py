"""Arithmetic: numpy arrays in, arrays out. Knows no records, no clock, no I/O."""
