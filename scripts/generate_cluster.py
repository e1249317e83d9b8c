"""Makes a cluster up: nodes and pods as an API server lists them, in realistic sizes, the same for the same seed.

python -m scripts.generate_cluster FOLDER [--nodes N] [--pods N] [--seed N]    writes nodes.json and pods.json

Every other node has eight GPUs that HAMi shares, in the annotations of its current releases; a third of the pods hold one.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import click

IMAGES = 50  # what a kubelet reports at most, by default
GPUS = 8
MEMORY_MIB = 81559
MODEL = "NVIDIA H100 80GB HBM3"


@click.command(help=__doc__)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--nodes", default=5000, show_default=True, help="How many nodes.")
@click.option("--pods", default=20000, show_default=True, help="How many pods.")
@click.option("--seed", default=1, show_default=True, help="Another number makes another cluster.")
def main(folder: Path, nodes: int, pods: int, seed: int) -> None:
    """Writes the two lists."""
    made = generate(nodes, pods, seed)
    folder.mkdir(parents=True, exist_ok=True)
    for kind, items in zip(("Node", "Pod"), made, strict=True):
        file = folder / f"{kind.lower()}s.json"
        file.write_text(json.dumps({"apiVersion": "v1", "kind": f"{kind}List", "metadata": {}, "items": items}))
        click.echo(f"{file}: {len(items)} {kind.lower()}s, {file.stat().st_size / 1e6:.1f} MB")


def generate(nodes: int, pods: int, seed: int = 1) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Nodes and pods; pods hold no more of a device than it has."""
    random = Random(seed)  # noqa: S311 (data that is made up)
    made_nodes = [node(random, number) for number in range(nodes)]
    room = _slots(made_nodes)
    return made_nodes, [pod(random, number, made_nodes, room) for number in range(pods)]


def node(random: Random, number: int) -> dict[str, Any]:
    """One node of about 12 kB; each second one with GPUs."""
    name = f"node-{number:05d}"
    amounts = {"cpu": "64", "memory": "263954036Ki", "pods": "110", "ephemeral-storage": "1844284980Ki"}
    annotations = {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}
    if number % 2 == 0:
        amounts["nvidia.com/gpu"] = str(GPUS * 10)
        cards = [_card(random, index) for index in range(GPUS)]
        annotations["hami.io/node-nvidia-register"] = json.dumps(cards, separators=(",", ":"))
        annotations["hami.io/node-handshake"] = "Reported 2026-01-01 00:00:00"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "uid": _uuid(random),
            "resourceVersion": str(random.randrange(10**8)),
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": _labels(name, number),
            "annotations": annotations,
            "managedFields": [_managed(manager, [*annotations, *amounts]) for manager in ("kubelet", "controller")],
        },
        "spec": {"podCIDR": f"10.{number // 256}.{number % 256}.0/24", "providerID": f"made-up:///{name}"},
        "status": _node_status(random, number, amounts),
    }


def pod(random: Random, number: int, nodes: list[dict[str, Any]], room: dict[str, int]) -> dict[str, Any]:
    """One running pod of about 3 kB; a third of them on a slot of a shared GPU, while there are any."""
    name = f"job-{number:05d}"
    chosen = random.choice(nodes)
    annotations = {"made-up.example/owner": _uuid(random)}
    cards = chosen["metadata"]["annotations"].get("hami.io/node-nvidia-register")
    if cards and number % 3 == 0:
        annotations |= _allocation(random, json.loads(cards), chosen["metadata"]["name"], room)
    limits = {"nvidia.com/gpu": "1"} if "hami.io/vgpu-node" in annotations else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": f"team-{number % 40}",
            "uid": _uuid(random),
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"app": name, "pod-template-hash": f"{random.randrange(16**10):010x}"},
            "annotations": annotations,
            "managedFields": [
                _managed(manager, list(annotations)) for manager in ("kube-controller-manager", "kubelet")
            ],
        },
        "spec": {
            "nodeName": chosen["metadata"]["name"],
            "containers": [_container(name, limits)],
            "tolerations": [
                {"key": f"node.kubernetes.io/{key}", "operator": "Exists"} for key in ("not-ready", "lost")
            ],
        },
        "status": {
            "phase": "Running",
            "conditions": [_condition(kind, "True") for kind in ("Initialized", "Ready", "PodScheduled")],
            "podIP": f"10.0.{number // 256 % 256}.{number % 256}",
        },
    }


