"""Lives of agents and what must hold in them. A package, so that no module of this name on the path hides it."""
