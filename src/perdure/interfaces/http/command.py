"""``perdure serve`` with plain options, without the command line's libraries: a third of the start."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from perdure.interfaces import blas_threads
from perdure.interfaces.cli.call import default_store, short_warnings
from perdure.interfaces.files.project import resolve_namespace
from perdure.records.errors import PerdureError
from perdure.rules.escaping import terminal_error


def main(words: Sequence[str]) -> None:
    """Run the service from a command line, and end the process with 1 where it is refused."""
    args = _parser().parse_args(words)
    blas_threads.take_one()
    from perdure.interfaces.http.serve import serve  # noqa: PLC0415  # after the options are known to be right

    limits = {"threads": args.threads, "waiting": args.waiting, "caller_threads": args.caller_threads}
    limits |= {"call_seconds": args.timeout, "rate": args.rate}
    try:
        namespace = resolve_namespace(args.namespace) or "default"
        store = args.store or os.environ.get("PERDURE_STORE") or default_store()
        with short_warnings():
            serve(
                store,
                args.policy,
                args.host,
                args.port,
                allowed_hosts=args.allowed_host,
                proxies=args.proxy,
                memory_file=args.memory_file,
                log=args.log,
                maintenance=not args.no_maintenance,
                workers=args.workers,
                namespace=namespace,
                tools=args.tools,
                traces=args.traces,
                root_path=args.root_path,
                **limits,
            )
    except PerdureError as error:
        print(terminal_error(error.message, error.remedy), file=sys.stderr)
        sys.exit(1)


def _number(kind: type[float], least: float, most: float) -> Callable[[str], float]:
    def number(text: str) -> float:
        value = kind(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text} is not from {least:g} to {most:g}")
        return value

    return number


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="perdure serve", allow_abbrev=False)
    for name in ("--store", "--policy", "--namespace"):
        parser.add_argument(name)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=_number(int, 0, 65535), default=8766)
    parser.add_argument("--tools", choices=("agent", "lifecycle", "full"), default="agent")
    parser.add_argument("--allowed-host", action="append", default=[])
    parser.add_argument("--root-path", default="")
    for name in ("--proxy", "--memory-file"):
        parser.add_argument(name, action="append", default=[])
    parser.add_argument("--workers", type=_number(int, 1, 256), default=1)
    parser.add_argument("--threads", type=_number(int, 1, 256), default=8)
    parser.add_argument("--waiting", type=_number(int, 0, 10_000), default=64)
    parser.add_argument("--caller-threads", type=_number(int, 0, 256), default=0)
    parser.add_argument("--timeout", type=_number(float, 0.1, 3600), default=60.0)
    parser.add_argument("--rate", type=_number(float, 0, float("inf")), default=0.0)
    parser.add_argument("--traces", choices=("off", "spans", "content"), default="off")
    parser.add_argument("--log", action="store_true")
    parser.add_argument("--no-maintenance", action="store_true")
    return parser
