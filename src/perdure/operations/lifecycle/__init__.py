"""Operations on a memory's life: sweeps, reinforcement, pins, review, budgets, backups."""
