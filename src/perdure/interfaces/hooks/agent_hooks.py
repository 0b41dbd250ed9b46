"""What each hook of a coding agent does: its input is read, its transcript is ingested, memories are shown.

A hook must not get in the agent's way: whatever goes wrong is written to standard error, and the exit code is 0. This
module loads neither the command line nor, for UserPromptSubmit, any model: the agent waits for it.
"""

from __future__ import annotations

import argparse
import gc
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from perdure.interfaces import blas_threads
from perdure.interfaces.files.project import policy_to_find, project_folder, project_namespace, resolve_namespace
from perdure.interfaces.hooks.failures import failed_answer, unwritable_told
from perdure.interfaces.hooks.hook_input import EVENTS, HookInput, parse_hook_input, render_hook_output
from perdure.interfaces.hooks.project_notice import project_notice
from perdure.interfaces.hooks.running_server import LONGEST_INPUT, made_default_store
from perdure.interfaces.hooks.transcript_tail import ReadPosition, read_new_messages
from perdure.records.errors import NotFound, PerdureError
from perdure.rules.escaping import terminal_line
from perdure.rules.validation.values import checked_namespace, checked_text
from perdure.user_folders import expand_user

if TYPE_CHECKING:  # it loads numpy and SQLite
    from perdure.memory import Memory
    from perdure.operations.remember import Embed

_WITH_EMBEDDER: Final = frozenset({"Stop", "PreCompact"})
"""Events that make vectors: nobody waits for the first, and before the second much is at stake."""
_MOST_ENDED: Final = 20
"""Sessions that were never ended and are ended at one start, the oldest first; the others at the next."""
_SWEEP_SECONDS: Final = 1.0  # a sweep of the usual project takes a tenth of that
_LONGEST_SESSION: Final = 200
_BYTES_AT_ONCE: Final = 4 * 1024 * 1024


def answer_hook(
    event: str,
    text: str,
    open_memory: Callable[[bool], Memory],
    namespace: str | None,
    *,
    meaning: bool,
    notices: Sequence[str] = (),
    project: Path | None = None,
) -> str:
    """Handle a hook's event, and return what the hook prints; "" prints nothing.

    Args:
        event: As the command names it.
        text: The hook's standard input.
        open_memory: Opens the store, with an embedder or without.
        namespace: Where; the project's if None.
        meaning: Search semantically for UserPromptSubmit, which takes a second longer.
        notices: For the user, shown when a session starts; may be filled while the store is opened.
        project: The project's folder, where the namespace is its own; found by the input if that is None.

    Raises:
        PerdureError: The input is not what the agent sends, or the store cannot be used.
    """
    hook_input = parse_hook_input(text, event)
    checked_text(hook_input.session, "session_id", longest=_LONGEST_SESSION)
    if namespace is None:
        namespace, project = project_namespace(hook_input.cwd), project_folder(hook_input.cwd)
    namespace = checked_namespace(namespace)
    with open_memory(event in _WITH_EMBEDDER or (meaning and event == "UserPromptSubmit")) as memory:
        is_start = event == "SessionStart"
        place = project_notice(memory, project, namespace) if is_start and project is not None else ""
        context = _HANDLERS[event](memory, hook_input, namespace)
        unwritable = unwritable_told(event, hook_input.session, memory.unwritable)
    told = [*(notices if is_start else ()), unwritable, place]
    answer = render_hook_output(event, context, "\n".join(filter(None, told)))
    return "" if answer == "{}" else answer


def _start_session(memory: Memory, hook_input: HookInput, namespace: str) -> str:
    """Note this session, end those that nobody ended, and return what is known.

    Where another process writes the store the others are left to the next start: the user waits for the answer.
    """
    noted = memory.agent.begin(hook_input.session, namespace, _path_text(hook_input.transcript))
    unfinished = memory.agent.unfinished_sessions(namespace, excluded=hook_input.session) if noted else []
    for session in unfinished[:_MOST_ENDED]:
        path = Path(session.transcript) if session.transcript else None
        is_missing = bool(session.mark) and (path is None or not path.is_file())
        if session.silent or is_missing:
            try:
                _finish(memory, session.id, path, namespace)
            except PerdureError as error:  # one session must not keep the others, nor this start
                _report(f"session {session.id} could not be ended: {error}")
    shown = memory.agent.opening(hook_input.session, namespace)
    if noted and memory.policy.upkeep.background:
        _sweep(memory, namespace)
    return shown


def _sweep(memory: Memory, namespace: str) -> None:
    """Make the moves that are due, as far as that is quick: a project without a server has no other maintenance."""
    try:
        memory.within(_SWEEP_SECONDS).sweep(namespace=namespace)
    except PerdureError as error:  # the user waits for the answer, and the next start tries again
        _report(f"what is due was not moved: {error}")


def _submit_prompt(memory: Memory, hook_input: HookInput, namespace: str) -> str:
    memory.agent.alive(hook_input.session, namespace, _path_text(hook_input.transcript))
    return memory.agent.beside(hook_input.prompt or "", hook_input.session, namespace)


def _stop(memory: Memory, hook_input: HookInput, namespace: str) -> None:
    _ingest_transcript(memory, hook_input.session, hook_input.transcript, namespace)


