"""A client of the gateway's API, for programs and for the command line.

    with Client("http://localhost:8080") as gateway:
        for one in gateway.search({"gpu": {"minimum_memory_mib": 30000}}).candidates:
            print(one.provenance.provider_id, one.node.name)

Every failure is a GatewayError; `requests` must be there: pip install 'fedcompute[cli]'.
"""

from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

import msgspec
import requests

from fedcompute import answer
from fedcompute.answer import Answer, SearchAnswer
from fedcompute.base_url import check_base_url
from fedcompute.client_errors import GatewayError, IncompleteError, UnreachableError, refusal, unexpected
from fedcompute.overview import Resources
from fedcompute.records import CheckAnswer, Record, RecordPage
from fedcompute.session import is_this_machine, new_session, reason_of

if TYPE_CHECKING:
    from pydantic import BaseModel

type Body = Mapping[str, Any] | BaseModel

API = "/api/v1"
PROVIDERS = f"{API}/providers"
LARGEST_PAGE = 100
DEFAULT_TIMEOUT_S = 30.0  # more than the longest search that a gateway takes


class Client:
    """Calls one gateway. Bodies are mappings, or the models of fedcompute.request and fedcompute.provider.

    `timeout` is in seconds, for connecting and for each wait for bytes. Proxies of the environment are used, though never
    on the way to this machine itself. Redirects are not followed. Raises ValueError for an address that is none, and for a
    key that would cross a network in the open.
    """

    def __init__(self, url: str, key: str | None = None, *, timeout: float = DEFAULT_TIMEOUT_S) -> None:
        try:
            self.url = check_base_url(url)
        except ValueError as error:
            raise ValueError(f"{url!r} is no gateway's address: it {error}") from error
        is_own = is_this_machine(self.url)
        if key is not None and not is_own and not self.url.startswith("https:"):
            raise ValueError(f"the key is not sent to {self.url}, where all on the way could read it; use https")
        self._timeout = timeout
        self._session = new_session(key, is_own=is_own)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def search(self, request: Body) -> SearchAnswer:
        """Where can this job run now? Raises IncompleteError, which has the answer, where all were required."""
        reply = self._send("POST", f"{API}/resources/search", request)
        if reply.status_code == 503 and "problem" not in reply.headers.get("Content-Type", ""):
            raise IncompleteError(_read(reply.content, SearchAnswer))
        return self._answered(reply, SearchAnswer)

    def resources(self) -> Resources:
        """What the federation has now."""
        return self._call("GET", f"{API}/resources", Resources)

    def providers(self) -> Iterator[Record]:
        """All records by id, a page at a time."""
        for page in self.pages():
            yield from page.providers

    def pages(self, limit: int = LARGEST_PAGE) -> Iterator[RecordPage]:
        """The list of records in pages."""
        token = None
        while True:
            after = "" if token is None else f"&next_token={quote(token, safe='')}"
            page = self._call("GET", f"{PROVIDERS}?limit={limit}{after}", RecordPage)
            yield page
            token = page.next_token
            if token is None:
                return

    def register(self, record: Body) -> Record:
        """A new provider."""
        return self._call("POST", PROVIDERS, Record, record)

    def get(self, provider_id: str) -> Record:
        """One record."""
        return self._call("GET", _path(provider_id), Record)

    def replace(self, provider_id: str, record: Body, version: int | None = None) -> Record:
        """Replace a record; with `version` only if it still has that one."""
        return self._call("PUT", _path(provider_id), Record, record, version)

    def patch(self, provider_id: str, changes: Mapping[str, Any], version: int | None = None) -> Record:
        """Apply a JSON merge patch to a record; None removes an optional field."""
        return self._call("PATCH", _path(provider_id), Record, changes, version)

    def remove(self, provider_id: str, version: int | None = None) -> None:
        """Take a provider out of the registry."""
        reply = self._send("DELETE", _path(provider_id), None, version)
        if reply.status_code != 204:
            raise refusal(reply.status_code, reply.content)

    def check(self, provider_id: str) -> CheckAnswer:
        """Have the gateway ask a provider now."""
        return self._call("POST", f"{_path(provider_id)}/check", CheckAnswer)

    def _call[Kind: Answer](
        self, method: str, path: str, kind: type[Kind], body: Body | None = None, version: int | None = None
    ) -> Kind:
        return self._answered(self._send(method, path, body, version), kind)

    def _answered[Kind: Answer](self, reply: requests.Response, kind: type[Kind]) -> Kind:
        if not 200 <= reply.status_code < 300:
            raise refusal(reply.status_code, reply.content)
        return _read(reply.content, kind)

    def _send(self, method: str, path: str, body: Body | None = None, version: int | None = None) -> requests.Response:
        headers = {} if version is None else {"If-Match": f'"{version}"'}
        sent = b"" if body is None and method in ("GET", "DELETE") else _encoded(body or {})
        try:
            return self._session.request(
                method,
                self.url + path,
                data=sent,
                headers=headers | ({"Content-Type": "application/json"} if sent else {}),
                timeout=self._timeout,
                allow_redirects=False,
            )
        except requests.Timeout as error:
            raise UnreachableError(self.url, f"no answer within {self._timeout:g} s") from error
        except requests.RequestException as error:
            raise UnreachableError(self.url, reason_of(error)) from error


def _encoded(body: Body) -> bytes:
    if isinstance(body, Mapping):
        return msgspec.json.encode(body)
    return body.model_dump_json(exclude_unset=True).encode()


def _read[Kind: Answer](body: bytes, kind: type[Kind]) -> Kind:
    try:
        return answer.read(body, kind)
    except msgspec.DecodeError as error:
        raise unexpected(None, f"The answer is none of a gateway's: {error}.") from error


def _path(provider_id: str) -> str:
    if not provider_id:
        raise GatewayError("provider_not_found", "A provider's id is not empty.", status=404)
    return f"{PROVIDERS}/{quote(provider_id, safe='')}"
