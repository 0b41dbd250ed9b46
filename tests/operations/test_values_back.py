"""What a later statement takes back is not shown as over: A, then from A to B, then A stays."""

from __future__ import annotations

from datetime import timedelta

import pytest

import perdure

pytest.importorskip("onnxruntime")
QUEUE = (
    "Invoice events go through RabbitMQ, exchange invoices.topic.",
    "Decision: invoice events move from RabbitMQ to NATS JetStream, because RabbitMQ lost messages in the drill.",
)
BACKUPS = (
    "Backups go to S3, bucket kestrel-backup.",
    "Backups move from S3 to Backblaze, because S3 is expensive.",
)
PAYMENTS = (
    "Payments run through Adyen, account EU.",
    "Payments move from Adyen to Stripe, because Adyen lacks SEPA.",
)


@pytest.mark.parametrize(
    ("first", "change", "last", "is_over"),
    [
        (*QUEUE, "Reversed: invoice events stay on RabbitMQ, as JetStream did not keep the order per invoice.", False),
        (*BACKUPS, "Reverted: backups stay on S3, since Backblaze lost two files.", False),
        (*PAYMENTS, "Cancelled: payments remain with Adyen, Stripe was refused by legal.", False),
        (*BACKUPS, "The S3 bucket of the backups is deleted.", True),
        (*PAYMENTS, "Payments through Stripe work; the old reports from Adyen are in the archive.", True),
    ],
)
def test_a_note_is_marked_only_while_its_value_is_over(tmp_path, clock, first, change, last, is_over):
    with perdure.open(tmp_path / "a.db", clock=clock) as memory:
        identity = memory.remember(first).id
        for text in (change, last):
            clock.now += timedelta(days=3)
            memory.remember(text)
        (line,) = (line for line in memory.digest().splitlines() if first in line)
        (hit,) = (h for h in memory.recall(first, touch=False).hits if h.memory.id == identity)
        assert ("no longer holds" in line, bool(hit.over)) == (is_over, is_over)
