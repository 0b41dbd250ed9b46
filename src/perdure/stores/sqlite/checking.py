"""Looking for damage in a file: SQLite's own check, its schema, what must hold between tables, and search indexes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, Final

import apsw

from perdure.records.damage import CheckScope, Fault
from perdure.records.errors import BUG, StoreDamaged, StoreError
from perdure.stores.checking import RULES, NamespaceView, broken_rules, journal_faults
from perdure.stores.rows import UNREADABLE
from perdure.stores.spaces import space_faults
from perdure.stores.sqlite.broken_texts import NOT_UTF8, broken_texts
from perdure.stores.sqlite.connection import fetch_all, fetch_value, run, run_many
from perdure.stores.sqlite.index import SearchIndex
from perdure.stores.sqlite.lexical import asks_bytes, place_of, words_of
from perdure.stores.sqlite.schema import WORDS, new_schema, schema_faults

OWN_RULES: Final = {
    "words_without_memory": "index entries without a memory",
    "gone_and_present": "memories that are there and told as gone",
    "impossible_accesses": "accesses that no recall can have made",
    "wrong_recall_counts": "namespaces with a wrong count of recalls",
    "wrong_memory_counts": "namespaces with a wrong count of memories",
    "wrong_last_row": "last row of the file that is before that of a memory",
    "missing_operations": "operations missing in the numbering",
}
_NEVER_USED: Final = ": never used"  # what SQLite says of each page that a lost one led to
_PAGE: Final = 1000
_LAST_ROW: Final = 2**63 - 1
_STEP: Final = 16  # of so many terms one is looked for


def find_faults(connection: apsw.Connection, read: NamespaceView, scope: CheckScope) -> Iterator[Fault]:
    """Yield what is wrong."""
    steps = [_file_faults(connection), schema_faults(connection), *_rule_faults(connection), _space_faults(connection)]
    steps += [journal_faults(read, namespace, scope) for namespace in _readable_namespaces(connection)]
    if scope.whole:
        steps += [_word_faults(connection), _code_faults(connection)]
    broken, told = False, set[Fault]()
    for step in steps:
        for fault in _with_what_cannot_be_read(step):
            broken |= NOT_UTF8 in fault.message
            if fault.part != "file" or fault not in told:  # one page may be in the way of several steps
                yield fault
            told.add(fault)
    if broken:
        yield from broken_texts(connection)


def _with_what_cannot_be_read(faults: Iterator[Fault]) -> Iterator[Fault]:
    """Yield faults, and what kept the rest of them from being found; what passes by itself is raised."""
    try:
        yield from faults
    except (apsw.InterruptError, apsw.BusyError, apsw.LockedError, apsw.FullError, apsw.IOError):
        raise
    except apsw.Error as error:
        yield Fault("file", f"SQLite: {error}.")
    except StoreError as error:
        if not (isinstance(error, StoreDamaged) or error.remedy.startswith(BUG)):
            raise
        yield Fault("file", error.message)
    except UNREADABLE as error:
        yield Fault("file", f"A value cannot be read ({error}).")


def _readable_namespaces(connection: apsw.Connection) -> Iterator[str]:
    """Yield the namespaces as far as they can be read; other faults say why the rest cannot."""
    with suppress(apsw.CorruptError, apsw.SQLError, UnicodeDecodeError):
        for (namespace,) in run(connection, "namespaces"):
            if isinstance(namespace, str):
                yield namespace


def _file_faults(connection: apsw.Connection) -> Iterator[Fault]:
    for (text,) in connection.execute("PRAGMA integrity_check"):
        lines = text.splitlines()
        unused = sum(line.endswith(_NEVER_USED) for line in lines)
        for line in lines:
            if line != "ok" and not line.startswith("***") and not line.endswith(_NEVER_USED):
                yield Fault("file", f"SQLite: {line}")
        if unused:
            yield Fault("file", f"SQLite: {'1 page is' if unused == 1 else f'{unused:,} pages are'} never used.")
    try:
        run(connection, "check_words")
    except apsw.InterruptError:
        raise
    except apsw.ReadOnlyError:
        pass  # the words can only be checked where the file may be written
    except apsw.Error as error:
        yield Fault("words", f"The keyword index is damaged ({error}).")


def _rule_faults(connection: apsw.Connection) -> list[Iterator[Fault]]:
    """Return a step for each rule: one that cannot be looked at keeps nobody from looking at the others."""

    def count(name: str) -> int:
        return int(fetch_value(connection, name))

    return [broken_rules(count, {name: rule}) for name, rule in {**RULES, **OWN_RULES}.items()]


def _space_faults(connection: apsw.Connection) -> Iterator[Fault]:
    def missing_count(space: int) -> int:
        return int(fetch_value(connection, "memories_without_vector", {"space": space}))

    yield from space_faults(fetch_all(connection, "spaces"), missing_count)


def _word_faults(connection: apsw.Connection) -> Iterator[Fault]:
    """Index all texts anew beside the file, and compare what each index knows of a memory."""
    with connection, _index_beside() as fresh, _index_beside() as copy:
        owners: dict[int, tuple[str, str]] = {}
        wrong: set[int] = set()

        def indexed_rows() -> Iterator[tuple[int, str, str]]:
            for row, namespace, identity, *text, asks in run(connection, "texts_with_rows"):
                owners[row] = namespace, identity
                if asks != asks_bytes(*text):
                    wrong.add(row)
                yield row, words_of(*text), place_of(namespace)

        with fresh:
            run_many(fresh, "insert_words", indexed_rows())
        with copy:
            for part in ("blocks", "words_pages"):
                run_many(copy, f"insert_{part}", run(connection, part))
        sizes = [list(run(index, "sizes_of_texts")) for index in (fresh, connection)]
        # Where no text is left, an index has nothing there or zeros.
        averages = [bytes(fetch_value(index, "averages")).rstrip(b"\0") for index in (fresh, connection)]
        if averages[0] != averages[1] or not _finds_its_terms(connection):
            yield Fault("words", "The keyword index is not that of the texts.")
        if sizes[0] != sizes[1] or _merge_index(fresh) != _merge_index(copy):
            sums, others = _sums(fresh), _sums(connection)
            wrong |= {row for row in sums.keys() | others.keys() if sums.get(row) != others.get(row)}
    for row in sorted(wrong & owners.keys()):
        yield Fault("words", "The keyword index does not hold its words.", *owners[row])


def _finds_its_terms(connection: apsw.Connection) -> bool:
    """Whether terms that an index of words holds are found where one looks for them; there are many on each page."""
    terms = fetch_all(connection, "every_term")[::_STEP]
    return all(fetch_value(connection, "document_frequency", {"term": term}) == count for term, count in terms)


@contextmanager
def _index_beside() -> Iterator[apsw.Connection]:
    """Give an empty index of words in memory, made as that of the file."""
    with closing(apsw.Connection(":memory:")) as beside:
        for name in WORDS:
            beside.execute(new_schema()["table", name])
        yield beside


def _merge_index(index: apsw.Connection) -> list[Any]:
    """Merge an index into one segment and return it: equal entries make equal bytes. A last one has it written anew."""
    with index:
        run_many(index, "insert_words", [(_LAST_ROW, "last", "")])
        run(index, "merge_words")
    return list(run(index, "blocks_in_order"))


def _sums(index: apsw.Connection) -> dict[int, int]:
    """Return row -> a sum over its entries in an index of words and their number."""
    sums = Counter[int]()
    run(index, "create_entries")
    for term, row, column, offset in run(index, "entries"):
        sums[row] += hash((term, column, offset))
    run(index, "drop_entries")
    for row, size in run(index, "sizes_of_texts"):
        sums[row] += hash(size)
    return dict(sums)


def _code_faults(connection: apsw.Connection) -> Iterator[Fault]:
    """Compare what searches hold in memory, made of packed codes and the feed of changes, with the rows."""
    for namespace, space, dimensions in fetch_all(connection, "filled_spaces"):
        index = SearchIndex(namespace, space, dimensions)
        key = {"namespace": namespace, "space": space, "limit": _PAGE}
        try:
            index.refresh(connection)
            after, agrees = -1, True
            while agrees and (page := fetch_all(connection, "vectors_after", {**key, "after": after})):
                after, agrees = page[-1][0], index.agrees(page)
        except UNREADABLE:
            agrees = False
        if not agrees:
            yield Fault("codes", "The packed codes are not those of the vectors.", namespace)
