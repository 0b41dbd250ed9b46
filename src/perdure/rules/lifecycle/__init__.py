"""Decisions about one memory's life: tiers, forms, archive, due instants."""
