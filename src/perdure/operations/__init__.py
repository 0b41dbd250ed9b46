"""One story for each file: read, decide, apply. No SQL, no HTTP, no numpy, no clock."""
