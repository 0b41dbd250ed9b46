"""How many threads numpy's products of matrices take, in the processes that Perdure starts: one.

They would be one for each processor. They take 0.07 s to start, spin while they wait, and on a busy machine a product
waits for the slowest of them.
"""

from __future__ import annotations

import os
from typing import Final

_VARIABLES: Final = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")
"""Where OpenBLAS looks for the number, in its order."""


def take_one() -> None:
    """Have numpy take one thread, unless the environment says how many; call it before numpy is imported."""
    if not any(os.environ.get(name) for name in _VARIABLES):
        os.environ[_VARIABLES[0]] = "1"
