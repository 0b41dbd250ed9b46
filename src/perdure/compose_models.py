"""Which models are used: the embedder that a policy or a caller names, the language model. Loaded on first use."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from perdure.operations.ports import PackedEmbedder, PairJudge, Reranker
from perdure.records.errors import InvalidInput, PerdureWarning
from perdure.records.instant import Instant
from perdure.records.policy import Policy, RerankerPolicy
from perdure.records.policy_lifecycle import AlertPolicy, ModelPolicy

if TYPE_CHECKING:
    from perdure.models.chat import ChatModel
    from perdure.models.circuit import CircuitBreaker
    from perdure.models.vectors import Embedder
    from perdure.records.report import ModelUse  # its many data classes take time to make


class EmbedderWarning(PerdureWarning):
    """Meaning is not searched, only words are: the embedder is missing or failed."""


_LOCAL: Final = ("local", "minilm")  # the second is its deprecated name
_HEARD: Final[ContextVar[list[str] | None]] = ContextVar("heard", default=None)


@contextmanager
def heard_warnings() -> Iterator[list[str]]:
    """Yield the list that gets what is warned of in this thread meanwhile, also what was said before."""
    heard: list[str] = []
    token = _HEARD.set(heard)
    try:
        yield heard
    finally:
        _HEARD.reset(token)


class Warner:
    """Says the same thing once in a process, loudly; what is about one call, each time."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, text: str, kind: type[PerdureWarning] = EmbedderWarning) -> None:
        """Say it; what has a kind of its own is about the machine, and is not said again."""
        if (heard := _HEARD.get()) is not None:
            heard.append(text)
        if kind is PerdureWarning or text not in self._said:
            self._said.add(text)
            warnings.warn(text, kind, stacklevel=4)


class LazyChat:
    """A language model behind an endpoint; what speaks to it is loaded when it is asked first."""

    def __init__(self, policy: ModelPolicy, clock: Callable[[], Instant]) -> None:
        self._policy, self._clock = policy, clock
        self._lock = threading.Lock()
        self._chat: ChatModel | None = None
        self._breaker: CircuitBreaker | None = None

    @property
    def use(self) -> ModelUse:
        """What it has cost so far."""
        if self._chat is not None:
            return self._chat.use
        from perdure.records.report import ModelUse  # noqa: PLC0415  # as above

        return ModelUse()

    def ask(self, instruction: str, text: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what the model says about a text, as an object that fits a schema. See ``perdure.models.chat``."""
        with self._lock:
            if self._breaker is None:
                from perdure.models.chat import ChatModel  # noqa: PLC0415  # only where it is used
                from perdure.models.circuit import CircuitBreaker  # noqa: PLC0415  # only where it is used

                p = self._policy
                self._chat = ChatModel(p.base_url, p.name, p.key_variable or None, p.timeout_seconds)
                self._breaker = CircuitBreaker(self._chat, self._clock)
        return self._breaker.ask(instruction, text, schema)


def chat_model(policy: ModelPolicy, clock: Callable[[], Instant]) -> LazyChat | None:
    """Return the language model that a policy names, or None if it names none."""
    return LazyChat(policy, clock) if policy.base_url and policy.name else None


def chosen_reranker(policy: RerankerPolicy) -> Reranker | None:
    """Return the reranker that a policy names, or None if it names none."""
    if not policy.base_url:
        return None
    from perdure.models.reranker import EndpointReranker  # noqa: PLC0415  # only where it is used

    key, timeout = policy.key_variable or None, policy.timeout_seconds
    return EndpointReranker(policy.base_url, policy.name, key_variable=key, timeout=timeout)


def alert_webhook(policy: AlertPolicy, clock: Callable[[], Instant]) -> Callable[[Mapping[str, Any]], None] | None:
    """Return what tells the receiver that a policy names of alerts, or None if it names none."""
    if not policy.webhook:
        return None
    from perdure.models.webhook import Webhook  # noqa: PLC0415  # only where it is used

    return Webhook(policy.webhook, policy.webhook_secret_variable, policy.webhook_seconds, clock).send


def check_alert_secret(policy: AlertPolicy) -> None:
    """Check that alerts can be signed where a policy names a receiver and a secret.

    Raises:
        WebhookError: They cannot, so that none would be sent.
    """
    if policy.webhook and policy.webhook_secret_variable:
        from perdure.models.webhook import secret_of  # noqa: PLC0415  # only where it is used

        secret_of(policy.webhook_secret_variable)


def chosen_judge(given: object, policy: Policy) -> PairJudge | None:
    """Return the model of what later statements make untrue that a policy names, or None."""
    chosen = policy.knowledge.supersession
    beside_local = isinstance(given or policy.embedder.model, str) and (given or policy.embedder.model) in _LOCAL
    if not policy.knowledge.watch or chosen == "off" or (chosen == "auto" and not beside_local):
        return None
    from perdure.models.supersession import SupersessionModel  # noqa: PLC0415  # only where it is used

    return SupersessionModel()


def chosen_embedder(given: Embedder | Callable[..., Any] | str | None, policy: Policy) -> PackedEmbedder | None:
    """Return the embedder that a caller gives or a policy names; None for words only."""
    if given is not None and not isinstance(given, str):
        # Of the class first: one that is known only after the first vector must not be asked yet.
        if hasattr(given, "embed") and (hasattr(type(given), "space") or hasattr(given, "space")):
            from perdure.models.vectors import CheckedEmbedder  # noqa: PLC0415  # only where it is used

            return CheckedEmbedder(cast("Embedder", given))
        if not callable(given):
            raise InvalidInput("embedder must be a callable from texts to vectors.", remedy="Pass a function.")
        name = getattr(given, "__qualname__", type(given).__name__)
        if "<lambda>" in name:
            raise InvalidInput(
                "A lambda has no name, so its vectors cannot be identified.", remedy="Define the embedder with def."
            )
        from perdure.models.vectors import CallableEmbedder  # noqa: PLC0415  # only where it is used

        return CallableEmbedder(given, name=name)
    model = given or policy.embedder.model
    if model == "none":
        return None
    if model == "endpoint":
        from perdure.models.endpoint import EndpointEmbedder  # noqa: PLC0415  # only where it is used

        p = policy.embedder
        return EndpointEmbedder(p.base_url, p.name, key_variable=p.key_variable or None, timeout=p.timeout_seconds)
    if model not in _LOCAL:
        raise InvalidInput(f"embedder must be local, none or endpoint, not {model!r}.", remedy="Choose one of them.")
    from perdure.models.local import LocalEmbedder  # noqa: PLC0415  # only where it is used

    return LocalEmbedder(weights=Path(policy.embedder.path) if policy.embedder.path else None)
