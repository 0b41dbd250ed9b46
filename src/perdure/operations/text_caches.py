"""What the process keeps of texts to be faster: it goes when something is erased."""

from __future__ import annotations

import sys
from functools import lru_cache
from types import ModuleType
from typing import Final

from perdure.operations.ports import Context

_CACHE: Final = type(lru_cache(len))
_PACKAGE: Final = __name__.partition(".")[0]


def forget_texts(ctx: Context, namespace: str) -> None:
    """Drop what this process keeps of texts: of functions that take them, of past questions, of a model's sentences.

    Of what the store keeps for its searches, the namespace's goes.
    """
    ctx.store.forget_texts(namespace)
    clear_text_caches()
    ctx.questions.clear()
    ctx.asked.clear()
    ctx.joined.clear()


def clear_text_caches() -> None:
    """Empty the caches of all functions that keep a limited number of results; these are the ones that take texts.

    They are found, not listed: one that nobody has thought of would go on holding erased words.
    """
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == _PACKAGE and isinstance(module, ModuleType):
            for value in list(vars(module).values()):
                if isinstance(value, _CACHE) and value.cache_parameters()["maxsize"] is not None:
                    value.cache_clear()
