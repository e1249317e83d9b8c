"""The clusters of tests/data/cases, served and read over HTTP an object at a time: the same answer as from their files."""

import json
from pathlib import Path

import pytest
from cluster_case import FOLDER, differences, load

from chalicelib import cluster_lists
from chalicelib.cluster_access import configure
from chalicelib.cluster_calls import Api
from chalicelib.cluster_inventory import inventory_of
from chalicelib.cluster_reader import ClusterReader
from chalicelib.cluster_source import cluster_of
from chalicelib.inventory_reply import encode
from scripts.cluster_server import NODES, PODS, Cluster, kubeconfig, serving

CASES = sorted(folder.name for folder in FOLDER.iterdir() if folder.is_dir())


def served(name: str) -> Cluster:
    cluster = Cluster()
    for path, file in ((NODES, "nodes.json"), (PODS, "pods.json")):
        cluster.put(path, json.loads((FOLDER / name / file).read_text())["items"])
    slices = FOLDER / name / "resourceslices.json"
    if slices.exists():
        items = json.loads(slices.read_text())["items"]
        cluster.put(f"/apis/{items[0]['apiVersion']}/resourceslices", items)
        cluster.put(f"/apis/{items[0]['apiVersion']}/resourceclaims", [])
    return cluster


@pytest.mark.parametrize("name", CASES)
def test_case_reads_over_http_as_from_its_files(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(cluster_lists, "PAGE", 1)
    case, file = load(name), tmp_path / "kubeconfig"
    with serving(served(name)) as server:
        file.write_text(kubeconfig(server))
        lists = ClusterReader(lambda: Api(configure(str(file), ""))).read()

    inventory = inventory_of(cluster_of(lists, "provider-a"), case.now)

    assert list(differences(case.expected, inventory)) == []
    assert encode(inventory).etag == encode(inventory_of(case.cluster, case.now)).etag
