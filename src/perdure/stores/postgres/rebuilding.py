"""Work on a whole server: making anew what it derives from its rows, and removing what deleted rows leave."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

import psycopg
from psycopg import sql

from perdure.records.damage import Fault
from perdure.records.deadline import deadline_error, seconds_left
from perdure.records.errors import StoreDamaged, StoreDenied
from perdure.records.store_rows import Purge
from perdure.stores.erased_texts import Findings, as_bytes, find_in_rows, passages
from perdure.stores.packing import unpack_text
from perdure.stores.postgres.distribution import distribute, is_distributed
from perdure.stores.postgres.faults import first_line, translate_error
from perdure.stores.postgres.inserting import (
    SPAN,
    IndexedText,
    document_of,
    entries_of,
    insert_postings,
    numbered_postings,
    rows_in,
)
from perdure.stores.postgres.schema import differences, is_later, remedies, schema_of
from perdure.stores.postgres.server import Address, Connection, Server, connect
from perdure.stores.postgres.session import Deadlines, PostgresSession
from perdure.stores.rows import UNREADABLE
from perdure.stores.rows import document_of as stored_document
from perdure.stores.statements import registry
from perdure.stores.words import Stemmer

_PAGES: Final = "Pages of the server's disk and its log of writes keep dead rows until the server reuses them."
PAGE: Final = 5000  # memories whose words are compared on one view of the store
_TEXTS: Final = ("clear_orphan_contents", "clear_orphan_vectors")
_PLACE: Final = ("shelf", "id", "name")
_STEPS: Final = (
    "clear_unreadable_recalls",
    "clear_replaced_contents",
    "clear_stray_vectors",
    "clear_orphan_accesses",
    "clear_orphan_keys",
    "clear_tags",
    "fill_tags",
    "clear_postings",
)


def schema_faults(server: Server) -> list[Fault]:
    """Return where the schema of a server differs from a new store's; a table that is locked is not waited for long."""
    return server.admin(lambda session: _differences(session.connection), reading=True)


def _differences(connection: Connection) -> list[Fault]:
    """Return the differences; none where a later version has upgraded the tables, for they are its own to compare.

    That is asked anew each time: they may be upgraded while a process of this version runs.
    """
    rows = connection.execute(registry("postgres")["schema"].sql).fetchall()
    found = schema_of((str(kind), str(name), str(body)) for kind, name, body in rows)
    faults = list(differences(found, distributed=is_distributed(connection)))
    tells = not any(fault.columns[1].partition(".")[0] == "meta" for fault in faults)
    return [] if faults and tells and is_later(connection) else faults


def restore_schema(address: Address) -> None:
    """Drop what acts on our tables and is not ours, and make anew what is missing; needs the tables' owner.

    Raises:
        StoreDenied: The role does not own the tables.
    """
    with connect(address) as connection:
        try:
            with connection.transaction():
                found, spread = _differences(connection), is_distributed(connection)
                for statement in remedies(found, distributed=spread):
                    connection.execute(statement.encode())
                if spread:
                    distribute(connection, lambda _: None)  # tables that were made anew
        except psycopg.errors.InsufficientPrivilege as error:
            raise StoreDenied(
                f"The role may not change the tables ({first_line(error)}).", remedy="Run repair as the tables' owner."
            ) from error
        except psycopg.Error as error:
            raise translate_error(error) from error


def rebuild(server: Server, namespaces: Callable[[], Iterable[str]], stemmer: Stemmer, *, keep_texts: bool) -> None:
    """Make the indexes of words and tags and the counts of some namespaces anew, each in one transaction.

    Namespaces whose own row is lost get another first, and what no plan can name as it stands is deleted: documents
    that are no JSON, and lines of the log of recalls without ids. Documents come back from the journal.
    """
    steps = _STEPS if keep_texts else (*_TEXTS, *_STEPS)
    lost = server.everywhere(lambda session: session.rows("lost_namespaces"), limited=False)
    for namespace in [str(place).removeprefix(server.address.prefix) for (place,) in lost]:
        server.write(namespace, lambda session, _: session.run("restore_namespace"))
    for namespace in namespaces():
        server.write(namespace, lambda session, _: _rebuild(session, stemmer, steps))


def _rebuild(session: PostgresSession, stemmer: Stemmer, steps: Iterable[str]) -> None:
    for name in steps:
        session.run(name)
    _clear_unreadable_documents(session)
    for page in _pages(session, stemmer):
        insert_postings(session, numbered_postings(page[0][0], [(row, document) for row, _, document in page]))
        session.run("renew_lengths", row=[row for row, *_ in page], length=[document.length for *_, document in page])
    session.run("recount")
    session.run("restore_policy")


def _clear_unreadable_documents(session: PostgresSession) -> None:
    place: Sequence[str] = ("", "", "")
    while rows := session.rows("document_page", **dict(zip(_PLACE, place, strict=True)), limit=PAGE):
        for *place, data in rows:
            try:
                stored_document((*place, data))
            except StoreDamaged:
                session.run_rows("delete_document", [{**dict(zip(_PLACE, place, strict=True)), "before": data}])


def _pages(session: PostgresSession, stemmer: Stemmer) -> Iterator[list[tuple[int, str, IndexedText]]]:
    after = -1
    while page := _texts(session, stemmer, after):
        yield page
        after = page[-1][0]


