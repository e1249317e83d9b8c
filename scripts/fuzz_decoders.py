"""Strange clusters, made up by hypothesis, through every decoder: no exception, no number that can't be.

usage: fuzz_decoders.py [COUNT]      COUNT annotation values and objects, 100000 by default; prints how many it ran

Values are near what device plugins, schedulers and users write: right forms with wrong numbers, cut, doubled, mixed up.
"""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parent.parent
for _folder in ("provider_app", "layers/fedcompute/python"):
    if str(_ROOT / _folder) not in sys.path:
        sys.path.insert(0, str(_ROOT / _folder))

import msgspec  # noqa: E402 (the path first)
from hypothesis import HealthCheck, Phase, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from chalicelib.cluster_inventory import Cluster, inventory_of  # noqa: E402
from chalicelib.cluster_objects import decode_page  # noqa: E402
from fedcompute.inventory import Device, Inventory, Node  # noqa: E402
from fedcompute.reading import read  # noqa: E402
from fedcompute.soundness import device_faults, node_faults  # noqa: E402

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
LARGEST = 2**63 - 1

_IDS = [
    "GPU-0",
    "GPU-1",
    "GPU-2",
    "n0-cambricon-mlu-0",
    "n0-metax-1",
    "n1-AWSNeuron-0",
    "n0-enflame-drs-0",
    "",
    "GPU-0[1-2]",
]
_NODES = ["n0", "n1", "n2", ""]
_NUMBERS = [
    "0",
    "1",
    "2",
    "4",
    "10",
    "100",
    "-1",
    "24576",
    "2147483647",
    "2147483648",
    "18446744073709551615",
    "5k",
    "1.5",
]
_NUMBERS += ["", "abc", "1e3", "NaN", "+7", " 8", "\u0663", "9" * 40]
_QUANTITIES = [*_NUMBERS, "100m", "64Gi", "1288490188800m", "129e6", "1e999999", "-5Gi", ".5", "1Ki", "16Ei", "1n"]
_REGISTERS = [
    "nvidia-register",
    "dcu-register",
    "register-Ascend910B3",
    "register-xpu",
    "va-register",
    "biren-register",
]
_REGISTERS += ["amd-register", "MR-V100-register", "mlu-register", "strange-register"]
_NODE_KEYS = [f"hami.io/node-{name}" for name in _REGISTERS]
_NODE_KEYS += ["4pd.io/node-nvidia-register", "volcano.sh/node-vgpu-register", "metax-tech.com/node-gpu-devices"]
_NODE_KEYS += [
    "enflame.com/gcu-drs-capacity",
    "hami.io/node-handshake",
    "hami.io/node-handshake-dcu",
    "hami.io/device-cordon",
]
_POD_KEYS = ["hami.io/vgpu-devices-allocated", "hami.io/dcu-devices-allocated", "hami.io/Ascend910B3-devices-allocated"]
_POD_KEYS += ["hami.io/vgpu-devices-to-allocate", "hami.io/kunlun-allocated", "hami.io/vgpu-mig-allocations"]
_POD_KEYS += ["hami.io/aws-neuron-devices-allocated", "metax-tech.com/gpu-devices-allocated", "volcano.sh/vgpu-ids-new"]
_RESOURCES = [
    "cpu",
    "memory",
    "pods",
    "nvidia.com/gpu",
    "nvidia.com/gpu.shared",
    "nvidia.com/mig-1g.5gb",
    "amd.com/gpu",
]
_RESOURCES += [
    "hygon.com/dcunum",
    "huawei.com/Ascend910B3",
    "kunlunxin.com/xpu",
    "kunlunxin.com/vxpu",
    "enflame.com/gcu",
]
_RESOURCES += [
    "metax-tech.com/gpu",
    "metax-tech.com/sgpu",
    "cambricon.com/mlu.smlu.vcore",
    "cambricon.com/mlu.smlu.vmemory",
]
_RESOURCES += [
    "mthreads.com/sgpu-core",
    "mthreads.com/sgpu-memory",
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
]
_RESOURCES += [
    "gpu.intel.com/xe",
    "enflame.com/drs-gcu",
    "volcano.sh/vgpu-number",
    "cambricon.com/vmlu",
    "nvidia.com/gpumem",
]
_LABELS = ["nvidia.com/gpu.product", "nvidia.com/gpu.memory", "nvidia.com/gpu.count", "nvidia.com/gpu.replicas"]
_LABELS += [
    "nvidia.com/gpu.sharing-strategy",
    "nvidia.com/mig-1g.5gb.memory",
    "amd.com/gpu.vram",
    "gpu.intel.com/device.count",
]
_TEXTS = ["NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", "Tesla-T4-SHARED", "mps", "192G", "none", *_NUMBERS]
_HANDSHAKES = ["Requesting_2026-07-01 11:59:50", "Requesting_2020.01.01 00:00:00", "Deleted_2026-07-01 11:59:50"]
_HANDSHAKES += [
    "Reported 2026-07-01 11:59:50.5 +0000 UTC m=+1.5",
    "Reported_2026.07.01 11:59:50",
    "Reported_2026.99.99 99:99:99",
]

