"""A line of JSON for each call and each refused request: who asked what, how it ended. Nothing of what was said."""

from __future__ import annotations

import json
import logging
import sys
import warnings
from datetime import UTC, datetime
from typing import Final, TextIO

LOG: Final = logging.getLogger("perdure.calls")
_SERVICE: Final = logging.getLogger("perdure.service")
_CALLER: Final = ("namespace", "token", "actor", "client")
FIELDS: Final = ("verb", "path", "method", "status", "ms", *_CALLER, "operation", "error")


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON; texts of exceptions are left out, because they may repeat what was given."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields = {name: value for name in FIELDS if (value := getattr(record, name, None)) is not None}
        if record.exc_info and record.exc_info[0] is not None:
            fields["error"] = record.exc_info[0].__name__
        about = {} if record.name == LOG.name else {"message": record.getMessage()}
        return json.dumps({"at": at, "level": record.levelname.lower(), "log": record.name, **about, **fields})


def log_to(stream: TextIO) -> None:
    """Write a line for each call and each refused request, and for what the service says, to a stream: all as JSON."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    usual = dict.fromkeys(("perdure", "uvicorn"), logging.WARNING)
    levels = {**usual, LOG.name: logging.INFO, _SERVICE.name: logging.INFO}
    for name, level in levels.items():
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.setLevel(level)
        logger.propagate = False
    warnings.showwarning = lambda message, *_, **__: _SERVICE.warning("%s", message)


def tell_operator(text: str) -> None:
    """Tell who has started the service something: as a line of the log where there is one, else as it is."""
    if is_logged():
        _SERVICE.info("%s", text)
    else:
        print(text, file=sys.stderr, flush=True)


def is_logged() -> bool:
    """Whether calls are written down."""
    return LOG.isEnabledFor(logging.INFO)


def log_call(**fields: object) -> None:
    """Write a line for a call, or for a request that did not get as far."""
    LOG.info("call", extra=fields)
