"""What a candidate's hint asks for, and that nothing which a stranger wrote gets into it unread."""

from typing import Any

import pytest
import yaml
from factories import device, node, request, shared
from hypothesis import given
from hypothesis import strategies as st

from fedcompute import manifests
from fedcompute.answer import Hint
from fedcompute.hints import hint
from fedcompute.inventory import Device, Node, Taint

GPU = {"count": 1, "minimum_memory_mib": 30000, "minimum_compute_percent": 50}


def hinted(*devices: Device, on: Node | None = None, source: str = "hami", **asked: Any) -> Hint:
    wanted = request(**(asked or {"gpu": GPU}))
    return hint(wanted, on or node(*devices), devices, source=source, name="Lab A", base_url="http://lab-a.test")


def manifest(found: Hint) -> Any:
    *_, last = yaml.safe_load_all(found.text)
    return last


def limits(found: Hint) -> Any:
    return manifest(found)["spec"]["containers"][0]["resources"]["limits"]


def exactly(found: Hint) -> Any:
    claim, _ = yaml.safe_load_all(found.text)
    (asked,) = claim["spec"]["devices"]["requests"]
    return asked["exactly"]


def test_share_is_asked_for_with_its_memory_and_compute_on_its_card() -> None:
    found = hinted(shared("GPU-7"))

    assert found.kind == "hami"
    assert limits(found) == {"nvidia.com/gpu": 1, "nvidia.com/gpumem": 30000, "nvidia.com/gpucores": 50}
    assert manifest(found)["metadata"]["annotations"] == {
        "hami.io/node-scheduler-policy": "binpack",
        "hami.io/gpu-scheduler-policy": "binpack",
        "nvidia.com/use-gpuuuid": "GPU-7",
        "nvidia.com/vgpu-mode": "hami-core",
    }
    assert manifest(found)["spec"]["nodeSelector"] == {"kubernetes.io/hostname": "n1"}
    assert "nodeName" not in found.text


def test_pod_asks_for_the_requests_cpu_and_memory_in_kubernetes_words() -> None:
    found = hinted(shared(), gpu={}, cpu=4000, memory=16 << 30)

    assert manifest(found)["spec"]["containers"][0]["resources"]["requests"] == {
        "cpu": "4",
        "memory": "16Gi",
    }


@pytest.mark.parametrize(("millicores", "words"), [(500, '"500m"'), (1000, '"1"'), (1500, '"1500m"')])
def test_cpu_is_written_exactly(millicores: int, words: str) -> None:
    assert f"cpu: {words}" in hinted(cpu=millicores).text


@pytest.mark.parametrize(("amount", "words"), [(1 << 30, '"1Gi"'), (3 << 20, '"3Mi"'), (1000, '"1000"')])
def test_memory_is_written_exactly(amount: int, words: str) -> None:
    assert f"memory: {words}" in hinted(memory=amount).text


def test_whole_card_of_hami_is_asked_for_as_nobody_elses() -> None:
    found = hinted(shared(), gpu={"sharing": "whole", "minimum_memory_mib": 100})

    assert limits(found) == {"nvidia.com/gpu": 1, "nvidia.com/gpumem-percentage": 100, "nvidia.com/gpucores": 100}


def test_several_cards_are_all_named() -> None:
    found = hinted(shared("GPU-1"), shared("GPU-2"), gpu={**GPU, "count": 2})

    assert manifest(found)["metadata"]["annotations"]["nvidia.com/use-gpuuuid"] == "GPU-1,GPU-2"
    assert limits(found)["nvidia.com/gpu"] == 2


@pytest.mark.parametrize(
    ("resource", "wanted", "annotation"),
    [
        (
            "huawei.com/Ascend910B4-1",
            {"huawei.com/Ascend910B4-1": 1, "huawei.com/Ascend910B4-1-memory": 30000},
            "hami.io/use-Ascend910B4-1-uuid",
        ),
        (
            "hygon.com/dcunum",
            {"hygon.com/dcunum": 1, "hygon.com/dcumem": 30000, "hygon.com/dcucores": 50},
            "hygon.com/use-gpuuuid",
        ),
        (
            "cambricon.com/vmlu",
            {"cambricon.com/vmlu": 1, "cambricon.com/mlu.smlu.vmemory": 118, "cambricon.com/mlu.smlu.vcore": 50},
            "cambricon.com/use-gpuuuid",
        ),
        (
            "metax-tech.com/sgpu",
            {"metax-tech.com/sgpu": 1, "metax-tech.com/vmemory": 30, "metax-tech.com/vcore": 50},
            "metax-tech.com/use-gpuuuid",
        ),
        (
            "mthreads.com/vgpu",
            {"mthreads.com/vgpu": 1, "mthreads.com/sgpu-memory": 64, "mthreads.com/sgpu-core": 8},
            "mthreads.ai/use-gpuuuid",
        ),
        (
            "iluvatar.ai/MR-V100-vgpu",
            {"iluvatar.ai/MR-V100-vgpu": 1, "iluvatar.ai/MR-V100.vMem": 118, "iluvatar.ai/MR-V100.vCore": 50},
            None,
        ),
    ],
)
def test_each_vendor_is_asked_in_its_own_names_and_units(
    resource: str, wanted: dict[str, int], annotation: str | None
) -> None:
    found = hinted(device("CARD-1", slots=(4, 4), resource=resource))

    assert limits(found) == wanted
    assert annotation is None or manifest(found)["metadata"]["annotations"][annotation] == "CARD-1"


