"""Rows: where memories are kept. `apply(plan)` is the one write site of every store."""