def _texts(session: PostgresSession, stemmer: Stemmer, after: int) -> list[tuple[int, str, IndexedText]]:
    """Return the next memories: (row, id, words)."""
    found = []
    for row, identity, text, packed, speaker in session.rows("texts_after", row_after=after, limit=PAGE):
        try:
            words = unpack_text(text, packed)
        except UNREADABLE:
            words = ""  # another fault says so
        found.append((int(row), str(identity), document_of({"text": words, "speaker": speaker}, stemmer)))
    return found


def word_faults(server: Server, namespace: str, stemmer: Stemmer) -> Iterator[Fault]:
    """Yield the memories of which the index of words does not say what their texts do."""
    after: int | None = -1
    while after is not None:
        faults, after = server.read(namespace, partial(_word_faults, namespace=namespace, stemmer=stemmer, after=after))
        yield from faults


def _word_faults(
    session: PostgresSession, namespace: str, stemmer: Stemmer, after: int
) -> tuple[list[Fault], int | None]:
    page = _texts(session, stemmer, after)
    last = page[-1][0] if len(page) == PAGE else 2**62
    expected = {row: entries_of(document) for row, _, document in page}
    found: dict[int, dict[str, int]] = {row: {} for row in expected}
    for term, first, entries in session.rows("postings_between", row_after=after, until_row=last, span=SPAN):
        for row, entry in rows_in(first, entries):
            if after < row <= last:
                found.setdefault(row, {})[term] = entry
    ids = {row: identity for row, identity, _ in page}
    faults = [
        Fault("words", "The index of words does not hold its words.", namespace, ids.get(row))
        for row, entries in found.items()
        if entries != expected.get(row)
    ]
    return faults, last if len(page) == PAGE else None


_TABLES: Final = (
    *("memory", "content", "posting", "tag", "embedding", "link", "access"),
    *("journal", "document", "recall_log", "operation", "idempotency"),
)


_FEW: Final = 16
"""For so many passages the server looks itself, and sends the rows that hold one; for more it takes longer."""


def _pattern(phrase: str) -> str:
    """Return what LIKE finds a passage by in texts whose letters of ASCII are small."""
    small = as_bytes(phrase).decode()
    return "%" + re.sub(r"([%_\\])", r"\\\1", small) + "%"


def purge(address: Address, server: Server, texts: Sequence[str]) -> Purge:
    """Vacuum the tables, search them for passages, and name replicas and archives, which keep what they have."""
    notes, unvacuumed = _vacuum(address, server)
    copies, unasked = _copies(server)
    phrases, short = passages(texts)
    patterns = [_pattern(phrase) for phrase in phrases] if len(phrases) <= _FEW else None

    def search(session: PostgresSession) -> list[Findings]:
        return [find_in_rows(partial(session.stream, patterns=patterns), phrases, texts)]

    parts = server.everywhere(search, limited=False)
    places = tuple(dict.fromkeys(place for part in parts for place in part.sentences()))
    lost = [
        f"The node {node} of the cluster cannot be reached: it was not vacuumed, not searched, not asked for replicas."
        for node in sorted({*unvacuumed, *unasked, *server.unreachable})
    ]
    return Purge(len(phrases), places, (_PAGES, *notes, *copies, *lost), short)


def vacuum(address: Address, server: Server) -> list[str]:
    """Vacuum the tables outside of any transaction, those of a cluster on its nodes; return what could not be."""
    notes, unvacuumed = _vacuum(address, server)
    return [*notes, *(f"The node {node} of the cluster cannot be reached: it was not vacuumed." for node in unvacuumed)]


def _vacuum(address: Address, server: Server) -> tuple[list[str], list[str]]:
    with connect(address) as connection:
        if not is_distributed(connection):
            return _vacuum_tables(connection), []
    return [], server.ask_nodes("vacuum_on_nodes", limited=False, tables=list(_TABLES))[1]


def _vacuum_tables(connection: Connection) -> list[str]:
    failed: dict[str, list[str]] = {}
    skipped: list[str] = []  # of a table that the role may not vacuum the server only warns
    connection.add_notice_handler(lambda notice: skipped.append(notice.message_primary or ""))
    with Deadlines().limit(connection, seconds_left()) as limit:
        for table in _TABLES:
            try:
                connection.execute(sql.SQL("VACUUM {}").format(sql.Identifier(table)))
            except psycopg.Error as error:
                if limit.passed:
                    raise deadline_error() from error
                failed.setdefault(first_line(error), []).append(table)
    notes = [f"Not vacuumed: {', '.join(missing)} ({reason})." for reason, missing in failed.items()]
    return notes + [f"Not vacuumed: {'; '.join(skipped)}. Have the tables' owner do it."] * bool(skipped)


def _copies(server: Server) -> tuple[list[str], list[str]]:
    """Return what else holds the rows, and is out of reach; and which nodes of a cluster were asked in vain."""
    answers, unasked = server.ask_nodes("copies_of_nodes")
    found = server.admin(lambda session: session.rows("copies_of_server"), reading=True)
    found += [json.loads(told) for told in answers]
    notes = []
    if replicas := sum(count for count, _ in found):
        notes.append(f"Replicas of the server ({replicas}, also those away) follow with a delay; check them.")
    if any(archived != "off" for _, archived in found):
        notes.append("The server archives its log of writes: backups made from it hold what was erased.")
    return notes, unasked
