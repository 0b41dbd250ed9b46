"""How many planted secrets are replaced, how many harmless texts are changed, and what looking for secrets costs.

Usage: python benchmarks/redaction.py [--half open|locked|fresh|agents|later_open|later_locked] [--kinds]

``--kinds`` lists found and planted for each kind. The locked half is scored once, when nothing is tuned any more.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from time import thread_time

import secrets_made
from perdure.rules.redaction import redact
from report import Row, finished, parser, say

HALVES = ("open", "locked", "fresh", "agents", "later_open", "later_locked")
SHARE, FALSE = 0.85, 1 / 219
MESSAGE = (
    "We moved the deployment to Tuesday at 10:00, because Ana is away on Monday. The pull request 1287 changes how "
    "tokens are counted; commit 3f786850e387550fdab836ed7e6dc881de23001b has the figures, see docs/scale.md. "
) * 5
HOSTILE = (
    "eyJaaaaaa.",
    "glpat-",
    "password ",
    "token=a1",
    "mysql -u a ",
    "://a:",
    "about above ",
    "-----BEGIN PRIVATE KEY-----",
)
LONG = 192_000


def milliseconds(text: str, rounds: int) -> float:
    """Return the processor's time for one text, the median."""
    times = []
    for _ in range(rounds):
        start = thread_time()
        redact(text)
        times.append(thread_time() - start)
    return statistics.median(times) * 1e3


def found(half: str, *, kinds: bool) -> list[Row]:
    """Return the shares of a half."""
    planted = [] if half in ("fresh", "agents") else secrets_made.planted(half)
    harmless = secrets_made.harmless(half)
    missed = [p for p in planted if p.left(redact(p.text)[0])]
    changed = [text for text in harmless if redact(text)[1]]
    if kinds:
        total, left = Counter(p.kind for p in planted), Counter(p.kind for p in missed)
        for kind, number in total.items():
            say(f"{kind}: {number - left[kind]} of {number}")
    false = len(changed) / len(harmless)
    rows = [Row("harmless texts changed", false, "", FALSE, note=f"{half}, {len(changed)} of {len(harmless)}")]
    if planted:
        share = 1 - len(missed) / len(planted)
        note = (
            f"{half}, {len(planted)} of {len({p.kind for p in planted})} kinds, error {_error(share, len(planted)):.3f}"
        )
        rows.append(Row("secrets replaced", share, "", SHARE, at_least=True, note=note))
    return rows


def _error(share: float, number: int) -> float:
    return math.sqrt(share * (1 - share) / number)


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--half", choices=HALVES, default="open")
    arguments.add_argument("--kinds", action="store_true")
    given = arguments.parse_args()
    rows = found(given.half, kinds=given.kinds)
    rows.append(Row("a message of 1 kB", milliseconds(MESSAGE[:1000], 50), "ms"))
    times = {piece: milliseconds((piece * LONG)[:LONG], 1) for piece in HOSTILE}
    worst = max(times, key=times.__getitem__)
    rows.append(Row("192 kB of hostile text", times[worst], "ms", note=f"worst: {worst[:12]!r}"))
    finished(rows, as_json=given.json)


if __name__ == "__main__":
    main()
