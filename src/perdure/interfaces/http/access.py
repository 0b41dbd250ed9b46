"""Who asks: the holder of a token, or a program on this machine where there are no tokens. Each gets its own memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from anyio import fail_after
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from perdure.interfaces.http.problems import RequestRefused, problem_of
from perdure.interfaces.http.sessions import TOKEN_ONLY_PATHS, Sessions, own_path, page_session_of
from perdure.interfaces.http.shared import TRIES_SECONDS, Shared
from perdure.records.access import Grant, Login
from perdure.records.deadline import wait_at_most, within
from perdure.records.errors import DeadlineExceeded, PerdureError, StoreError, StoreUnavailable, TooManyCalls

if TYPE_CHECKING:
    from perdure.memory import Memory

V = TypeVar("V")
KNOWN_SECONDS: Final = 1.0
"""How long an answer about a token holds: a revoked one is refused after that."""
LOST_SECONDS: Final = 10.0
"""How long a call waits for a store that cannot be reached; clients wait longer for an answer, and may try again."""
METRICS: Final = "/metrics"
METRICS_SECONDS: Final = 2.0
"""The same for metrics: who collects them waits for some seconds."""
REMEMBERED_SECONDS: Final = 24 * 3600.0
"""How long a token that was valid lately may read the process's own metrics while the store is gone."""
_MOST_KNOWN: Final = 10_000
_LONGEST_SECRET: Final = 200
_ANONYMOUS_PATHS: Final = frozenset(("/healthz", "/readyz", "/openapi.json"))
"""Paths that answer whoever asks, without finding out who that is: the store may be gone."""
_OPEN_PATHS: Final = frozenset(("/login", *_ANONYMOUS_PATHS))
_OPEN_FOLDER: Final = "/static/"
_SCHEME: Final = "bearer "


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks."""

    grant: Grant | None  # what the token allows; None without tokens, for a program on this machine
    key: str  # the id of the token, for limits and the log; "" without tokens

    @property
    def actor(self) -> str | None:
        """The name under which operations are written down."""
        return None if self.grant is None else self.grant.actor


_PROGRAM: Final = Principal(None, "")


class _KnownAnswers(Generic[V]):
    """What a store answered about secrets, with the time of each answer; the latest ``_MOST_KNOWN``. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._answers: OrderedDict[str, tuple[float, V]] = OrderedDict()

    def get(self, secret: str, seconds: float) -> tuple[bool, V | None]:
        """Return whether there is an answer that is not older than this, and the last answer, however old."""
        with self._lock:
            at, answer = self._answers.get(secret, (-seconds, None))
        return monotonic() - at < seconds, answer

    def ask(self, secret: str, store: Callable[[str], V | None]) -> V | None:
        """Return what the store answers, and keep it; None is not kept: guesses would push out what is known."""
        answer = store(secret) if len(secret) <= _LONGEST_SECRET else None
        self.forget(secret)
        if answer is not None:
            with self._lock:
                self._answers[secret] = (monotonic(), answer)
                while len(self._answers) > _MOST_KNOWN:
                    self._answers.popitem(last=False)
        return answer

    def forget(self, secret: str) -> None:
        """Forget what was answered about a secret."""
        with self._lock:
            self._answers.pop(secret, None)


