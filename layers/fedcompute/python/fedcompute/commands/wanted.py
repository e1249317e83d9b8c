"""The search request on the command line: flags, a file, or a file with some of it changed by flags."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from fedcompute.commands.amounts import Cores, GpuMemory, Memory, Milliseconds, Percent
from fedcompute.commands.failures import FLAGS
from fedcompute.commands.options import Command

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
STRATEGIES = ("best-fit", "most-available", "binpack", "spread")

_OPTIONS: Sequence[Callable[[Command], Command]] = (
    click.option("--gpu", type=click.IntRange(min=1), metavar="N", help="Distinct cards on one node."),
    click.option("--gpu-memory", type=GpuMemory(), help="Free memory of each: 30GiB, 30GB, 30000MiB."),
    click.option("--gpu-compute", type=Percent(), help="Free compute of each, in percent of the card."),
    click.option("--vendor", help="Who makes them: NVIDIA, AMD, Huawei, ..."),
    click.option("--model", help="What the model's name must have: A100, 'RTX 4090'."),
    click.option("--sharing", type=click.Choice(["whole", "any"]), help="Unused cards only, or shares as well."),
    click.option("--cpu", type=Cores(), help="Free cores: 4, 500m."),
    click.option("--memory", type=Memory(), help="Free memory of the node: 16GiB."),
    click.option("--strategy", type=click.Choice(STRATEGIES), help="What is best.  [default: best-fit]"),
    click.option("--limit", type=click.IntRange(1, 100), help="Most candidates.  [default: 20]"),
    click.option("--deadline", type=Milliseconds(), help="For the whole search: 8s, 500ms."),
    click.option("--provider", "-p", multiple=True, metavar="ID", help="Ask only this one; may be repeated."),
    click.option("--exclude", multiple=True, metavar="ID", help="Do not ask this one; may be repeated."),
    click.option("--label", multiple=True, metavar="KEY=VALUE", help="Ask only providers with this label."),
    click.option("--toleration", multiple=True, metavar="KEY[=VALUE][:EFFECT]", help="A taint to live with."),
    click.option("--require-all", is_flag=True, help="Fail when a provider does not answer."),
    click.option(
        "--file", "-f", "file", metavar="FILE", help="A request as JSON; - is the standard input. Flags go over it."
    ),
)


def request_options(command: Command) -> Command:
    """The options that make a search request."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def request_from(flags: Mapping[str, Any], **others: Any) -> dict[str, Any]:
    """The body of a search, from the flags' values by their names; `others` are members that a command sets itself."""
    body = _from_file(flags["file"]) if flags["file"] else {}
    for pointer, flag in FLAGS.items():
        value = flags[flag.removeprefix("--").replace("-", "_")]
        if value is not None:
            _put(body, pointer.split("/")[1:], value)
    chosen = {"include": flags["provider"], "exclude": flags["exclude"], "labels": labels(flags["label"])}
    for name, value in chosen.items():
        if value:
            _put(body, ["providers", name], value)
    if flags["toleration"]:
        body["tolerations"] = [toleration(text) for text in flags["toleration"]]
    if flags["require_all"]:
        body["partial"] = "require_all"
    body |= others
    if not {"gpu", "cpu", "memory"} & body.keys():
        raise click.UsageError("Ask for something: --gpu, --cpu or --memory, or a request with -f.")
    return body


def labels(texts: Sequence[str]) -> dict[str, str]:
    """Labels from key=value."""
    found = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise click.UsageError(f"{text!r} is no label; write it as KEY=VALUE.")
        found[key] = value
    return found


def toleration(text: str) -> dict[str, str]:
    """As kubectl writes taints: key=value:Effect; without a value any, without an effect each."""
    taint, _, effect = text.partition(":")
    key, equals, value = taint.partition("=")
    if not key or (effect and effect not in EFFECTS) or (text.endswith(":")):
        raise click.UsageError(f"{text!r} is no toleration; write KEY=VALUE:EFFECT, the effect {' or '.join(EFFECTS)}.")
    found = {"key": key, "operator": "Equal", "value": value} if equals else {"key": key, "operator": "Exists"}
    return found | ({"effect": effect} if effect else {})


def _put(body: dict[str, Any], path: Sequence[str], value: object) -> None:
    for step in path[:-1]:
        inner = body.get(step)
        body[step] = body = dict(inner) if isinstance(inner, dict) else {}
    body[path[-1]] = value


def _from_file(name: str) -> dict[str, Any]:
    shown = "the standard input" if name == "-" else name
    try:
        body = json.loads(sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes())
    except OSError as error:
        raise click.UsageError(f"{shown} can't be read: {error.strerror}.") from error
    except ValueError as error:
        raise click.UsageError(f"{shown} is not JSON: {error}.") from error
    if not isinstance(body, dict):
        raise click.UsageError(f"{shown} holds no request: it must be a JSON object.")
    return body