def _complete_task(memory: Memory, hook_input: HookInput, namespace: str) -> None:
    if hook_input.task is not None:
        with suppress(NotFound):  # most tasks have no memories of their own
            memory.complete_task(hook_input.task, namespace=namespace)


def _end_session(memory: Memory, hook_input: HookInput, namespace: str) -> None:
    _finish(memory, hook_input.session, hook_input.transcript, namespace)


_HANDLERS: Final[dict[str, Callable[[Memory, HookInput, str], str | None]]] = {
    "SessionStart": _start_session,
    "UserPromptSubmit": _submit_prompt,
    "Stop": _stop,
    "PreCompact": _stop,
    "TaskCompleted": _complete_task,
    "SessionEnd": _end_session,
}


def _finish(memory: Memory, session: str, transcript: Path | None, namespace: str) -> None:
    """Ingest what is left of a session, promote what is worth it, and note that it has ended."""
    _ingest_transcript(memory, session, transcript, namespace, embed="later")
    with suppress(NotFound):  # a session in which nothing was said
        memory.end_session(session, namespace=namespace)
    memory.agent.mark_ended(session, namespace)


def _ingest_transcript(memory: Memory, session: str, path: Path | None, namespace: str, embed: Embed = "now") -> None:
    """Ingest what a transcript holds since its mark; a file that is not there (yet) holds nothing."""
    if path is None:
        return
    session_record = memory.agent.find_session(session, namespace)
    mark = ReadPosition.from_text(session_record.mark) if session_record is not None and session_record.mark else None
    while True:
        try:
            messages, after = read_new_messages(path, mark, most=_BYTES_AT_ONCE)
        except NotFound:
            return
        if after == mark:
            return
        memory.agent.take_in(session, namespace, messages, transcript=str(path), mark=after.to_text(), embed=embed)
        mark = after


def _path_text(transcript: Path | None) -> str:
    return "" if transcript is None else str(transcript)


def run(
    event: str, store: str | None, policy: str | None, namespace: str | None, *, meaning: bool, text: str | None = None
) -> None:
    """Run a hook on standard input and print its answer; errors and warnings go to standard error, the hooks' log.

    Of an error the person is told once in a session.

    Args:
        event: Which one.
        store: The store's address; looked for as everywhere if None.
        policy: The policy's file; looked for as everywhere if None or relative.
        namespace: Where; ``.`` or None for the project's.
        meaning: As in ``answer_hook``.
        text: The input, where it was read already.
    """
    content = sys.stdin.buffer.read(LONGEST_INPUT * 4).decode("utf-8", "replace") if text is None else text
    failure: Exception | None = None
    try:
        with _reported_warnings() as notices:
            answer = answer_hook(
                event,
                content,
                lambda with_embedder: _open_memory(store, policy, with_embedder=with_embedder),
                resolve_namespace(namespace),
                meaning=meaning,
                notices=notices,
            )
    except Exception as error:  # noqa: BLE001  # a defect of ours must not stop the agent either
        failure = error
    if failure is not None:
        problem = str(failure) if isinstance(failure, PerdureError) else bug_report(failure)
        _report(problem)
        answer = failed_answer(event, content, failure, problem)
    if answer:
        print(answer)


def bug_report(error: Exception) -> str:
    """Return what is said of a defect of ours."""
    return f"{type(error).__name__}: {error} (a bug in Perdure; please report it)"


def _open_memory(store: str | None, policy: str | None, *, with_embedder: bool) -> Memory:
    blas_threads.take_one()
    gc.disable()  # the many modules that load now stay: looking through them takes a sixth of the start time
    import perdure  # noqa: PLC0415  # numpy and SQLite load only where a store is opened

    address = str(expand_user(store)) if store is not None and store.startswith("~") else store
    memory = perdure.open(
        address or made_default_store(), policy_to_find(policy), embedder=None if with_embedder else "none"
    )
    gc.freeze()
    gc.enable()
    return memory


@contextmanager
def _reported_warnings() -> Iterator[list[str]]:
    """Write warnings to the log, and yield the list that gets those about the folder's policy file."""
    notices: list[str] = []

    def report(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        _report(str(message))
        if category.__name__ == "UntrustedPolicyWarning":  # its module loads numpy
            notices.append(str(message))

    with warnings.catch_warnings():
        warnings.showwarning = report
        yield notices


def _report(text: str) -> None:
    print(report_line(text), file=sys.stderr)


def report_line(text: str) -> str:
    """Return an error or a warning as one line of the hooks' log."""
    return f"perdure hook: {terminal_line(' '.join(text.split()))}"


def main(words: Sequence[str], text: str | None = None) -> None:
    """Run a hook from the words of a command line that follow ``perdure hook``."""
    parser = argparse.ArgumentParser(prog="perdure hook", description="Run a hook of a coding agent.")
    parser.add_argument("event", choices=EVENTS, metavar="EVENT", help=f"one of {', '.join(EVENTS)}")
    parser.add_argument("--store", help="the store's file, or postgresql://...")
    parser.add_argument("--policy", help="the policy, a TOML file")
    parser.add_argument("--namespace", "-n", help="the namespace (default: the name of the project's folder)")
    parser.add_argument(
        "--meaning", action="store_true", help="for UserPromptSubmit: add semantic search to keyword search"
    )
    args = parser.parse_args(words)
    run(args.event, args.store, args.policy, args.namespace, meaning=args.meaning, text=text)
