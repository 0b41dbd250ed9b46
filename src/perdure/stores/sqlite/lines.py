"""Lines of the journal as a file keeps them: small, and given back to the letter.

What a line changed and why are one value. Where no words of a memory stand in it, that is packed: ids and long
numbers as bytes, then raw deflate with a dictionary of what most lines say. Lines with words stay as they are,
because what is erased is looked for in the bytes of the file. An id that is a UUID takes 16 bytes.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

import apsw

_PLAIN: Final = b"\x00"
_PACKED: Final = b"\x01"  # the first dictionary; another one gets another number
_BETWEEN: Final = b"\x1e"  # stands in no JSON; the reason, which may hold it, comes last
_NOTHING: Final = b"\x1d"  # a side that is not there
_OWN: Final = b"\x02"  # stands for the id of the line's own operation

_Texts = tuple[str | None, str | None, str | None]
_DAMAGED: Final = "{"
_ALL_DAMAGED: Final[_Texts] = (_DAMAGED, _DAMAGED, _DAMAGED)

_LEVEL: Final = 6
_WINDOW: Final = -12  # raw deflate; 4 kB reach over the dictionary and make a copy of the compressor cheap
_STATES: Final = 5

_GENERATED: Final = re.compile(
    rb"stored as |counted |(hot|warm|cold|vault) to |to vault: |(?:helpful: )?reinforced \("
    rb"|(?:superseded: )?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12} (?:stands for|is its newer summary)"
)
"""Beginnings of the reasons that are made of ids, numbers and words of ours."""
_WORDS: Final = re.compile(rb'"(text|shown|metadata|data)":["{\[]')
"""Columns that hold a memory's words; digests of them are numbers."""

_BOOKKEEPING: Final = re.compile(rb'(?:(?:\x1d|\{\})\x1e)?\{"shelf":"(?:learned|upkeep|rate)",')
"""Documents in which the engine keeps for itself how far it is: ids, instants, counts and names of sessions."""
_FAILED: Final = re.compile(rb'"outcome":"failed"|"failures":[1-9]')  # what an error says may quote a memory

_NUMBERS: Final = re.compile(
    rb'([:." \x1e])(?=[0-9a-f]{8})'  # as each of them begins: most places are passed over by this alone
    rb"([1-9][0-9]{7,18}(?![0-9a-f])|[0-9a-f]{24}(?![0-9a-f])|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
)
"""A number of 8 to 19 digits, half a digest, a UUID: each becomes a byte that says which it is, and its own bytes."""
_BYTES: Final = re.compile(rb"(\x10.{12}|\x11.{16}|\x13.{3}|\x14.{4}|\x15.{5}|\x16.{6}|\x17.{7}|\x18.{8})", re.DOTALL)
_HALF_DIGEST, _UUID_BYTES, _NUMBER = b"\x10", b"\x11", 0x10  # a number's byte is that and how many bytes it takes
_NUMBER_BYTES: Final = [bytes((_NUMBER + size,)) for size in range(9)]
_RESERVED: Final = b"\x02\x10\x11\x12\x13\x14\x15\x16\x17\x18"  # bytes that stand for something else in what is packed

_DICTIONARY: Final = files("perdure.stores").joinpath("sql/sqlite/journal_1.dictionary").read_bytes()
"""What lines often say, made of those of some lives. It is a part of the format."""
_PACKER: Final = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW, _STATES, zlib.Z_DEFAULT_STRATEGY, _DICTIONARY)
_READER: Final = zlib.decompressobj(_WINDOW, _DICTIONARY)
_MOST: Final = 1 << 26  # characters of a line that are unpacked: a damaged one must not take the memory

_KEPT, _LONGEST_KEPT = 2048, 1024  # so many lines of so many bytes are kept unpacked

_UUID_LENGTH, _HALF_LENGTH = 36, 24
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_FORM: Final = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh"
_DIGITS: Final = "0123456789abcdef"
_MESSAGE_KEY: Final = re.compile(r"message:([0-9a-f]{24}):([0-9]+)", re.ASCII)
_HALF_DIGEST_BYTES: Final = 12


def packed_line(
    operation: str, before: str | bytes | None, after: str | bytes | None, because: str | bytes | None
) -> bytes:
    """Return what a line says as one value."""
    reason = _bytes(because)
    line = _BETWEEN.join((_side(before), _side(after), reason))
    words = _GENERATED.match(reason) is None or _WORDS.search(line) is not None
    if words and (_BOOKKEEPING.match(line) is None or _FAILED.search(line)):
        return _PLAIN + line
    if not operation or len(line.translate(None, _RESERVED)) < len(line):
        return _PLAIN + line
    packer = _PACKER.copy()
    return _PACKED + packer.compress(_shorten_numbers(line.replace(operation.encode(), _OWN))) + packer.flush()


def line_part(data: bytes, part: int, operation: str | None) -> str | None:
    """Return what was there (0), what is there (1) or why (2); of a damaged value what is no JSON."""
    return line_texts(data, operation)[part]


