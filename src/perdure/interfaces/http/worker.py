"""One process of a service that several answer: its supervisor starts it with the sockets that it is to use."""

from __future__ import annotations

import socket
import sys
import warnings

from perdure.interfaces.cli.call import short_warnings
from perdure.interfaces.http.call_log import log_to
from perdure.interfaces.http.link import SharedByLink, frame, read_message
from perdure.interfaces.http.serve import Serving, answer_calls
from perdure.records.errors import PerdureError, PerdureWarning


def main() -> None:
    """Serve as the first message says, until SIGTERM or the supervisor's end."""
    listening, end = (socket.socket(fileno=int(number)) for number in sys.argv[1:])
    told = read_message(end)[0]
    slot, secret = told.pop("slot"), told.pop("secret")

    def ready(guarded: bool) -> None:
        end.sendall(frame(0, "ready", [guarded]))

    if told["log"]:
        log_to(sys.stderr)
    with end, listening, short_warnings():
        if slot:
            warnings.simplefilter("ignore", PerdureWarning)  # the first one has told them
        shared = SharedByLink(end, bytes.fromhex(secret))
        try:
            answer_calls(Serving(**told), listening, ready, shared, beside=not slot)
        except PerdureError as error:
            end.sendall(frame(0, "failed", [type(error).__name__, error.message, error.remedy]))
            sys.exit(1)


if __name__ == "__main__":
    main()
