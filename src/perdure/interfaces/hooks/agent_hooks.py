"""What each hook of a coding agent does: its input is read, its transcript is taken in, memories are shown.

A hook must never stand in the agent's way: whatever goes wrong is told on standard error, and it ends well. This module
loads neither the command line nor, beside a prompt, any model: the agent waits for it.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from perdure.interfaces.files.project import project_namespace, resolved
from perdure.interfaces.hooks.hook_input import EVENTS, LONGEST_INPUT, HookInput, hook_input, hook_output
from perdure.interfaces.hooks.transcript_tail import Mark, read_since
from perdure.records.errors import NotFound, PerdureError
from perdure.rules.validation.values import checked_namespace, checked_text

if TYPE_CHECKING:  # it loads numpy and SQLite
    from perdure.memory import Memory
    from perdure.operations.remember import Embed

WITH_MEANING: Final = frozenset({"Stop", "PreCompact"})
"""Events that make vectors: nobody waits for the first, and before the second much is at stake."""
CAUGHT_UP: Final = 20
"""So many sessions that were left behind are ended at one start, the oldest first; the others at the next."""
_LONGEST_SESSION: Final = 200
_BYTES_AT_ONCE: Final = 4 * 1024 * 1024


def answered(event: str, text: str, opened: Callable[[bool], Memory], namespace: str | None, *, meaning: bool) -> str:
    """Do what a hook does, and return what it prints; "" says nothing.

    Args:
        event: As the command names it.
        text: Its standard input.
        opened: Opens the store, with an embedder or without.
        namespace: Where; the project's if None.
        meaning: Search by meaning beside a prompt, which takes a second longer.

    Raises:
        PerdureError: The input is none, or the store cannot be used.
    """
    told = hook_input(text, event)
    checked_text(told.session, "session_id", longest=_LONGEST_SESSION)
    place = checked_namespace(namespace if namespace is not None else project_namespace(told.cwd))
    with opened(event in WITH_MEANING or (meaning and event == "UserPromptSubmit")) as memory:
        context = _DOES[event](memory, told, place)
    answer = hook_output(event, context)
    return "" if answer == "{}" else answer


def _start(memory: Memory, told: HookInput, place: str) -> str:
    """Catch up with sessions that nobody ended, note this one, and show what is known."""
    left = memory.agent.unfinished(place, besides=told.session)
    for session in left[:CAUGHT_UP]:
        path = Path(session.transcript) if session.transcript else None
        gone = bool(session.mark) and (path is None or not path.is_file())
        if session.silent or gone:
            try:
                _finish(memory, session.id, path, place)
            except PerdureError as error:  # one session must not keep the others, nor this start
                _complain(f"session {session.id} could not be ended: {error}")
    memory.agent.begin(told.session, place, _path(told.transcript))
    return memory.agent.opening(told.session, place)


def _prompt(memory: Memory, told: HookInput, place: str) -> str:
    memory.agent.alive(told.session, place, _path(told.transcript))
    return memory.agent.beside(told.prompt or "", told.session, place)


def _stop(memory: Memory, told: HookInput, place: str) -> None:
    _take_in(memory, told.session, told.transcript, place)


def _task(memory: Memory, told: HookInput, place: str) -> None:
    if told.task is not None:
        with suppress(NotFound):  # most tasks have no memories of their own
            memory.complete_task(told.task.id, namespace=place)


def _end(memory: Memory, told: HookInput, place: str) -> None:
    _finish(memory, told.session, told.transcript, place)


_DOES: Final[dict[str, Callable[[Memory, HookInput, str], str | None]]] = {
    "SessionStart": _start,
    "UserPromptSubmit": _prompt,
    "Stop": _stop,
    "PreCompact": _stop,
    "TaskCompleted": _task,
    "SessionEnd": _end,
}


def _finish(memory: Memory, session: str, transcript: Path | None, place: str) -> None:
    """Take in what is left of a session, promote what is worth it, and note that it has ended."""
    _take_in(memory, session, transcript, place, embed="later")
    with suppress(NotFound):  # a session in which nothing was said
        memory.end_session(session, namespace=place)
    memory.agent.ended(session, place)


def _take_in(memory: Memory, session: str, transcript: Path | None, place: str, embed: Embed = "now") -> None:
    """Take in what a transcript says since its mark; one that is not there (yet) says nothing."""
    if transcript is None:
        return
    known = memory.agent.known(session, place)
    mark = Mark.of(known.mark) if known is not None and known.mark else None
    while True:
        try:
            messages, after = read_since(transcript, mark, most=_BYTES_AT_ONCE)
        except NotFound:
            return
        if after == mark:
            return
        memory.agent.take_in(session, place, messages, transcript=str(transcript), mark=after.to_text(), embed=embed)
        mark = after


def _path(transcript: Path | None) -> str:
    return "" if transcript is None else str(transcript)


def run(
    event: str, store: str | None, policy: str | None, namespace: str | None, *, meaning: bool, text: str | None = None
) -> None:
    """Run a hook on standard input and print its answer; whatever goes wrong is only told.

    Args:
        event: Which one.
        store: The store's address; looked for as everywhere if None.
        policy: The policy's file; looked for as everywhere if None.
        namespace: Where; ``.`` or None for the project's.
        meaning: As in ``answered``.
        text: The input, where it was read already.
    """

    def opened(with_embedder: bool) -> Memory:  # a callback
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's threads take 0.07 s to start, and do nothing here
        gc.disable()  # the many modules that load now stay: looking through them takes a sixth of the start time
        import perdure  # noqa: PLC0415  # numpy and SQLite load only where a store is opened
        from perdure.interfaces.mcp.run import default_store  # noqa: PLC0415  # as above

        place = str(Path(store).expanduser()) if store is not None and store.startswith("~") else store
        memory = perdure.open(place or default_store(), policy, embedder=None if with_embedder else "none")
        gc.freeze()
        gc.enable()
        return memory

    try:
        given = sys.stdin.buffer.read(LONGEST_INPUT * 4).decode("utf-8", "replace") if text is None else text
        answer = answered(event, given, opened, resolved(namespace), meaning=meaning)
    except PerdureError as error:
        _complain(str(error))
    except Exception as error:  # noqa: BLE001  # a defect of ours must not stop the agent either
        _complain(f"{type(error).__name__}: {error} (a defect of Perdure; please report it)")
    else:
        if answer:
            print(answer)


def _complain(text: str) -> None:
    print(f"perdure hook: {text}", file=sys.stderr)


def main(words: Sequence[str]) -> None:
    """Run a hook from a command line: the words after ``perdure hook``."""
    parser = argparse.ArgumentParser(prog="perdure hook", description="Answer a hook of a coding agent.")
    parser.add_argument("event", choices=EVENTS, metavar="EVENT", help=f"one of {', '.join(EVENTS)}")
    parser.add_argument("--store", help="the file, or postgresql://...")
    parser.add_argument("--policy", help="the policy, a TOML file")
    parser.add_argument("--namespace", "-n", help="default: the name of the project's folder")
    parser.add_argument("--meaning", action="store_true", help="search by meaning beside a prompt, not by words only")
    given = parser.parse_args(words)
    run(given.event, given.store, given.policy, given.namespace, meaning=given.meaning)
