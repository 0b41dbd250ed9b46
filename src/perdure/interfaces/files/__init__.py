"""Files that are read and written for people: transcripts, exports, plans, MEMORY.md."""