class Keyring:
    """Finds out what a token allows. Thread-safe; answers are kept for a moment."""

    def __init__(self, get_memory: Callable[[], Memory]) -> None:
        self._get_memory = get_memory
        self._lock = Lock()
        self._grants: _KnownAnswers[Grant] = _KnownAnswers()
        self._logins: _KnownAnswers[Login] = _KnownAnswers()
        self._memories: OrderedDict[Grant, Memory] = OrderedDict()
        self._needed = (-KNOWN_SECONDS, True)

    def cached_grant(self, secret: str) -> tuple[bool, Grant | None]:
        """Return whether it is known what a token allows, and what; asks no store."""
        return self._grants.get(secret, KNOWN_SECONDS)

    def grant_of(self, secret: str) -> Grant | None:
        """Return what a token allows; None for an invalid one. Asks the store."""
        return self._grants.ask(secret, self._get_memory().recognize)

    def login_kept(self, session: str) -> tuple[bool, Login | None]:
        """Return whether it is known what a browser's session allows, and what; asks no store."""
        return self._logins.get(session, KNOWN_SECONDS)

    def login_of(self, session: str) -> Login | None:
        """Return what a browser's session allows; None where it stands for no token. Asks the store."""
        return self._logins.ask(session, self._get_memory().logged_in)

    async def log_in(self, sessions: Sessions, secret: str) -> str | None:
        """Return a new session of a browser that stands for a token; None where it is not valid. Asks the store."""
        return await sessions.log_in(self._get_memory(), secret) if len(secret) <= _LONGEST_SECRET else None

    def log_out(self, session: str) -> None:
        """End a browser's session. Asks the store."""
        self._logins.forget(session)
        self._get_memory().log_out(session)

    def memory_of(self, grant: Grant) -> Memory:
        """Return the memory as a token's holder may use it, the same one each time."""
        with self._lock:
            memory = self._memories.pop(grant, None) or self._get_memory().confine(grant)
            self._memories[grant] = memory
            while len(self._memories) > _MOST_KNOWN:
                self._memories.popitem(last=False)
        return memory

    def token_needed(self) -> bool:
        """Whether callers must have a token: as soon as one was made. Asks the store now and then."""
        at, needed = self._needed
        if monotonic() - at >= KNOWN_SECONDS:
            needed = self._get_memory().has_tokens
            self._needed = (monotonic(), needed)
        return needed

    def last_known(self, secret: str | None) -> Principal | None:
        """Return who a caller was within a day, where the store does not say it now; asks no store."""
        if secret is None:
            return None if self._needed[1] else _PROGRAM
        known, grant = self._grants.get(secret, REMEMBERED_SECONDS)
        return Principal(grant, grant.token) if known and grant else None

    def is_need_known(self) -> bool:
        """Whether ``token_needed`` would not ask the store now."""
        return monotonic() - self._needed[0] < KNOWN_SECONDS


