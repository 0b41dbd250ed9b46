"""Decisions about several memories: duplicates, tasks, sessions, edges."""