def _card(random: Random, index: int) -> dict[str, Any]:
    card = {"id": f"GPU-{_uuid(random)}", "index": index, "count": 10, "devmem": MEMORY_MIB, "devcore": 100}
    return {**card, "type": MODEL, "numa": index // 4, "mode": "hami-core", "health": True}


def _slots(nodes: list[dict[str, Any]]) -> dict[str, int]:
    lists = [one["metadata"]["annotations"].get("hami.io/node-nvidia-register", "[]") for one in nodes]
    return {card["id"]: 4 for text in lists for card in json.loads(text)}


def _allocation(random: Random, cards: list[dict[str, Any]], name: str, room: dict[str, int]) -> dict[str, str]:
    free = [card["id"] for card in cards if room[card["id"]]]
    if not free:
        return {}
    chosen = random.choice(free)
    room[chosen] -= 1
    held = f"{chosen},NVIDIA,{random.randrange(1000, MEMORY_MIB // 4)},{random.randrange(0, 25)}:;"
    return {
        "hami.io/vgpu-node": name,
        "hami.io/vgpu-devices-allocated": held,
        "hami.io/vgpu-devices-to-allocate": ";",
        "hami.io/bind-phase": "success",
    }


def _labels(name: str, number: int) -> dict[str, str]:
    zone = f"zone-{number % 3}"
    known = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    features = {f"feature.node.kubernetes.io/cpu-cpuid.FEATURE{index}": "true" for index in range(20)}
    return {**known, "topology.kubernetes.io/zone": zone, "topology.kubernetes.io/region": "here", **features}


def _node_status(random: Random, number: int, amounts: dict[str, str]) -> dict[str, Any]:
    conditions = [_condition(kind, "False") for kind in ("MemoryPressure", "DiskPressure", "PIDPressure")]
    return {
        "capacity": amounts,
        "allocatable": amounts | {"cpu": "63500m", "memory": "258954036Ki"},
        "conditions": [*conditions, _condition("Ready", "True")],
        "addresses": [{"type": "InternalIP", "address": f"10.1.{number // 256}.{number % 256}"}],
        "images": list(_images(random)),
        "nodeInfo": _node_info(random),
    }


def _node_info(random: Random) -> dict[str, str]:
    return {
        **{name: _uuid(random) for name in ("machineID", "systemUUID", "bootID")},
        "kernelVersion": "6.8.0-45-generic",
        "osImage": "Made-up Linux 24.04",
        "containerRuntimeVersion": "containerd://2.1.3",
        "kubeletVersion": "v1.34.0",
        "kubeProxyVersion": "v1.34.0",
        "operatingSystem": "linux",
        "architecture": "amd64",
    }


def _images(random: Random) -> Iterator[dict[str, Any]]:
    for _ in range(IMAGES):
        repository = f"registry.example/team/image-{random.randrange(1000)}"
        names = [f"{repository}@sha256:{random.randrange(16**64):064x}", f"{repository}:{random.randrange(99)}"]
        yield {"names": names, "sizeBytes": random.randrange(10**9)}


def _condition(kind: str, value: str) -> dict[str, str]:
    times = {"lastTransitionTime": "2026-01-01T00:00:00Z", "lastHeartbeatTime": "2026-01-01T00:00:00Z"}
    return {"type": kind, "status": value, "reason": f"{kind}Is{value}", "message": "made up, in a line", **times}


def _managed(manager: str, keys: list[str]) -> dict[str, Any]:
    fields = {"f:metadata": {"f:annotations": {f"f:{key}": {} for key in keys}}, "f:spec": {f"f:{manager}": {}}}
    return {"manager": manager, "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields}


def _container(name: str, limits: dict[str, str]) -> dict[str, Any]:
    return {
        "name": "main",
        "image": f"registry.example/team/{name}:1",
        "env": [{"name": f"VARIABLE_{number}", "value": f"a value of some length, {number}"} for number in range(12)],
        "resources": {
            "requests": {"cpu": "250m", "memory": "512Mi", **limits},
            "limits": {"memory": "512Mi", **limits},
        },
        "volumeMounts": [{"name": f"volume-{number}", "mountPath": f"/var/data/{number}"} for number in range(4)],
    }


def _uuid(random: Random) -> str:
    digits = f"{random.getrandbits(128):032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


if __name__ == "__main__":
    sys.exit(main())