class AccessMiddleware:
    """Sets ``request.state.memory`` and ``request.state.principal``; both are None for whoever is not known.

    A wrong token is refused for every path but the anonymous ones, and whoever has none for every path but those that
    hold nothing of the store: a path that is added later is closed until it is named here. ``page_of`` returns the page
    that shows an error to a person, below the path where the pages are mounted; ``logged_out`` the one for a person who
    has sent a form and is not known.
    """

    def __init__(
        self,
        app: ASGIApp,
        get_memory: Callable[[], Memory],
        keyring: Keyring,
        sessions: Sessions,
        page_of: Callable[[PerdureError, str], Response],
        logged_out: Callable[[Request], Awaitable[Response]],
    ) -> None:
        self._app, self._get_memory, self._keyring, self._sessions = app, get_memory, keyring, sessions
        self._page_of, self._logged_out = page_of, logged_out

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its memory."""
        with wait_at_most(LOST_SECONDS):
            await self._pass_on(scope, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                principal = None if is_anonymous(own_path(scope)) else await self._look_for(scope)
            except PerdureError as error:
                answer = self._page_of(error, scope.get("root_path", "")) if _is_person(scope) else problem_of(error)
                await answer(scope, receive, send)
                return
            if principal is None and not is_open(own_path(scope)):
                await (await self._ask_for_token(Request(scope, receive)))(scope, receive, send)
                return
            state = scope.setdefault("state", {})
            state["principal"], state["keyring"] = principal, self._keyring
            state["asked_again"] = partial(self._principal, scope)  # for answers that go on for long
            state["memory"] = None if principal is None else self._memory(principal)
        await self._app(scope, receive, send)

    async def _look_for(self, scope: Scope) -> Principal | None:
        """Return who asks, within a time of its own: what comes then has the call's.

        Whoever was known to read metrics reads them also while the store is gone: only the process's are left then.

        Raises:
            StoreUnavailable: The store did not say in time.
        """
        is_metrics = own_path(scope) == METRICS
        seconds = METRICS_SECONDS if is_metrics else LOST_SECONDS
        try:
            with within(seconds), fail_after(2 * seconds):  # it may wait for a thread, too
                return await self._principal(scope)
        except (StoreError, TimeoutError) as error:
            if is_metrics and (principal := self._keyring.last_known(_secret(scope))) is not None:
                return principal
            if not isinstance(error, TimeoutError | DeadlineExceeded):
                raise
            told = f"The store cannot be reached: it did not answer within {seconds:g} s."
            raise StoreUnavailable(told, remedy="Try again later.") from error

    async def _principal(self, scope: Scope) -> Principal | None:
        secret = _secret(scope)
        if secret is None and (session := page_session_of(scope)):
            principal = await self._session_principal(session)
            if principal is not None:
                scope.setdefault("state", {})["session"] = session
                return principal
        if secret is None:
            needed = (
                self._keyring.token_needed()
                if self._keyring.is_need_known()
                else await run_sync(self._keyring.token_needed)
            )
            return None if needed else _PROGRAM
        is_known, grant = self._keyring.cached_grant(secret)
        if not is_known:
            grant = await run_sync(self._keyring.grant_of, secret)
        if grant is None:
            raise await wrong_token(self._sessions.shared, (scope.get("client") or ("",))[0])
        return Principal(grant, grant.token)

    async def _session_principal(self, session: str) -> Principal | None:
        """Return who has logged in in a session; None for nobody, or where the token is revoked: log in anew."""
        if self._sessions.is_ours(session):  # in the store is none of these
            token = await self._sessions.shared.token_of(session)
            if token is None:
                return None
            is_known, grant = self._keyring.cached_grant(token)
            if not is_known:
                grant = await run_sync(self._keyring.grant_of, token)
            return None if grant is None else Principal(grant, grant.token)
        is_known, login = self._keyring.login_kept(session)
        if not is_known:
            login = await run_sync(self._keyring.login_of, session)
        return None if login is None else Principal(login.grant, login.token)

    async def _ask_for_token(self, request: Request) -> Response:
        """Return the answer to whoever needs a token and has none: a person logs in, and loses no words by it."""
        if not _is_person(request.scope) or request.method not in {"GET", "POST"}:
            return problem_of(unauthorized("A token is needed."))
        if request.method == "POST":
            return await self._logged_out(request)
        return RedirectResponse(f"{request.scope.get('root_path', '')}/login", 303, {"cache-control": "no-store"})

    def _memory(self, principal: Principal) -> Memory:
        return self._get_memory() if principal.grant is None else self._keyring.memory_of(principal.grant)


def _is_person(scope: Scope) -> bool:
    accepts = b"".join(value for name, value in scope["headers"] if name.lower() == b"accept")
    return b"text/html" in accepts and not own_path(scope).startswith(TOKEN_ONLY_PATHS)


def is_anonymous(path: str) -> bool:
    """Whether it does not matter for a path who asks."""
    return path in _ANONYMOUS_PATHS or path.startswith(_OPEN_FOLDER)


def is_open(path: str) -> bool:
    """Whether a path is answered without a token: it shows and changes nothing of the store."""
    return path in _OPEN_PATHS or path.startswith(_OPEN_FOLDER)


def memory_for(request: Request) -> Memory:
    """Return the memory of a request."""
    return memory_of(request.scope)


def memory_of(scope: Scope) -> Memory:
    """Return the memory of a request by its scope."""
    memory: Memory | None = scope["state"]["memory"]
    if memory is None:
        raise unauthorized("A token is needed.")
    return memory


async def wrong_token(shared: Shared, address: str) -> PerdureError:
    """Return the refusal of a wrong token, also one to log in with; of each address some are told that they are wrong.

    It is asked after the token was looked for, one read by its digest: a valid one works whatever others there send.
    Guessing is hopeless, since tokens have 256 random bits: the limit has clients with an old one try less often.
    """
    if await shared.note_failure(address):
        return unauthorized("The token is not valid: it is unknown, revoked or has ended.")
    told = "The token is not valid. Too many wrong tokens came from this address."
    return TooManyCalls(told, TRIES_SECONDS, remedy="Send a valid one, or wait five minutes between tries.")


def unauthorized(message: str) -> RequestRefused:
    """Return the refusal of whoever has no valid token."""
    return RequestRefused(
        401,
        message,
        remedy="Send authorization: Bearer TOKEN; "
        "`perdure token create --role agent --namespace NAME --actor NAME` makes one.",
        headers={"www-authenticate": 'Bearer realm="perdure"'},
    )


def _secret(scope: Scope) -> str | None:
    """Return the token that a request sends; an empty text where what it sends is none."""
    values = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
    if not values:
        return None
    text = values[0].decode("latin-1")
    return text[len(_SCHEME) :].strip() if len(values) == 1 and text.lower().startswith(_SCHEME) else ""
