"""What each error code means, in the words of docs/api.md; only the API's document needs them."""

from collections.abc import Mapping

MEANS: Mapping[str, str] = {
    "malformed_json": "the body is not JSON, or a name stands twice in one object",
    "malformed_token": "`next_token` is not one that a page gave",
    "unauthenticated": "the gateway asks for a key that is known, valid and not revoked",
    "forbidden": "the key lacks the route's role, or the record is another owner's",
    "foreign_host": "with `AUTH=open`: called by a name that is not this machine's",
    "foreign_origin": "with `AUTH=open`: a page of another origin",
    "not_found": "nothing is at this address",
    "provider_not_found": "no provider has this id",
    "method_not_allowed": "`Allow` names the methods",
    "provider_exists": "the id is taken",
    "owner_full": "this owner has as many providers as one may have (`OWNER_PROVIDERS`)",
    "registry_full": "there are 5,000 providers already",
    "version_conflict": "the record is not at the version in `If-Match`",
    "payload_too_large": "the body has more than 1 MiB, or more than 10,000 values",
    "unsupported_media_type": "the body is not sent as JSON",
    "validation_failed": "`errors` lists each mistake with a JSON pointer",
    "rate_limited": "too many calls with this key; `Retry-After` says when to come back",
    "internal": "a fault of ours; the log has it under the request id",
    "inventory_unavailable": "a provider can't read what it has",
    "not_ready": "a part that is needed does not answer",
    "registry_unavailable": "the registry did not answer in time; `Retry-After` says when to come back",
}
