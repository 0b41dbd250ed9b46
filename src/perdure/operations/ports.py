"""What operations need from the world: a store, an embedder, a clock, ids. Protocols only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from perdure.operations.extension import Extension
from perdure.operations.question_vectors import QuestionVectors
from perdure.operations.store_protocol import Store
from perdure.records.access import Grant
from perdure.records.errors import PerdureWarning
from perdure.records.instant import Instant
from perdure.records.policy import Policy
from perdure.records.recall import Query
from perdure.records.store_rows import Canary
from perdure.records.transfer import Line
from perdure.records.vector import Space, Vector

if TYPE_CHECKING:  # it loads numpy
    from perdure.rules.lifecycle.signals import Counted

Clock = Callable[[], Instant]
Ids = Callable[[Instant], str]  # an instant to a new UUIDv7; ids of one process never repeat or go backwards

Progress = Callable[[int, int], None]  # (done, total)


class PackedEmbedder(Protocol):
    """Text to packed vectors of one space."""

    @property
    def space(self) -> Space:
        """The space that the vectors belong to."""

    def embed(self, texts: Sequence[str], *, purpose: Literal["query", "document"]) -> list[Vector]:
        """Return one unit vector for each text; raises EmbedderError."""


class Model(Protocol):
    """A language model that answers in JSON. Nothing needs one; what it says is data that is checked."""

    def ask(self, instruction: str, text: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what it says about a text, as an object that fits a JSON Schema; raises ModelError."""


class Reranker(Protocol):
    """Says how well texts answer a question. Nothing needs one."""

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return a finite number for each text, higher for a better answer; raises ModelError."""


class PairJudge(Protocol):
    """Says how likely a later statement makes an earlier one untrue. Nothing needs one."""

    def chances(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the chance of each (earlier, later) pair of texts, 0 to 1; raises EmbedderError."""


class Warn(Protocol):
    """Tells the person something once, loudly."""

    def __call__(self, text: str, kind: type[PerdureWarning] = ..., /) -> None:
        """Say it, as a warning of some kind."""


class Backups(Protocol):
    """Where backups are kept."""

    def write(self, namespace: str, at: Instant, lines: Iterable[Line]) -> str:
        """Write a backup, read it back and compare, and return where it is; the file appears only when it is whole.

        Raises:
            DiskFull, StoreError: It could not be written, or does not hold what was written.
        """

    def rewrite(
        self, namespace: str, change: Callable[[Iterable[Line]], Iterable[Line]]
    ) -> tuple[list[str], list[str]]:
        """Replace each backup of a namespace by what a change makes of its lines.

        Returns:
            Those that changed, and a sentence for each that could not be read or written: it is as it was.
        """

    def read(self, namespace: str) -> Iterator[tuple[str, Iterable[Line]]]:
        """Yield where each backup of a namespace is that can be read, and its lines."""

    def search(self, namespace: str, texts: Sequence[str]) -> list[str]:
        """Return where a backup of a namespace still holds words of erased texts, one sentence for each row."""


class KeptCopies(Protocol):
    """The store as it was before repairs and restores, as they leave it beside the present one."""

    def paths(self) -> tuple[str, ...]:
        """Return where such copies are."""

    def next_path(self) -> str:
        """Return where a repair keeps the store as it is now, if it writes the file anew."""


class SummaryFile(Protocol):
    """The file that holds a digest, among a person's lines."""

    def write(self, text: str, *, namespace: str = "default") -> bool:
        """Write the digest of a namespace into it, and return whether it changed.

        Raises:
            InvalidInput, ConflictError, DiskFull: It could not be written, or a person changed what was written before;
                it is as it was.
        """
        ...


@dataclass(slots=True)
class Context:
    """What every operation is given."""

    store: Store  # where memories are kept
    policy: Policy  # the policy in force
    clock: Clock  # returns now
    ids: Ids  # makes ids
    embedder: PackedEmbedder | None  # text to vectors, or None for words only
    tokens: Callable[[str], int]  # counts a text's tokens: as the embedder does, else an estimate that errs high
    warn: Warn  # tells the person something once, loudly (for example that the embedder is missing)
    extension: Extension[Context]  # what learns from conversations, or what holds where nothing does
    golden: tuple[Canary, ...] = ()  # a person's own canaries (``gates.golden``)
    # (text, space) -> query, so that a canary's vector is made once
    questions: dict[tuple[str, str], Query] = field(default_factory=dict)
    asked: QuestionVectors = field(default_factory=QuestionVectors)  # the vectors of recent questions
    backups: Backups | None = None  # where backups go; None where the store has no place for them
    kept_copies: KeptCopies | None = None  # what repairs and restores leave beside the store; None where it is no file
    summary: SummaryFile | None = None  # the file that maintenance keeps the digest in (``digest.file``)
    model: Model | None = None  # a language model, or None; it is asked only where the policy says so
    reranker: Reranker | None = None  # orders the best of a recall once more, or None
    judge: PairJudge | None = None  # says which statements later ones make untrue, or None
    tell_alerts: Callable[[Mapping[str, Any]], None] | None = None  # sends alerts where the policy says; WebhookError
    # opens another store's rows for the length of a block, to read them
    open_copy: Callable[[str], AbstractContextManager[Store]] | None = None
    secret: Callable[[], str] | None = None  # makes an unguessable text of 256 random bits, for tokens
    simulated: bool = False  # whether the caller gave a clock of its own, which may tell any time
    seconds: float | None = None  # how long each call may take; None for what the policy says
    grant: Grant | None = None  # what the caller's token allows; None for a program that opened the store itself
    # lines of a digest, as a model was shown them -> what it made of them
    joined: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    # what a caller asked to see -> a digest of what it would do
    previews: dict[object, str] = field(default_factory=dict)
    # what waiting accesses came to: a memory may be used a thousand times between two sweeps
    counted: Counted = field(default_factory=dict)
    # namespace -> (tokens, day) at which it could not be brought within the policy's budget
    crowded: dict[str, tuple[int, int]] = field(default_factory=dict)
    # namespace -> (its last operation, hour) at which these memories had a line in MEMORY.md
    listed: dict[str, tuple[tuple[str, int], frozenset[str]]] = field(default_factory=dict)
    # id of a token -> when this process last tried to note that it was used
    noted: dict[str, Instant] = field(default_factory=dict)
    # namespace -> the day on which this process last tried there what gates hold back
    tried: dict[str, int] = field(default_factory=dict)
