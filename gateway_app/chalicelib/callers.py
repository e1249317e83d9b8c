"""Who calls: found out once per request, at the app's edge, and looked up by the views."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from chalice.app import Request

from chalicelib.key_store import KeyStore
from chalicelib.keys import presented
from chalicelib.rate_limit import RateLimit
from fedcompute.errors import Problem
from fedcompute.operations import PUBLIC
from fedcompute.provider import ProviderRecord
from fedcompute.web import Access, note

_CALLER = "fedcompute.caller"  # in the request's context, which no caller can write


class Caller(NamedTuple):
    """Somebody with roles. Without `principal`: whoever is on the gateway's own machine, under AUTH=open."""

    principal: str | None
    roles: tuple[str, ...]
    key_id: str | None = None

    def may(self, role: str) -> bool:
        """Whether a route that asks for this role is for this caller."""
        return role in self.roles or "admin" in self.roles

    def owns(self, record: ProviderRecord) -> bool:
        """Whether a record is this caller's to change and its address to see."""
        return "admin" in self.roles or (self.principal is not None and record.owner == self.principal)


ANYONE = Caller(None, ("admin",))


def caller_of(request: Request) -> Caller:
    """Who makes this request. KeyError on a route that lets anybody in without asking: there nobody is known."""
    caller: Caller = request.context[_CALLER]
    return caller


def open_to_all(access: Access) -> Access:
    """The rule of AUTH=open: whom `access` lets in may do everything."""

    def check(request: Request, role: str) -> None:
        access(request, role)
        request.context[_CALLER] = ANYONE

    return check


def keys_only(keys: KeyStore, limit: RateLimit, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> Access:
    """The rule of AUTH=keys: a key that is known and valid, that has the route's role, and does not call too often."""

    def check(request: Request, role: str) -> None:
        if role == PUBLIC:
            return
        given = presented(request.headers.get("authorization"))
        key = None if given is None else keys.matching(given)
        if key is None or key.state(now()) != "active":
            raise _unauthenticated()
        note(key_id=key.key_id, principal=key.principal)
        limit.take(key.key_id)
        caller = Caller(key.principal, key.roles, key.key_id)
        if not caller.may(role):
            raise Problem("forbidden", f"This needs a key with the role {role}.")
        request.context[_CALLER] = caller

    return check


def _unauthenticated() -> Problem:
    """The same for no key and for one that is unknown, wrong, expired, disabled or revoked: a guess tells nothing."""
    detail = "Send a key that is valid: Authorization: Bearer fc_...."
    return Problem("unauthenticated", detail, headers={"WWW-Authenticate": 'Bearer realm="fedcompute"'})
