"""What still holds of a message that says two things, where later ones speak of one of them only."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from perdure.records.memory import MemoryItem
from perdure.rules.language.clauses import joined_parts
from perdure.rules.language.replaced_values import content_words, replaced_values
from perdure.rules.language.sentences import PLAIN_WORDS
from perdure.rules.lasting import lasting_sentences, stands_alone
from perdure.rules.lifecycle.digest_lines import telling_sentences

_LEAST_PARTS: Final = 2
_LEAST_WORDS: Final = 3  # so many long words tell something, in a part that neither names nor numbers what lasts
_LONG: Final = 4  # letters
_SHORT: Final = 2  # words of so few letters are articles and the like in many languages
_ENDS: Final = ".!?。！？"  # noqa: RUF001  # full-width marks are meant
_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class OutdatedPart:
    """What a message says that is over, and which of the later texts says so last."""

    text: str
    by: int  # the place of the later text


@dataclass(frozen=True, slots=True)
class PartlyOutdated:
    """A message of which a part is over."""

    parts: tuple[OutdatedPart, ...]
    left_out: tuple[_Span, ...]  # without these characters the text says only what holds, as far as it can be cut


def partly_over(text: str, later: Sequence[frozenset[str]]) -> PartlyOutdated | None:
    """Return what of a text is over and what is not; None where all of it is, or nothing tells which part.

    ``later`` are the content words of the texts that make it untrue, the latest last. A part is over that one of them
    has a word of. What holds must tell something that can be understood alone, and each of the later texts must speak
    of some part: else it may speak of any.
    """
    sentences = joined_parts(text)
    parts = [span for some in sentences for span in some]
    if len(parts) < _LEAST_PARTS or not later:
        return None
    words = {span: _telling_words(content_words(text[slice(*span)])) for span in parts}
    if not all(any(told & own for own in words.values()) for told in later):
        return None
    over = {
        span: max(at for at, told in enumerate(later) if told & own)
        for span, own in words.items()
        if any(told & own for told in later)
    }
    holding = [span for span in parts if span not in over and _tells(text[slice(*span)], words[span])]
    if not holding:
        return None
    told = tuple(OutdatedPart(text[slice(*span)].strip(" \t,;.!?"), over[span]) for span in parts if span in over)
    cuts = tuple(cut for some in sentences if (cut := _cut_span(text, some, over.keys(), holding)))
    return PartlyOutdated(told, cuts)


def without_returned(
    partly: Mapping[str, Mapping[str, str]], memories: Sequence[MemoryItem], pairs: Collection[tuple[str, str]]
) -> dict[str, dict[str, str]]:
    """Return what of memories is over, without the values that hold again: what ended them is likely untrue since.

    "Invoices stay on RabbitMQ" follows "invoices move from RabbitMQ to NATS": the first "invoices go through RabbitMQ"
    holds.

    Args:
        partly: Memory -> what of it is over, each with the memory that says so.
        memories: What was said, those that end something among it.
        pairs: (later, earlier): the later one likely makes the earlier one untrue, or is about the same thing.
    """
    texts = {m.id: m.content for m in memories}
    since: dict[str, list[str]] = {}
    for later, earlier in pairs if partly else ():
        if later in texts:
            since.setdefault(earlier, []).append(texts[later])
    return {
        i: {value: by for value, by in values.items() if not any(_says_again(t, value) for t in since.get(by, ()))}
        for i, values in partly.items()
    }


def _says_again(text: str, value: str) -> bool:
    """Return whether a text has a value, and does not name it as replaced."""
    words = content_words(value)
    return words <= content_words(text) and not any(words & gone.words for gone in replaced_values(text))


def _telling_words(words: frozenset[str]) -> frozenset[str]:
    return frozenset(w for w in words if w not in PLAIN_WORDS and not (w.isalpha() and len(w) <= _SHORT))


def _tells(part: str, words: frozenset[str]) -> bool:
    """Return whether a part tells something that can be understood alone."""
    long_words = sum(len(word) >= _LONG for word in words)
    says_enough = long_words >= _LEAST_WORDS or bool(lasting_sentences(part))
    return says_enough and stands_alone(part) and bool(telling_sentences([part]))


def _cut_span(text: str, parts: Sequence[_Span], over: Collection[_Span], holding: Collection[_Span]) -> _Span | None:
    """Return what may be left out of a sentence: all of it, or what stands behind the last part that holds.

    What holds behind a part that is over may need its subject, so such a sentence stays whole.
    """
    start, end = parts[0][0], parts[-1][1]
    if all(span in over for span in parts):
        return start, end
    last = max((at for at, span in enumerate(parts) if span not in over), default=-1)
    if last + 1 == len(parts) or any(span in over for span in parts[:last]) or parts[last] not in holding:
        return None
    return parts[last][1], end - (text[end - 1] in _ENDS)
