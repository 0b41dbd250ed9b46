"""Embedders: calls to models. Import the one you need; nothing heavy is loaded before its first call."""
