"""The SQLite store: one file, several processes, rows and words and vectors in one transaction."""
