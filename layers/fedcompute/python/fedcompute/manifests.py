"""Kubernetes manifests as YAML that a person pastes: a pod that asks for what was searched, on the node that was found."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from fedcompute.inventory import Node
from fedcompute.request import SearchRequest
from fedcompute.taints import KEEP_OUT

HOSTNAME = "kubernetes.io/hostname"

# Texts that mean themselves in YAML 1.1 and 1.2 without quotes. All others are quoted as in JSON, which YAML reads alike.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_WORDS = re.compile(r"y|n|yes|no|on|off|true|false|null", re.IGNORECASE)

_GIB, _MIB = 1 << 30, 1 << 20


def yaml(*documents: Mapping[str, Any]) -> str:
    """Documents of mappings, lists, texts and whole numbers; members that are None or empty are left out."""
    return "---\n".join("\n".join(_lines(_kept(document), "")) + "\n" for document in documents)


def pod(
    request: SearchRequest,
    node: Node,
    resource: str | None,
    limits: Mapping[str, int],
    annotations: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """A pod with one container that asks for the request's cpu and memory, and for the devices in `limits`.

    `resource` is the devices' resource: a taint of that name is tolerated, as the search has done.
    """
    return _pod(*_parts(request, node, resource, limits, annotations or {}))


def pod_yaml(
    request: SearchRequest,
    node: Node,
    resource: str | None,
    limits: Mapping[str, int],
    annotations: Mapping[str, str] | None = None,
) -> str:
    """The same as text. The nodes that are shown are mostly those of the last searches: their texts are kept."""
    return _pod_text(*_parts(request, node, resource, limits, annotations or {}))


# A pod's host, tolerations, requests, limits and annotations.
_Pairs = tuple[tuple[str, Any], ...]
_Parts = tuple[str, tuple[_Pairs, ...], _Pairs, _Pairs, _Pairs]


def _parts(
    request: SearchRequest, node: Node, resource: str | None, limits: Mapping[str, int], annotations: Mapping[str, str]
) -> _Parts:
    tolerations = (*_asked_tolerations(request), *_own_tolerations(node, resource))
    host = node.labels.get(HOSTNAME) or node.name
    return host, tolerations, tuple(_requests(request)), tuple(limits.items()), tuple(annotations.items())


@lru_cache(maxsize=1024)
def _pod_text(host: str, tolerations: tuple[_Pairs, ...], requests: _Pairs, limits: _Pairs, annotations: _Pairs) -> str:
    return yaml(_pod(host, tolerations, requests, limits, annotations))


def _pod(
    host: str, tolerations: tuple[_Pairs, ...], requests: _Pairs, limits: _Pairs, annotations: _Pairs
) -> dict[str, Any]:
    resources = {"requests": dict(requests), "limits": dict(limits)}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "my-job", "annotations": dict(annotations)},
        "spec": {
            # By label and not by nodeName, which would pass the scheduler by, and with it all that keeps shares apart.
            "nodeSelector": {HOSTNAME: host},
            "tolerations": [dict(one) for one in tolerations],
            "restartPolicy": "Never",
            "containers": [{"name": "main", "image": "your-image", "resources": resources}],
        },
    }


def _requests(request: SearchRequest) -> Iterator[tuple[str, str]]:
    if request.cpu is not None:
        millicores = request.cpu.minimum_millicores
        yield "cpu", f"{millicores}m" if millicores % 1000 else str(millicores // 1000)
    if request.memory is not None:
        yield "memory", _memory(request.memory.minimum_bytes)


def _memory(amount: int) -> str:
    for unit, suffix in ((_GIB, "Gi"), (_MIB, "Mi")):
        if amount % unit == 0:
            return f"{amount // unit}{suffix}"
    return str(amount)


def _asked_tolerations(request: SearchRequest) -> Iterator[_Pairs]:
    for one in request.tolerations:
        yield ("key", one.key), ("operator", one.operator), ("value", one.value), ("effect", one.effect)


def _own_tolerations(node: Node, resource: str | None) -> Iterator[_Pairs]:
    for taint in node.taints:
        if taint.key == resource and taint.effect in KEEP_OUT:
            yield ("key", taint.key), ("operator", "Exists"), ("effect", taint.effect)


def _kept(value: Any) -> Any:
    """Without members that hold nothing."""
    if isinstance(value, dict):
        members = {name: _kept(member) for name, member in value.items()}
        return {name: member for name, member in members.items() if member not in (None, "", {}, [])}
    return [_kept(item) for item in value] if isinstance(value, list) else value


def _lines(value: Mapping[str, Any] | Sequence[Any], indent: str) -> list[str]:
    lines: list[str] = []
    if isinstance(value, dict):
        for name, member in value.items():
            head = f"{indent}{_text(name)}:"
            if isinstance(member, (dict, list)):
                lines += [head, *_lines(member, indent + "  ")]
            else:
                lines.append(f"{head} {_scalar(member)}")
        return lines
    for item in value:
        if isinstance(item, dict):
            first, *others = _lines(item, indent + "  ")
            lines += [f"{indent}- {first.strip()}", *others]
        else:
            lines.append(f"{indent}- {_scalar(item)}")
    return lines


def _scalar(value: str | int) -> str:
    return str(value) if isinstance(value, int) else _text(value)


@lru_cache(maxsize=4096)  # the same few names stand in every manifest
def _text(value: str) -> str:
    is_plain = _PLAIN.fullmatch(value) and not _WORDS.fullmatch(value)
    return value if is_plain else json.dumps(value)