def line_texts(data: bytes, operation: str | None) -> _Texts:
    """Return all three parts of a line."""
    try:
        return (_kept_texts if len(data) <= _LONGEST_KEPT else _texts_of)(data, operation)
    except (zlib.error, IndexError, TypeError, ValueError, AttributeError):
        return _ALL_DAMAGED


def _texts_of(data: bytes, operation: str | None) -> _Texts:
    line = _unpack(data)
    if data[:1] == _PACKED:
        line = line.replace(_OWN, (operation or "").encode())
    before, after, because, *_ = (*map(_text_of, line.split(_BETWEEN, 2)), _DAMAGED, _DAMAGED)
    return before, after, because


def _text_of(part: bytes) -> str | None:
    try:
        return None if part == _NOTHING else part.decode()
    except UnicodeDecodeError:
        return _DAMAGED


_kept_texts: Final = lru_cache(_KEPT)(_texts_of)
"""Lines that were unpacked last: statements ask for their parts one by one, and unpacking is what costs."""


def _unpack(data: bytes) -> bytes:
    if data[:1] == _PACKED:
        pieces = _BYTES.split(_READER.copy().decompress(data[1:], _MOST))
        pieces[1::2] = map(_as_text, pieces[1::2])
        return b"".join(pieces)
    if data[:1] != _PLAIN:
        raise ValueError("no line begins like this")
    return data[1:]


def _shorten_numbers(line: bytes) -> bytes:
    pieces = _NUMBERS.split(line)
    pieces[2::3] = map(_as_bytes, pieces[2::3])
    return b"".join(pieces)


def _as_bytes(text: bytes) -> bytes:
    if len(text) == _UUID_LENGTH:
        return _UUID_BYTES + bytes.fromhex(text.replace(b"-", b"").decode())
    if len(text) == _HALF_LENGTH:
        return _HALF_DIGEST + bytes.fromhex(text.decode())
    number = int(text)
    size = (number.bit_length() + 7) // 8
    return _NUMBER_BYTES[size] + number.to_bytes(size, "big")


def _as_text(found: bytes) -> bytes:
    if found[0] > _NUMBER + 2:  # the two before are the marks of half a digest and of a UUID
        return b"%d" % int.from_bytes(found[1:], "big")
    return found[1:].hex().encode() if found[:1] == _HALF_DIGEST else plain_id(found[1:]).encode()


def _side(value: str | bytes | None) -> bytes:
    return _NOTHING if value is None else _bytes(value).replace(_BETWEEN, b" ")


def _bytes(value: str | bytes | None) -> bytes:
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else (value or b"")


@lru_cache(_KEPT)
def packed_id(identity: str | None) -> bytes | str | None:
    """Return a UUID as 16 bytes; any other id stays as it is."""
    if not isinstance(identity, str) or _UUID.fullmatch(identity) is None:
        return identity
    return bytes.fromhex(identity.replace("-", ""))


def plain_id(identity: bytes | str) -> str:
    """Return an id as text again."""
    if not isinstance(identity, bytes):  # a damaged one may be a number
        return identity
    digits = identity.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def packed_after(identity: str) -> bytes:
    """Return the least bytes that a UUID may have whose text comes after an id."""
    digits = ""
    for kind, char in zip(_FORM, identity, strict=False):
        if char not in (_DIGITS if kind == "h" else "-"):
            later = [digit for digit in ("-" if kind == "-" else _DIGITS) if digit > char]
            if not later:  # no UUID that begins with these digits
                return bytes.fromhex(digits.ljust(32, "f")) + b"\x00"
            return bytes.fromhex((digits + later[0].strip("-")).ljust(32, "0"))
        digits += char.strip("-")
    whole = bytes.fromhex(digits.ljust(32, "0"))
    return whole if len(identity) < len(_FORM) else whole + b"\x00"


def packed_key(key: str | None) -> bytes | str | None:
    """Return the idempotency key of a message, which has a digest, as its bytes; any other key stays as it is."""
    found = _MESSAGE_KEY.fullmatch(key) if isinstance(key, str) else None
    return key if found is None else bytes.fromhex(found[1]) + found[2].encode()


def plain_key(key: bytes | str) -> str:
    """Return a key as text again; a damaged one as a text that no key is."""
    if not isinstance(key, bytes):
        return key
    return f"message:{key[:_HALF_DIGEST_BYTES].hex()}:{key[_HALF_DIGEST_BYTES:].decode('latin-1')}"


def add_functions(connection: apsw.Connection) -> None:
    """Make a connection's statements and migrations able to read and write lines."""
    functions: Mapping[str, tuple[Callable[..., Any], int]] = {
        "packed_line": (packed_line, 4),
        "line_part": (line_part, 3),
        "packed_id": (packed_id, 1),
        "plain_id": (plain_id, 1),
        "packed_after": (packed_after, 1),
        "packed_key": (packed_key, 1),
        "plain_key": (plain_key, 1),
    }
    for name, (function, count) in functions.items():
        connection.create_scalar_function(name, function, count, deterministic=True)
