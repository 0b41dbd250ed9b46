"""Telling another service of alerts: JSON by POST, signed as Standard Webhooks describes (standardwebhooks.com)."""

from __future__ import annotations

import base64
import hmac
import json
import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Final

from perdure.models.posting import Endpoint, Posting, RefusedError
from perdure.records.errors import WebhookError
from perdure.records.instant import Instant

_ENDPOINT: Final = Endpoint(
    "", WebhookError, "Check alerts.webhook in the policy, and that its receiver runs.", largest=64 << 10
)
_PAUSE: Final = 0.5
_ENCODED: Final = "whsec_"  # begins a secret in base64; another one is used as it is


class Webhook(Posting):
    """Posts to one address, which only the user's own configuration may name; redirects are not followed.

    ``secret_variable`` names the environment variable with the shared secret; empty for unsigned messages.
    """

    def __init__(self, url: str, secret_variable: str, timeout: float, clock: Callable[[], Instant]) -> None:
        super().__init__(url, _ENDPOINT, key_variable=None, timeout=timeout, pause=_PAUSE)
        self._secret_variable, self._clock = secret_variable, clock

    def send(self, content: Mapping[str, Any]) -> None:
        """Send some content, which has an ``id``; what is answered is not looked at."""
        try:
            self(content)
        except RefusedError as error:
            raise error.failure from error

    def signature(self, body: bytes) -> Mapping[str, str]:
        """Return the headers by which the receiver knows the sender."""
        if not self._secret_variable:
            return {}
        at = str(self._clock() // 1000)
        identity = json.loads(body)["id"]  # the same for each try of one message, so that it can be told apart
        digest = hmac.new(secret_of(self._secret_variable), f"{identity}.{at}.".encode() + body, sha256).digest()
        signature = f"v1,{base64.b64encode(digest).decode()}"
        return {"webhook-id": identity, "webhook-timestamp": at, "webhook-signature": signature}


def secret_of(variable: str) -> bytes:
    """Return the secret that an environment variable holds."""
    secret = os.environ.get(variable, "")
    if not secret:
        raise WebhookError(
            f"Alerts are not sent: the environment variable {variable} is not set.",
            remedy="Set it to the secret that the receiver knows, or clear alerts.webhook_secret_variable.",
        )
    if not secret.startswith(_ENCODED):
        return secret.encode()
    try:
        return base64.b64decode(secret.removeprefix(_ENCODED), validate=True)
    except ValueError as error:
        raise WebhookError(
            f"Alerts are not sent: what follows {_ENCODED} in the environment variable {variable} is not base64.",
            remedy="Copy the secret again, as the receiver shows it.",
        ) from error
