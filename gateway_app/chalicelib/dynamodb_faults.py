"""What a failed DynamoDB call means: from botocore's errors to what the registry does about them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from botocore import exceptions
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

ERRORS = (BotoCoreError, ClientError, ResponseParserError)


class Meaning(StrEnum):
    """What can be done about a fault."""

    REFUSED = "a condition of the write does not hold"
    CONTENDED = "another transaction holds the item; repeat within the time there is"
    BUSY = "repeat a few times"
    BROKEN = "no repetition can help"


@dataclass(frozen=True)
class Fault:
    """One failed call. `found`: the item that refused the write, where the backend tells it."""

    meaning: Meaning
    detail: str
    may_have_applied: bool = False
    found: Mapping[str, Any] | None = None


_CONTENDED = frozenset({"TransactionConflict", "TransactionConflictException", "ReplicatedWriteConflictException"})
_THROTTLED = frozenset(
    {
        "ProvisionedThroughputExceeded",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ThrottledException",
        "Throttling",
        "ThrottlingError",
        "ThrottlingException",
    }
)
_CREDENTIALS = frozenset(
    {
        "ExpiredTokenException",
        "IncompleteSignatureException",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "MissingAuthenticationTokenException",
        "UnrecognizedClientException",
    }
)
_NO_CREDENTIALS = (
    exceptions.NoAuthTokenError,
    exceptions.NoCredentialsError,
    exceptions.PartialCredentialsError,
    exceptions.CredentialRetrievalError,
    exceptions.TokenRetrievalError,
    exceptions.SSOError,
)
_NOT_SENT = (exceptions.EndpointConnectionError, exceptions.ConnectTimeoutError, exceptions.ProxyConnectionError)
_TRANSPORT = (
    exceptions.ConnectionError,
    exceptions.HTTPClientError,
    exceptions.IncompleteReadError,
    ResponseParserError,
)


def fault_of(error: Exception, table: str) -> Fault:
    """The meaning of an error that botocore raised, in words for the caller that name the table and what to do."""
    if isinstance(error, ClientError):
        return _answered(error, table)
    name = type(error).__name__
    if isinstance(error, _NO_CREDENTIALS):
        return Fault(Meaning.BROKEN, _credentials(name))
    if isinstance(error, _NOT_SENT):
        return Fault(
            Meaning.BUSY, f"The registry's database can't be reached ({name}); if it is an emulator, is it running?"
        )
    if isinstance(error, _TRANSPORT):
        return Fault(Meaning.BUSY, f"The registry's database did not answer ({name}).", may_have_applied=True)
    return Fault(Meaning.BROKEN, f"The registry's database can't be used: check the gateway's AWS settings ({name}).")


def _answered(error: ClientError, table: str) -> Fault:
    response: Mapping[str, Any] = error.response
    code = str(response.get("Error", {}).get("Code", ""))
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if code == "TransactionCanceledException":
        return _cancelled(response.get("CancellationReasons", []), table)
    if code in _CONTENDED or code in _THROTTLED:
        return _crowded(code)
    if code == "TransactionInProgressException" or status >= 500:
        return Fault(Meaning.BUSY, f"The registry's database failed ({code}).", may_have_applied=True)
    return Fault(Meaning.BROKEN, _refusal(code, table))


def _refusal(code: str, table: str) -> str:
    if code == "ResourceNotFoundException":
        return f"The table {table} does not exist: deploy the stack that makes it, or name another in REGISTRY_TABLE."
    if code in _CREDENTIALS:
        return _credentials(code)
    if code == "AccessDeniedException":
        return f"The gateway's role may not use the table {table} ({code}); extend its policy."
    return f"The registry's database refuses calls for the table {table} ({code})."


def _cancelled(reasons: list[Mapping[str, Any]], table: str) -> Fault:
    codes = [str(reason["Code"]) for reason in reasons if reason.get("Code", "None") != "None"]
    if "ConditionalCheckFailed" in codes:
        found = next((reason["Item"] for reason in reasons if reason.get("Item")), None)
        return Fault(Meaning.REFUSED, "A condition of the write does not hold.", found=found)
    for code in codes:
        if code in _CONTENDED or code in _THROTTLED:
            return _crowded(code)
    return Fault(Meaning.BROKEN, f"The registry's database refuses the write to {table} ({', '.join(codes)}).")


def _crowded(code: str) -> Fault:
    if code in _CONTENDED:
        return Fault(Meaning.CONTENDED, f"Others keep changing the registry ({code}).")
    return Fault(Meaning.BUSY, f"The registry's database has too much to do ({code}).")


def _credentials(name: str) -> str:
    return f"The gateway's AWS credentials are missing, wrong or expired ({name})."
