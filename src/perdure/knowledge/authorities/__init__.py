"""Who knows better than a memory: databases and working trees. They read; they never write, and never decide."""
