"""Frozen data, standard library only: what the rest of Perdure talks about."""