_ids, _numbers = st.sampled_from(_IDS), st.sampled_from(_NUMBERS)
_amounts = st.sampled_from([0, 1, 4, 7, 100, 24576, -1, 2**31, 10**30, 1.5, "7", None, True])
_field = _ids | _numbers | st.sampled_from(["true", "false", "T", "NVIDIA-NVIDIA A10", "mig", "hami-core"])


def _record(*fields: Any) -> Any:
    return st.tuples(*fields).map(",".join)


_flags = st.sampled_from(["true", "false", "1", "yes"])
_type = st.sampled_from(["NVIDIA", "NVIDIA-Tesla T4", "Ascend910B3", ""])
_seven = _record(_ids, _numbers, _numbers, _numbers, _type, _numbers, _flags)
_nine = _record(
    _ids, _numbers, _numbers, _numbers, _type, _numbers, _flags, _numbers, st.sampled_from(["mig", "hami-core", ""])
)
_six = _record(_ids, _numbers, _numbers, _type, _flags, st.just("mig"))
_held = _record(_ids, _type, _numbers, _numbers)
_odd = st.lists(_field, max_size=12).map(",".join)
_records = st.lists(_seven | _nine | _six | _held | _odd, max_size=4).map(
    lambda records: "".join(f"{one}:" for one in records)
)
_slots = st.lists(
    st.lists(_held | _held | _odd, max_size=3).map(lambda slot: "".join(f"{one}:" for one in slot)), max_size=4
)
_allocated = _slots.map(lambda slots: "".join(f"{one};" for one in slots))
_placement = st.fixed_dictionaries({"start": st.integers(-1, 7), "size": st.integers(-1, 8)})
_profile = st.fixed_dictionaries(
    {"name": st.just("1g.5gb"), "memoryMB": _amounts, "placements": st.lists(_placement, max_size=3)}
)
_entry = st.fixed_dictionaries(
    {},
    optional={
        "id": _ids,
        "ID": _ids,
        "index": _amounts,
        "count": _amounts,
        "devmem": _amounts,
        "devcore": _amounts,
        "type": st.sampled_from(["NVIDIA A100", "", 5]),
        "numa": _amounts,
        "mode": st.sampled_from(["mig", "hami-core", None]),
        "health": st.sampled_from([True, False, None, "true"]),
        "migProfiles": st.lists(_profile, max_size=3) | st.just("x"),
        "uuid": _ids,
        "totalDevCount": _amounts,
        "totalCompute": _amounts,
        "totalVRam": _amounts,
        "healthy": st.booleans(),
        "gpuUUID": _ids,
        "profile": st.just("1g.5gb"),
        "placement": _placement,
        "vRam": _amounts,
        "compute": _amounts,
    },
)
_devices = st.lists(st.fixed_dictionaries({"index": _numbers, "capacity": _amounts | _numbers}), max_size=3)
_enflame = st.fixed_dictionaries(
    {"devices": _devices, "profiles": st.dictionaries(st.sampled_from(["1g.6gb", "6g.36gb", "x", "2g"]), st.just("0"))}
)
_documents = (st.lists(_entry, max_size=4) | st.lists(st.lists(_entry, max_size=2), max_size=2) | _enflame).map(
    json.dumps
)
_whole_values = _records | _allocated | _documents | st.sampled_from(_HANDSHAKES) | st.lists(_ids).map(", ".join)
_cut = st.tuples(_whole_values, st.integers(0, 60)).map(lambda pair: pair[0][: pair[1]])
VALUES = _whole_values | _cut | st.text(max_size=60)

