"""One process of a service that several answer: its supervisor starts it with the sockets that it is to use."""

from __future__ import annotations

import socket
import sys
import warnings

from perdure.interfaces import blas_threads
from perdure.interfaces.cli.call import short_warnings
from perdure.interfaces.http.call_log import log_to
from perdure.interfaces.http.link import SharedByLink, encode_frame, read_message
from perdure.interfaces.http.serve import ServeOptions, answer_calls
from perdure.records.errors import PerdureError, PerdureWarning


def main() -> None:
    """Serve as the first message says, until SIGTERM or the supervisor's end."""
    blas_threads.take_one()
    listener, end = (socket.socket(fileno=int(number)) for number in sys.argv[1:])
    message = read_message(end)
    if message is None:  # the supervisor is gone
        return
    options = message[0]
    slot, secret = options.pop("slot"), options.pop("secret")

    def ready(has_tokens: bool) -> None:
        end.sendall(encode_frame(0, "ready", [has_tokens]))

    if options["log"]:
        log_to(sys.stderr)
    with end, listener, short_warnings():
        if slot:
            warnings.simplefilter("ignore", PerdureWarning)  # the first one has shown them
        shared = SharedByLink(end, bytes.fromhex(secret))
        try:
            answer_calls(ServeOptions(**options), listener, ready, shared, is_first=not slot)
        except PerdureError as error:
            try:
                end.sendall(encode_frame(0, "failed", [type(error).__name__, error.message, error.remedy]))
            except OSError:  # the supervisor is gone, or the link to it is closed: it failed at its end
                sys.exit(f"perdure: {error}")
            sys.exit(1)


if __name__ == "__main__":
    main()