@pytest.mark.parametrize("source", ["hami", "kubernetes"])
def test_device_that_nobody_shares_is_asked_for_by_its_resource_alone(source: str) -> None:
    found = hinted(device(), source=source)

    assert (found.kind, limits(found)) == ("kubernetes", {"nvidia.com/gpu": 1})
    assert "annotations" not in manifest(found)["metadata"]


def test_mig_slice_is_asked_for_by_its_profile() -> None:
    found = hinted(device("MIG-1", mode="mig", resource="nvidia.com/mig-3g.20gb"), source="kubernetes")

    assert limits(found) == {"nvidia.com/mig-3g.20gb": 1}


def test_dra_device_is_claimed_by_its_uuid() -> None:
    found = hinted(device("GPU-5", resource="gpu.nvidia.com"), source="kubernetes")

    claim, pod = yaml.safe_load_all(found.text)
    assert found.kind == "dra"
    assert claim["spec"]["devices"]["requests"][0]["exactly"] == {
        "deviceClassName": "gpu.nvidia.com",
        "allocationMode": "ExactCount",
        "count": 1,
        "selectors": [{"cel": {"expression": 'device.attributes["gpu.nvidia.com"].uuid in ["GPU-5"]'}}],
    }
    assert pod["spec"]["resourceClaims"][0]["resourceClaimName"] == claim["metadata"]["name"]
    assert pod["spec"]["containers"][0]["resources"] == {"claims": [{"name": "gpu"}]}


def test_dra_slice_that_stands_is_claimed_by_its_uuid_from_the_class_of_slices() -> None:
    found = hinted(device("MIG-5", resource="gpu.nvidia.com", mode="mig"), source="kubernetes")

    asked = exactly(found)
    assert asked["deviceClassName"] == "mig.nvidia.com"
    assert asked["selectors"][0]["cel"]["expression"] == 'device.attributes["gpu.nvidia.com"].uuid in ["MIG-5"]'


def test_dra_card_that_is_cut_on_demand_is_claimed_as_a_slice_that_is_large_enough() -> None:
    card = device("GPU-5", resource="gpu.nvidia.com", mode="mig", largest_free_mib=39000)

    asked = exactly(hinted(card, source="kubernetes"))

    assert asked["deviceClassName"] == "mig.nvidia.com"
    assert asked["selectors"][0]["cel"]["expression"] == (
        'device.attributes["gpu.nvidia.com"].parentUUID in ["GPU-5"]'
        ' && device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("30000Mi")) >= 0'
    )


def test_dra_device_that_many_share_is_claimed_in_part() -> None:
    found = hinted(device("hami-gpu-0", resource="hami-core-gpu.project-hami.io", slots=(10, 10)), source="kubernetes")

    assert exactly(found)["capacity"] == {"requests": {"memory": "30000Mi", "cores": "50"}}


@pytest.mark.parametrize("source", ["static", "slurm", ""])
def test_what_is_no_cluster_is_for_people_to_ask(source: str) -> None:
    assert hinted(shared(), source=source) == Hint("contact", "Lab A, http://lab-a.test")


def test_address_that_the_caller_may_not_see_is_not_told() -> None:
    found = hint(request(), node(), (), source="static", name="Lab A", base_url=None)

    assert found == Hint("contact", "Lab A")


def test_taint_named_like_the_resource_and_what_the_caller_tolerates_are_tolerated() -> None:
    taints = [Taint(key="nvidia.com/gpu", effect="NoSchedule"), Taint(key="other", effect="NoSchedule")]
    asked = [{"key": "team", "value": "yes", "effect": "NoExecute"}]

    found = hinted(device(), on=node(device(), taints=taints), gpu={}, tolerations=asked)

    assert manifest(found)["spec"]["tolerations"] == [
        {"key": "team", "operator": "Equal", "value": "yes", "effect": "NoExecute"},
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
    ]


def test_node_is_chosen_by_its_own_hostname_label() -> None:
    found = hinted(device(), on=node(device(), labels={"kubernetes.io/hostname": "other"}))

    assert manifest(found)["spec"]["nodeSelector"] == {"kubernetes.io/hostname": "other"}


@pytest.mark.parametrize("name", ["n1\nkind: Evil", "N 1", "$(reboot)", "'", "ä"])
def test_node_that_kubernetes_could_not_have_is_in_no_manifest(name: str) -> None:
    assert hinted(device(), on=node(device(), name=name)).kind == "contact"


@pytest.mark.parametrize("resource", ["", "nvidia.com/gpu: 1", "a/b/c", "Driver"])
def test_resource_that_kubernetes_could_not_have_is_in_no_manifest(resource: str) -> None:
    assert hinted(device(resource=resource)).kind == "contact"


@pytest.mark.parametrize("its_id", ['GPU-1"', "GPU-1,GPU-2", "a b", "x\n"])
def test_card_whose_id_is_no_plain_word_is_left_to_the_scheduler(its_id: str) -> None:
    assert "use-gpuuuid" not in hinted(shared(its_id)).text


TEXTS = st.text(st.characters(codec="utf-8", max_codepoint=0xD7FF), min_size=1)
LEAVES = TEXTS | st.integers()
MAPPINGS = st.recursive(
    st.dictionaries(TEXTS, LEAVES, min_size=1, max_size=3),
    lambda inner: st.dictionaries(
        TEXTS, LEAVES | inner | st.lists(LEAVES | inner, min_size=1, max_size=3), min_size=1, max_size=3
    ),
    max_leaves=8,
)


@given(MAPPINGS)
def test_yaml_reads_back_as_what_was_written(document: dict[str, Any]) -> None:
    assert yaml.safe_load(manifests.yaml(document)) == document