_usual = st.sampled_from(["0", "1", "2", "8", "16", "100m", "64Gi", 4])
_strange = st.integers(-5, 2**70) | st.floats(allow_nan=False, allow_infinity=False) | st.none()
_quantity = _usual | _usual | _usual | st.sampled_from(_QUANTITIES) | _strange
_listed = st.dictionaries(st.sampled_from(_RESOURCES), _quantity, max_size=8)
_statuses = st.sampled_from(["True", "False", "Unknown"])
_taint = st.fixed_dictionaries(
    {"key": st.sampled_from(["nvidia.com/gpu", "node.kubernetes.io/not-ready", "gpu.nvidia.com/xid"])},
    optional={"effect": st.sampled_from(["NoSchedule", "NoExecute", "PreferNoSchedule", None]), "value": st.just("x")},
)
NODES = st.fixed_dictionaries(
    {
        "metadata": st.fixed_dictionaries(
            {"name": st.sampled_from(_NODES)},
            optional={
                "annotations": st.dictionaries(st.sampled_from(_NODE_KEYS), VALUES, max_size=6),
                "labels": st.dictionaries(st.sampled_from(_LABELS), st.sampled_from(_TEXTS), max_size=5),
            },
        ),
        "status": st.fixed_dictionaries(
            {},
            optional={
                "allocatable": _listed,
                "capacity": _listed,
                "conditions": st.just([{"type": "Ready", "status": "True"}]),
            },
        ),
    },
    optional={
        "spec": st.fixed_dictionaries(
            {}, optional={"unschedulable": st.booleans(), "taints": st.lists(_taint, max_size=2)}
        )
    },
)
_container = st.fixed_dictionaries(
    {"name": st.sampled_from(["a", "b"])},
    optional={
        "resources": st.fixed_dictionaries({}, optional={"requests": _listed, "limits": _listed}),
        "restartPolicy": st.just("Always"),
    },
)
_status = st.fixed_dictionaries({"name": st.sampled_from(["a", "b"])}, optional={"allocatedResources": _listed})
PODS = st.fixed_dictionaries(
    {
        "metadata": st.fixed_dictionaries(
            {"name": st.just("p"), "namespace": st.just("t")},
            optional={
                "annotations": st.tuples(
                    st.dictionaries(st.sampled_from(_POD_KEYS), VALUES, max_size=4), st.sampled_from(_NODES)
                ).map(lambda pair: {**pair[0], "hami.io/vgpu-node": pair[1]})
            },
        ),
        "spec": st.fixed_dictionaries(
            {"containers": st.lists(_container, max_size=3)},
            optional={
                "nodeName": st.sampled_from(_NODES),
                "initContainers": st.lists(_container, max_size=2),
                "overhead": _listed,
                "resources": st.fixed_dictionaries({"requests": _listed}),
            },
        ),
        "status": st.fixed_dictionaries(
            {"phase": st.sampled_from(["Running", "Pending", "Succeeded", "Unknown"])},
            optional={"containerStatuses": st.lists(_status, max_size=2)},
        ),
    }
)
_texts = st.sampled_from(["gpu", "mig", "vfio", "GPU-0", "GPU-1", "NVIDIA L4", ""])
_attributes = st.dictionaries(
    st.sampled_from(["type", "uuid", "parentUUID", "productName", "resource.kubernetes.io/pciBusID"]),
    st.fixed_dictionaries({"string": _texts}),
    max_size=5,
)
_capacity = st.dictionaries(
    st.sampled_from(["memory", "cores", "gpu.nvidia.com/memory"]),
    st.fixed_dictionaries({"value": _quantity}),
    max_size=2,
)
_counters = st.dictionaries(
    st.sampled_from(["memory", "multiprocessors"]), st.fixed_dictionaries({"value": _quantity}), max_size=2
)
_basic = {
    "attributes": _attributes,
    "capacity": _capacity,
    "consumesCounters": st.lists(
        st.fixed_dictionaries({"counterSet": st.sampled_from(["s0", "s1"]), "counters": _counters}), max_size=2
    ),
    "taints": st.lists(_taint, max_size=1),
    "allowMultipleAllocations": st.booleans(),
}
_names = st.sampled_from(["gpu-0", "gpu-1", "gpu-0-mig-1g5gb-0-0", "gpu-0-mig-1g5gb-0-1"])
_device = st.fixed_dictionaries(
    {"name": _names}, optional={**_basic, "basic": st.fixed_dictionaries({}, optional=_basic)}
)
_pool = st.fixed_dictionaries(
    {"name": st.sampled_from(["n0", "n1"]), "generation": st.integers(0, 2), "resourceSliceCount": st.integers(-1, 2)}
)
_drivers = st.sampled_from(["gpu.nvidia.com", "hami-core-gpu.project-hami.io", "dra.net", "gpu.example.com"])
SLICES = st.fixed_dictionaries(
    {
        "metadata": st.fixed_dictionaries({"name": st.sampled_from(["s0", "s1", "s2"])}),
        "spec": st.fixed_dictionaries(
            {"driver": _drivers, "pool": _pool},
            optional={
                "nodeName": st.sampled_from(_NODES),
                "devices": st.lists(_device, max_size=4),
                "sharedCounters": st.lists(
                    st.fixed_dictionaries({"name": st.sampled_from(["s0", "s1"]), "counters": _counters}), max_size=2
                ),
            },
        ),
    }
)
_result = st.fixed_dictionaries(
    {"driver": _drivers, "pool": st.sampled_from(["n0", "n1"]), "device": _names},
    optional={
        "adminAccess": st.booleans(),
        "consumedCapacity": st.dictionaries(st.sampled_from(["memory", "cores"]), _quantity),
    },
)
CLAIMS = st.fixed_dictionaries(
    {"metadata": st.just({"name": "c"})},
    optional={
        "status": st.fixed_dictionaries(
            {},
            optional={
                "allocation": st.fixed_dictionaries(
                    {"devices": st.fixed_dictionaries({"results": st.lists(_result, max_size=3)})}
                )
            },
        )
    },
)
CLUSTERS = st.fixed_dictionaries(
    {
        "nodes": st.lists(NODES, min_size=1, max_size=3),
        "pods": st.none() | st.lists(PODS, max_size=4),
        "resourceslices": st.lists(SLICES, max_size=2),
        "resourceclaims": st.none() | st.lists(CLAIMS, max_size=2),
    }
)


