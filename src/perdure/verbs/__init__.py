"""The verbs of a memory, each declared once: its Python method carries all that the other ways in are made from."""
