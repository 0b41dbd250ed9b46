"""Operations on several memories: duplicates, tasks, sessions, edges."""