def check(cluster: dict[str, Any]) -> int:
    """Reads a made-up cluster; how many annotation values and objects it had. Raises AssertionError for what can't be."""
    items = {
        kind: None if listed is None else decode_page(kind, json.dumps({"items": listed}).encode()).items  # type: ignore[arg-type]
        for kind, listed in cluster.items()
    }
    read_as = Cluster("p", items["nodes"] or [], items["pods"], items["resourceslices"] or [], items["resourceclaims"])
    inventory = inventory_of(read_as, NOW)
    _check_numbers(inventory)
    _check_gateway(inventory)
    objects = [one for listed in cluster.values() for one in listed or ()]
    return len(objects) + sum(len(one.get("metadata", {}).get("annotations", {})) for one in objects)


def _check_numbers(inventory: Inventory) -> None:
    for node in inventory.nodes:
        assert not (faults := list(node_faults(node))), faults
        parts = (node.cpu, node.memory, node.pods or node.cpu)
        _check_amounts(*(value for part in parts for value in msgspec.structs.astuple(part)))
        for device in node.devices:
            assert not (faults := list(device_faults(device))), (faults, device)
            _check_amounts(*_amounts_of(device))
            assert device.healthy or not any(_left_of(device)), device
        assert len(node.warnings) <= 13
        assert all(len(warning.message) <= 200 for warning in node.warnings)


def _check_amounts(*amounts: int | None) -> None:
    for amount in amounts:
        assert amount is None or (type(amount) is int and 0 <= amount <= LARGEST), amount


def _amounts_of(device: Device) -> tuple[int | None, ...]:
    totals = (device.memory_total_mib, device.compute_total_percent, device.slots_total)
    return (*totals, *_left_of(device))


def _left_of(device: Device) -> tuple[int | None, ...]:
    slots, compute = device.slots_available, device.compute_available_percent
    return device.memory_available_mib, device.largest_free_mib, compute, slots


def _check_gateway(inventory: Inventory) -> None:
    """The gateway takes all of it: nothing that it would leave out."""
    taken = read(msgspec.json.encode(inventory), "p")
    assert _ids_of(taken.nodes) == _ids_of(inventory.nodes)


def _ids_of(nodes: list[Node]) -> list[tuple[str, list[str]]]:
    return [(node.name, [device.id for device in node.devices]) for node in nodes]


def run(wanted: int, examples: int = 1000) -> int:
    """Checks made-up clusters until `wanted` values and objects have been read; how many there were."""
    counted = 0

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    @given(CLUSTERS)
    def one_more(cluster: dict[str, Any]) -> None:
        nonlocal counted
        counted += check(cluster)

    while counted < wanted:
        one_more()
    return counted


if __name__ == "__main__":
    if len(sys.argv) > 2 or not all(argument.isdecimal() for argument in sys.argv[1:]):
        sys.exit(__doc__)
    print(f"{run(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)} annotation values and objects, nothing amiss")
