"""The `next_token` of a list: where its next page begins, in a form that callers have no reason to take apart."""

import base64
import binascii

from fedcompute.errors import Problem
from fedcompute.provider import is_provider_id


def token_after(provider_id: str) -> str:
    """The token of the page that begins after a provider."""
    return base64.urlsafe_b64encode(provider_id.encode()).decode().rstrip("=")


def id_in(token: str) -> str:
    """The provider after which the token's page begins. Raises: 400 `malformed_token`."""
    try:
        provider_id = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
    except (binascii.Error, ValueError) as error:
        raise _malformed() from error
    # Decoders skip what they don't know: only what token_after makes is a token.
    if not is_provider_id(provider_id) or token_after(provider_id) != token:
        raise _malformed()
    return provider_id


def _malformed() -> Problem:
    return Problem("malformed_token", "The next_token is not one that a list answered with; begin again without it.")
