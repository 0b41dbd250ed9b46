"""MEMORY.md as a file: our part stands between two marker lines; a person's lines stay as they are, byte for byte.

The begin marker names a checksum of what was written between the markers: what a person changed there is not replaced.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shlex
import stat
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from perdure.records.digest_marker import BEGIN_MARKER, END_MARKER
from perdure.records.errors import ConflictError, DiskFull, InvalidInput, PerdureError
from perdure.records.store_files import refuse_store

BEGIN = b"<!-- perdure:begin -->"
END = END_MARKER.encode()
LONGEST = 256 << 10
"""The longest file that ``digest_part`` reads, in bytes; maintenance writes a tenth of that at most by default."""
MOST_LINES = 2000  # that ``digest_part`` returns at most: whoever compares them takes time for each pair that is alike
_BOM = b"\xef\xbb\xbf"
_MARKER: Final = re.compile(BEGIN_MARKER.pattern.encode())
_CHECKSUM_DIGITS: Final = 16


@dataclass(frozen=True, slots=True)
class _Before:
    """A file as it was read: where it really is, its bytes, and what tells whether it has changed since."""

    path: Path
    data: bytes
    status: os.stat_result | None


@dataclass(frozen=True, slots=True)
class DigestFile:
    """A file that holds a digest among a person's lines; the methods are the functions below."""

    path: Path

    def write(self, text: str, *, namespace: str = "default", force: bool = False) -> bool:
        return write(self.path, text, namespace=namespace, force=force)

    def check(self, text: str) -> bool:
        return check(self.path, text)

    def is_edited(self, text: str) -> bool:
        """Return whether a person changed what stands between the markers, so that only force writes this digest."""
        return _is_edited(_read(self.path).data, text, str(self.path))

    def part(self) -> str | None:
        """Return the digest that the file holds."""
        return digest_part(self.path)


def write(path: str | os.PathLike[str], text: str, *, namespace: str = "default", force: bool = False) -> bool:
    """Write a digest into a file; return whether the file changed.

    The part between the markers is replaced; without markers the digest is appended after a blank line; a missing file
    is created. A symbolic link is followed within its folder. Either the whole new file is there afterwards, or the old
    one. With ``force`` what a person changed between the markers is replaced, too.

    Raises:
        InvalidInput: The markers are damaged, a person changed what stands between them, or the place cannot be
            written. Nothing was written.
        ConflictError: The file was changed meanwhile. Nothing was written.
        DiskFull: There is no room. Nothing was written.
    """
    refuse_store(Path(path))
    before = _read(Path(path))
    after = merge(before.data, text, str(path))
    if before.status is not None and after == before.data:
        return False
    if not force:
        _check_unedited(before.data, text, str(path), namespace)
    _replace(before, after)
    return True


def check(path: str | os.PathLike[str], text: str) -> bool:
    """Return whether a file holds this digest already, that is, whether ``write`` would leave it unchanged."""
    before = _read(Path(path))
    return before.status is not None and merge(before.data, text, str(path)) == before.data


def digest_part(path: Path) -> str | None:
    """Return the digest that a file holds, from marker to marker: empty where it holds none, None where it is missing.

    A person's lines are not returned. The file may be another's: no link is followed, no pipe waited for, and no more
    is read than ``LONGEST`` bytes.

    Raises:
        InvalidInput: It is no such file, cannot be read, is no UTF-8 text, is too long, or its markers are damaged.
    """
    try:
        with open(path, "rb", opener=_open_foreign) as file:  # a path's own method takes no opener
            regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            data = file.read(LONGEST + 1) if regular else b""
    except FileNotFoundError:
        return None
    except OSError as error:
        linked = error.errno in {errno.ELOOP, errno.EMLINK}
        reason = "it is a symbolic link" if linked else error.strerror
        remedy = "Name the file itself." if linked else "Name a file that the service may read."
        raise InvalidInput(f"{path.name[:100]} cannot be read: {reason}.", remedy=remedy) from error
    if not regular:
        raise InvalidInput(f"{path.name} is not a regular file.", remedy="Name a file, for example MEMORY.md.")
    _check_text(data, path.name)
    lines = _lines(data)
    span = _span(lines, path.name) if len(data) <= LONGEST else None
    if len(data) > LONGEST or (span is not None and span.stop - span.start > MOST_LINES):
        raise InvalidInput(f"{path.name} is too long to be shown.", remedy="Write it with a smaller budget.")
    if span is None:
        return ""
    try:
        return b"".join([BEGIN, b"\n", *lines[span.start + 1 : span.stop]]).decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise _no_text(path.name) from error


