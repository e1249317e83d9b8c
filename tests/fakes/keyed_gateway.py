"""The gateway with AUTH=keys, and callers who have keys to it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes.gateway import PROVIDERS, Answer, Gateway

from chalicelib.keys import Key, digest_of, item_of, new_id, new_secret, text_of
from chalicelib.registry import Registry


class KeyedGateway(Gateway):
    """Calls without `key` carry none."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, dynamodb: Any, table: str, folder: Path, **more: str) -> None:
        own = {"AUTH": "keys", "MASTER_KEY": f"file:{folder}/master.key", "KEY_RATE_PER_S": "1000"}
        super().__init__(monkeypatch, REGISTRY_TABLE=table, **{**own, **more})
        self.module.gateway.registry = Registry(lambda: dynamodb, table)
        self._dynamodb, self._table = dynamodb, table
        self.rows: dict[str, Key] = {}

    def a_key(self, *roles: str, principal: str = "lab-a", **fields: Any) -> str:
        """A key in the table, as its owner has it."""
        secret = new_secret()
        made = "2026-01-01T00:00:00Z"
        key = Key(new_id(), digest_of(secret), principal, roles, **{"created_at": made, **fields})
        self._put(key)
        text = text_of(key.key_id, secret)
        self.rows[text] = key
        return text

    def change(self, text: str, **fields: Any) -> None:
        """What an operator does to a key."""
        self.rows[text] = replace(self.rows[text], **fields)
        self._put(self.rows[text])

    def forget_keys(self) -> None:
        """As a new process."""
        self.module.gateway.__dict__.pop("access", None)

    def ask(self, key: str | None, method: str, path: str, body: object = None, **headers: str) -> Answer:
        """One request with a key."""
        carried = {} if key is None else {"Authorization": f"Bearer {key}"}
        return self.call(method, path, body, {**carried, **headers})

    def add(self, key: str, provider_id: str, base_url: str, **fields: Any) -> Any:
        """A record made with a key: the 201's members."""
        body = {"id": provider_id, "name": provider_id, "base_url": base_url, "timeout_ms": 5000, **fields}
        answer = self.ask(key, "POST", PROVIDERS, body)
        assert answer.status == 201, answer
        return json.loads(answer.text)

    def _put(self, key: Key) -> None:
        self._dynamodb.put_item(TableName=self._table, Item=item_of(key))
