"""A database that knows better: one SELECT for each predicate, read-only, its values bound, stopped when it is slow."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from perdure.knowledge.authorities.connecting import Reader, open_reader
from perdure.knowledge.records.authority import AnswerStatus, AuthorityAnswer, AuthorityQuestion, SqlConfig

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

_ROWS: Final = 50  # rows that are read; an authority that has more does not decide anyway

_LONGEST: Final = 2000  # characters of a value

_LONGEST_REASON: Final = 300
_GIVE_UP: Final = 3
"""So many questions in a row that fail, and the rest is not asked: a dead server must not cost a timeout each."""


class SqlAuthority:
    """A SQL database as an authority. Nothing is opened, and SQLAlchemy is not loaded, before the first question."""

    def __init__(self, config: SqlConfig, folder: Path) -> None:
        self._config = config
        self._folder = folder

    @property
    def name(self) -> str:
        """What it is called in answers."""
        return self._config.name

    def knows(self, predicate: str, namespace: str) -> bool:
        """Whether it answers for a predicate in a namespace."""
        places = self._config.namespaces
        return predicate in self._config.predicates and (not places or namespace in places)

    def answers(self, questions: Sequence[AuthorityQuestion]) -> list[AuthorityAnswer]:
        """Return an answer to each question, over one connection that is closed afterwards; never raises.

        A question that takes longer than the timeout is stopped. After three failures in a row the rest is not asked.
        """
        if not questions:
            return []
        try:
            url = self._url()
            reader = open_reader(url, self._config.timeout_seconds, self._folder)
        except Exception as error:  # noqa: BLE001  # whatever a driver raises, the authority is not reached
            return [_unreachable(self._reason(error))] * len(questions)
        found: list[AuthorityAnswer] = []
        failures = 0
        try:
            for question in questions:
                if failures >= _GIVE_UP:
                    found.append(_unreachable(f"skipped after {_GIVE_UP} failures in a row: {found[-1].evidence}"))
                    continue
                answer = self._answer(reader, question)
                failures = failures + 1 if answer.standing is AnswerStatus.UNREACHABLE else 0
                found.append(answer)
        finally:
            with suppress(Exception):  # it has answered, or has failed before
                reader.close()
        return found

    def _url(self) -> URL:
        from sqlalchemy.engine import make_url  # noqa: PLC0415  # an extra, loaded only where it is used

        text = self._config.url
        if not text:
            text = os.environ.get(self._config.url_variable, "")
            if not text:
                raise LookupError(f"the environment variable {self._config.url_variable} is not set")
        return make_url(text)

    def _answer(self, reader: Reader, question: AuthorityQuestion) -> AuthorityAnswer:
        query = self._config.predicates.get(question.predicate)
        if query is None:
            return AuthorityAnswer(AnswerStatus.SILENT, evidence=f"{self.name} has no query for {question.predicate}")
        aliases = list(dict.fromkeys((question.name, *question.aliases)))
        try:
            rows = reader.rows(query, question.name, aliases, _ROWS + 1)
            values = _values(rows)
        except Exception as error:  # noqa: BLE001  # whatever a driver raises, there is no answer
            return _unreachable(self._reason(error))
        attribute = f"{self.name}: {question.predicate} of {question.name!r}"
        if not values:
            return AuthorityAnswer(AnswerStatus.SILENT, evidence=f"{attribute} is not in it")
        return AuthorityAnswer(AnswerStatus.KNOWN, values, f"{attribute} is {', '.join(map(repr, values))}")

    def _reason(self, error: Exception) -> str:
        """Return why there is no answer, in one line that holds no credentials."""
        if isinstance(error, ModuleNotFoundError):
            return f"{error.name} is not installed; install perdure[authorities], and perdure[postgres] for PostgreSQL"
        cause = getattr(error, "orig", None) or error
        stopped = isinstance(cause, sqlite3.OperationalError) and str(cause) == "interrupted"
        if stopped or type(cause).__name__ == "QueryCanceled":
            return f"no answer within {self._config.timeout_seconds:g} s; the query was stopped"
        text = str(cause).strip().splitlines()
        line = text[0] if text else type(cause).__name__
        for secret in self._secrets():
            line = line.replace(secret, "***")
        return re.sub(r"//[^/@\s]*@", "//***@", line)[:_LONGEST_REASON]

    def _secrets(self) -> list[str]:
        """Return what must never be shown: the URL and its password, as written and as a driver may write them."""
        text = self._config.url or os.environ.get(self._config.url_variable, "")
        found = [] if text.startswith("sqlite:///") else [text]
        with suppress(Exception):  # what cannot be parsed is hidden whole
            from sqlalchemy.engine import make_url  # noqa: PLC0415  # an extra, loaded only where it is used

            url = make_url(text)
            credentials = [url.password, *(v for k, v in url.query.items() if "pass" in k or "key" in k)]
            words = [v for v in credentials if isinstance(v, str) and v]
            found += [*words, *(quote(v, safe="") for v in words)]
        return [secret for secret in found if secret]


def _unreachable(reason: str) -> AuthorityAnswer:
    return AuthorityAnswer(AnswerStatus.UNREACHABLE, evidence=reason)


def _values(rows: Sequence[Sequence[Any]]) -> tuple[str, ...]:
    if any(len(row) != 1 for row in rows):
        raise ValueError(f"the query returns {len(rows[0])} columns; it must return one")
    if len(rows) > _ROWS:
        raise ValueError(f"the query returns more than {_ROWS} rows")
    return tuple(dict.fromkeys(_text(row[0]) for row in rows if row[0] is not None))


def _text(value: Any) -> str:
    for kind, write in _WRITERS:
        if isinstance(value, kind):
            text = write(value).strip()
            break
    else:
        raise ValueError(f"the query returns a {type(value).__name__}; cast it to text")
    if len(text) > _LONGEST or "\x00" in text:
        raise ValueError(f"the query returns a text of {len(text):,} characters, or one with a NUL")
    if not text:
        raise ValueError("the query returns an empty text; return NULL if there is no value")
    return text


_WRITERS: Final[tuple[tuple[type, Callable[[Any], str]], ...]] = (
    (str, str),
    (bool, lambda value: "true" if value else "false"),
    (int, str),
    (float, lambda value: f"{value:.15g}"),
    (Decimal, lambda value: format(value.normalize(), "f")),
    (datetime, lambda value: value.isoformat(sep=" ")),
    (date, date.isoformat),
)
"""A datetime is a date too, and a bool an int: the narrower comes first."""
