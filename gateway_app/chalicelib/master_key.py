"""The secret that every provider's key is derived from: a file of this machine, an SSM parameter or a secret of AWS."""

import os
import secrets
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from fedcompute.errors import Problem, unavailable

KEPT_S = 300.0
RETRY_S = 10.0  # after a failure, while what is known is still used
LEAST_CHARACTERS = 32
_BOUNDS = Config(connect_timeout=1, read_timeout=2, retries={"mode": "standard", "total_max_attempts": 2})


class UnreadableMasterKeyError(Exception):
    """Why there is no master key, in words for the operator."""


class MasterKey:
    """Reads `reference` on first use, and again after KEPT_S; a known value outlives a source that does not answer."""

    def __init__(
        self,
        reference: str,
        *,
        read: Callable[[str], str] | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._reference = reference
        self._read = read or read_reference
        self._monotonic = monotonic
        self._value: bytes | None = None
        self._read_again_at = 0.0
        self._reading = threading.Lock()

    def value(self) -> bytes:
        """The secret's text as UTF-8. Raises: 503 `not_ready`, with what to do."""
        with self._reading:
            if self._value is None or self._monotonic() >= self._read_again_at:
                self._refresh()
            assert self._value is not None
            return self._value

    def _refresh(self) -> None:
        try:
            value = _long_enough(self._read(self._reference).strip())
        except UnreadableMasterKeyError as error:
            if self._value is None:
                raise _not_ready(str(error)) from error
            self._read_again_at = self._monotonic() + RETRY_S
            return
        self._value = value
        self._read_again_at = self._monotonic() + KEPT_S


def _long_enough(text: str) -> bytes:
    if len(text) < LEAST_CHARACTERS:
        raise UnreadableMasterKeyError(f"it has fewer than {LEAST_CHARACTERS} characters")
    return text.encode()


def read_reference(reference: str) -> str:
    """What a reference leads to. Raises UnreadableMasterKeyError."""
    kind, _, name = reference.partition(":")
    readers = {"file": _from_file, "ssm": _from_parameter, "secretsmanager": _from_secret}
    if kind not in readers or not name:
        raise UnreadableMasterKeyError("it is not set; name a file:PATH, ssm:PARAMETER or secretsmanager:SECRET")
    try:
        return readers[kind](name)
    except (OSError, ValueError) as error:
        raise UnreadableMasterKeyError(f"the {kind} it names can't be read ({type(error).__name__})") from error
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        raise UnreadableMasterKeyError(f"AWS gives no {kind} value of that name ({code})") from error
    except BotoCoreError as error:
        raise UnreadableMasterKeyError(f"AWS does not answer ({type(error).__name__})") from error


def _from_file(name: str) -> str:
    """A file that only its owner may read; made with a new secret where there is none."""
    path = Path(name)
    if not path.exists():
        _make(path)
    if path.stat().st_mode & 0o077:
        raise UnreadableMasterKeyError("others may read its file: chmod 600")
    return path.read_text()


def _make(path: Path) -> None:
    """Whole or not at all, and never over one that another process has just made."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, made = tempfile.mkstemp(dir=path.parent)  # for its owner alone: 0600
    try:
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_urlsafe(32) + "\n")
        os.link(made, path)
    except FileExistsError:
        pass
    finally:
        Path(made).unlink()


def _from_parameter(name: str) -> str:
    answer = _client("ssm").get_parameter(Name=name, WithDecryption=True)
    return str(answer["Parameter"]["Value"])


def _from_secret(name: str) -> str:
    answer = _client("secretsmanager").get_secret_value(SecretId=name)
    return str(answer.get("SecretString", ""))


def _client(service: str) -> Any:
    return botocore.session.get_session().create_client(service, config=_BOUNDS)


def _not_ready(why: str) -> Problem:
    return unavailable("not_ready", f"The gateway has no master key (MASTER_KEY): {why}.")
