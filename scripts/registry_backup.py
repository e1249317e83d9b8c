"""The registry and its keys as JSON lines, one DynamoDB item a line: for backups, and to move a registry elsewhere.

scripts/registry_backup export > registry.jsonl
scripts/registry_backup import < registry.jsonl

TARGET says where, as for `make deploy`; --table names another table there. An import writes what the lines hold and leaves
everything else; --replace removes what the lines do not hold. Gateways see it with their next search.
"""

import argparse
import json
import sys
import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

from botocore.exceptions import BotoCoreError, ClientError

from scripts import deploy, deployment, targets
from scripts.targets import Target
from scripts.terminal import Failure, errors, fail

BATCH = 25  # items in one call, at most
VERSION = {"pk": {"S": "registry"}, "sk": {"S": "version"}}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="scripts/registry_backup", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("direction", choices=["export", "import"])
    parser.add_argument("--table", help="instead of the deployed gateway's")
    parser.add_argument("--replace", action="store_true", help="with import: remove what the lines do not hold")
    given = parser.parse_args(arguments)
    try:
        target = targets.find(deploy.running_fleet())
        table = given.table or _deployed_table(target)
        client = target.client("dynamodb")
        if given.direction == "export":
            count = export(client, table, sys.stdout)
        else:
            count = bring_back(client, table, sys.stdin, replace=given.replace)
    except Failure as failure:
        fail(failure)
        return 1
    except (BotoCoreError, ClientError) as error:
        fail(Failure(f"The table can't be used: {error}"))
        return 1
    errors.print(f"{count} items of {table} were {'written' if given.direction == 'import' else 'read'}.", markup=False)
    return 0


def _deployed_table(target: Target) -> str:
    found = target.stacks().outputs(deployment.names(target).base)
    if not found:
        raise Failure(f"Nothing is deployed at {target.name}; name a table with --table.")
    return found["RegistryTable"]


def export(client: Any, table: str, output: TextIO) -> int:
    """Writes every item as a line, sorted by key; how many there were."""
    items = sorted(_every(client, table), key=_key)
    for item in items:
        output.write(json.dumps(item, sort_keys=True, ensure_ascii=False) + "\n")
    return len(items)


def bring_back(client: Any, table: str, lines: Iterable[str], *, replace: bool = False) -> int:
    """Puts the items of the lines, all of them read before the first is written; how many there were. Raises Failure."""
    items = [_item(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    there = {_key(one) for one in _every(client, table)} if replace else set()
    gone = there - {_key(one) for one in items} - {_key(VERSION)}
    writes: list[dict[str, Any]] = [{"PutRequest": {"Item": one}} for one in items if _key(one) != _key(VERSION)]
    writes += [{"DeleteRequest": {"Key": {"pk": {"S": pk}, "sk": {"S": sk}}}} for pk, sk in sorted(gone)]
    for start in range(0, len(writes), BATCH):
        _write(client, table, writes[start : start + BATCH])
    # Last, so that no gateway takes half of it for the whole: a version that nobody has seen.
    client.update_item(
        TableName=table,
        Key=VERSION,
        UpdateExpression="ADD #version :one SET write_id = :write_id",
        ExpressionAttributeNames={"#version": "version"},
        ExpressionAttributeValues={":one": {"N": "1"}, ":write_id": {"S": str(uuid.uuid4())}},
    )
    return len(items)


def _write(client: Any, table: str, writes: list[dict[str, Any]]) -> None:
    while writes:
        writes = client.batch_write_item(RequestItems={table: writes}).get("UnprocessedItems", {}).get(table, [])


def _every(client: Any, table: str) -> Iterator[dict[str, Any]]:
    for page in client.get_paginator("scan").paginate(TableName=table, ConsistentRead=True):
        yield from page["Items"]


def _item(number: int, line: str) -> dict[str, Any]:
    try:
        item: dict[str, Any] = json.loads(line)
        _key(item)
    except (ValueError, KeyError, TypeError) as error:
        raise Failure(f"Line {number} is no item of the registry; nothing was written.") from error
    return item


def _key(item: dict[str, Any]) -> tuple[str, str]:
    return item["pk"]["S"], item["sk"]["S"]


if __name__ == "__main__":
    raise SystemExit(main())