def _open_foreign(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def merge(data: bytes, text: str, name: str) -> bytes:
    """Return a file's bytes with the digest and its checksum in them, in the file's own line ends."""
    _check_text(data, name)
    made = _seal(text.encode("utf-8"))
    lines = _lines(data)
    span = _span(lines, name)
    if span is None:
        return _append(data, _with_line_ends(made, lines[0] if lines else b"\n"))
    made = _with_line_ends(made, lines[span.start])
    if span.start == 0 and data.startswith(_BOM):
        made = _BOM + made
    if not lines[span.stop - 1].endswith(b"\n"):
        made = made.rstrip(b"\r\n")
    return b"".join(lines[: span.start]) + made + b"".join(lines[span.stop :])


def _seal(made: bytes) -> bytes:
    """Return a digest whose begin marker names the checksum of what stands between the markers."""
    lines = _lines(made)
    marker = b"<!-- perdure:begin %s -->" % _checksum(lines[1:-1])
    return b"".join([lines[0].replace(BEGIN, marker), *lines[1:]])


def _checksum(lines: list[bytes]) -> bytes:
    """Return a checksum of the words of lines: an editor may change line ends and the spaces before them."""
    return sha256(b"\n".join(line.rstrip() for line in lines)).hexdigest()[:_CHECKSUM_DIGITS].encode()


def _is_edited(data: bytes, text: str, name: str) -> bool:
    """Return whether what stands between the markers is neither what was written there nor what is to be written.

    Where the marker names no checksum nothing tells them apart: it was written by an earlier version.
    """
    lines = _lines(data)
    span = _span(lines, name)
    found = None if span is None else _marker(lines[span.start])
    if span is None or found is None or found[1] is None:
        return False
    between = lines[span.start + 1 : span.stop - 1]
    made = _lines(text.encode("utf-8"))[1:-1]
    return bool(b"".join(between).strip()) and _checksum(between) not in {found[1], _checksum(made)}


def _check_unedited(data: bytes, text: str, name: str, namespace: str) -> None:
    if not _is_edited(data, text, name):
        return
    file, place = shlex.quote(name), "" if namespace == "default" else f" -n {shlex.quote(namespace)}"
    command, new = f"perdure digest{place}", f"perdure remember{place} TEXT"
    raise InvalidInput(
        f"{name} was changed by hand between its markers; nothing was written.",
        remedy=f"`{command} | diff -I perdure:begin {file} -` shows the difference. Take it over into the store "
        f"(`perdure update ID TEXT` for a line that you changed, `{new}` for a new one), or move your lines "
        f"below the end marker, where they stay; then `{command} --out {file} --force` replaces what stands between "
        "the markers.",
    )


def _marker(line: bytes) -> re.Match[bytes] | None:
    return _MARKER.fullmatch(line.removeprefix(_BOM).strip())


def _check_text(data: bytes, name: str) -> None:
    if b"\x00" in data or data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _no_text(name)


def _no_text(name: str) -> InvalidInput:
    return InvalidInput(f"{name} is not UTF-8 text.", remedy="Choose another file, or convert this one to UTF-8.")


def _span(lines: list[bytes], name: str) -> slice | None:
    """Return where our part stands among lines, with its markers; None where there is none."""
    begins = [at for at, line in enumerate(lines) if _marker(line)]
    ends = [at for at, line in enumerate(lines) if line.removeprefix(_BOM).strip() == END]
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or begins[0] > ends[0]:
        raise InvalidInput(
            f"The markers in {name} are damaged: {_where(begins, BEGIN)}, {_where(ends, END)}. Nothing was written.",
            remedy="Keep one begin line with one end line below it, or remove all of them.",
        )
    return slice(begins[0], ends[0] + 1)


def _lines(data: bytes) -> list[bytes]:
    """Split at line feeds only: a lone carriage return is a character of a person's line."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _where(places: list[int], marker: bytes) -> str:
    where = ", ".join(str(at + 1) for at in places)
    return f"{marker.decode()} is on {'line ' + where if places else 'no line'}"


def _with_line_ends(part: bytes, like: bytes) -> bytes:
    return part.replace(b"\n", b"\r\n") if like.endswith(b"\r\n") else part


def _append(data: bytes, part: bytes) -> bytes:
    if not data.removeprefix(_BOM):
        return data + part
    end = b"\r\n" if b"\r\n" in part else b"\n"
    if not data.endswith(b"\n"):
        return data + end + end + part
    return data + part if data.endswith((b"\n\n", b"\n\r\n")) else data + end + part


def _read(path: Path) -> _Before:
    try:
        real = path.resolve()
        _check_link(path, real)
        if not real.exists():
            return _Before(real, b"", None)
        status = real.stat()
        if not stat.S_ISREG(status.st_mode):
            raise InvalidInput(f"{path} is not a regular file.", remedy="Pass a file, for example MEMORY.md.")
        return _Before(real, real.read_bytes(), status)
    except (OSError, RuntimeError) as error:  # a loop of links is a RuntimeError before Python 3.13
        raise _write_error(path, error) from error


def _check_link(path: Path, real: Path) -> None:
    """Refuse a link that leads round, or out of its folder: somebody else may have put it there."""
    if real.is_symlink():  # a loop raises nothing from Python 3.13 on
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if path.is_symlink() and not real.is_relative_to(path.parent.resolve()):
        raise InvalidInput(
            f"{path} is a link that leads out of its folder, to {real}; nothing was written.",
            remedy="Pass that file itself if it is the one you mean.",
        )


def _replace(before: _Before, after: bytes) -> None:
    path = before.path
    if before.status is not None and not os.access(path, os.W_OK):
        raise InvalidInput(f"{path} is read-only.", remedy="Make it writable, or choose another file.")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    try:
        try:
            _write_whole(temporary, after, before.status)
            _check_unchanged(before)
            os.replace(temporary, path)  # noqa: PTH105  # the call that is atomic, by its name
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        _flush_folder(path.parent)
    except OSError as error:
        raise _write_error(path, error) from error


def _write_whole(temporary: Path, data: bytes, like: os.stat_result | None) -> None:
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    with os.fdopen(handle, "wb") as file:
        if like is not None:
            temporary.chmod(stat.S_IMODE(like.st_mode))
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _check_unchanged(before: _Before) -> None:
    """Refuse if a person saved the file while the digest was made."""
    now = before.path.stat() if before.path.exists() else None
    if (now and (now.st_ino, now.st_mtime_ns, now.st_size)) != (
        before.status and (before.status.st_ino, before.status.st_mtime_ns, before.status.st_size)
    ):
        raise ConflictError(
            f"{before.path} was changed in the meantime; nothing was written.", remedy="Run the command again."
        )


def _flush_folder(folder: Path) -> None:
    """Make the new name durable, where the system lets a folder be flushed."""
    if os.name != "posix":
        return
    with suppress(OSError):  # some file systems cannot flush a folder; the file itself is flushed
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _write_error(path: Path, error: OSError | RuntimeError) -> PerdureError:
    number = getattr(error, "errno", None)
    if number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return DiskFull(f"There is no space left to write {path}; the file is unchanged.", remedy="Free some space.")
    if number == errno.ENOENT:
        return InvalidInput(f"The folder {path.parent} does not exist.", remedy="Create it, or choose another folder.")
    reason = getattr(error, "strerror", None) or str(error)
    return InvalidInput(
        f"{path} cannot be written ({reason}); it is unchanged.", remedy="Check the path and permissions."
    )
