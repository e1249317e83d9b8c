"""Reading a cluster over HTTP, through real kubeconfig files: pages, faults, bounds and what may be read."""

import json
import re
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from fakes import api_server
from fakes.api_server import Faulty
from kubernetes.config import incluster_config as in_cluster

from chalicelib import cluster_lists
from chalicelib.cluster_access import configure
from chalicelib.cluster_calls import Api
from chalicelib.cluster_errors import BusyError, ClusterError, TimedOutError
from chalicelib.cluster_reader import ClusterReader
from scripts.cluster_server import NODES, PODS, Cluster, kubeconfig, serving

SLICES = "/apis/resource.k8s.io/v1beta2/resourceslices"
CLAIMS = "/apis/resource.k8s.io/v1beta2/resourceclaims"
ROLE = Path(__file__).parents[2] / "infra" / "kubernetes" / "reader.yaml"
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


def named(name: str, **members: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, **members}


class Lab:
    """A cluster, its server, and a kubeconfig that leads there."""

    def __init__(self, folder: Path, handler: type[Faulty], server: str, cluster: Cluster) -> None:
        self.file = folder / "kubeconfig"
        self.handler = handler
        self.server = server
        self.cluster = cluster
        self.file.write_text(kubeconfig(server))

    def reader(self, timeout_s: float = 10.0, context: str = "") -> ClusterReader:
        return ClusterReader(lambda: Api(configure(str(self.file), context)), timeout_s)

    def fault(self, fault: api_server.Fault) -> None:
        self.handler.faults.append(fault)

    def asked(self, path: str) -> list[dict[str, str]]:
        return [dict(call.query) for call in self.cluster.calls if call.path == path]


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    handler, cluster = api_server.faulty(), Cluster()
    cluster.put(NODES, [named(f"n{number}") for number in range(5)])
    cluster.put(PODS, [named(f"p{number}", status={"phase": "Running"}) for number in range(3)])
    with serving(cluster, handler) as server:
        yield Lab(tmp_path, handler, server, cluster)
        handler.ended.set()


def detail_of(reader: ClusterReader) -> str:
    with pytest.raises(ClusterError) as caught:
        reader.read()
    return caught.value.detail


def names(items: list[Any]) -> list[str]:
    return [item.metadata.name for item in items]


def test_lists_are_read_in_pages_to_their_end(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_lists, "PAGE", 2)

    read = lab.reader().read()

    assert names(read.nodes.items) == ["n0", "n1", "n2", "n3", "n4"]
    assert [query.get("continue") for query in lab.asked(NODES)] == [None, "2", "4"]


def test_pages_are_of_500(lab: Lab) -> None:
    lab.cluster.put(PODS, [named(f"p{number}") for number in range(1001)])

    read = lab.reader().read()

    assert read.pods is not None
    assert len(read.pods.items) == 1001
    assert [query["limit"] for query in lab.asked(PODS)] == ["500", "500", "500"]


def test_finished_pods_are_not_asked_for(lab: Lab) -> None:
    lab.cluster.put(PODS, [named("done", status={"phase": "Succeeded"}), named("live", status={"phase": "Pending"})])

    read = lab.reader().read()

    assert read.pods is not None
    assert names(read.pods.items) == ["live"]


def test_large_pages_travel_compressed(lab: Lab) -> None:
    lab.cluster.put(NODES, [named(f"n{number}", padding="x" * 2000) for number in range(400)])

    assert len(lab.reader().read().nodes.items) == 400


def test_list_whose_places_are_gone_is_read_from_the_start(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_lists, "PAGE", 2)
    lab.fault(api_server.gone_at("4", NODES, times=1))

    read = lab.reader().read()

    assert names(read.nodes.items) == ["n0", "n1", "n2", "n3", "n4"]
    assert [query.get("continue") for query in lab.asked(NODES)] == [None, "2", "4", None, "2", "4"]


def test_list_whose_places_are_always_gone_is_given_up(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_lists, "PAGE", 2)
    lab.fault(api_server.gone_at("2", NODES))

    detail = detail_of(lab.reader())

    assert "410" in detail
    assert len(lab.asked(NODES)) == 2 * cluster_lists.STARTS


def test_junk_among_the_nodes_is_left_out_with_a_warning(lab: Lab) -> None:
    lab.cluster.put(NODES, [named("good"), named("junk", status={"conditions": "none"}), {"metadata": 7}])  # type: ignore[dict-item]

    read = lab.reader().read()

    assert names(read.nodes.items) == ["good"]
    assert [warning.code for warning in read.nodes.warnings] == ["unreadable_object"] * 2


def test_null_list_is_an_empty_one(lab: Lab) -> None:
    lab.fault(api_server.says(b'{"kind": "NodeList", "metadata": {}, "items": null}', NODES))

    assert lab.reader().read().nodes.items == []


@pytest.mark.parametrize(
    "body", [b"<html>a login page</html>", b"[]", b"", b"\xff\xfe", b'{"items": 7}', b"[" * 100_000]
)
def test_answer_that_is_no_list_is_told_without_its_body(lab: Lab, body: bytes) -> None:
    lab.fault(api_server.says(body, NODES))

    detail = detail_of(lab.reader())

    assert "can't be read" in detail
    assert "login" not in detail


def test_expired_token_is_renewed_from_the_kubeconfig_once(lab: Lab) -> None:
    reader = lab.reader()
    reader.read()
    lab.fault(api_server.wants("Bearer renewed"))
    lab.file.write_text(kubeconfig(lab.server, {"token": "renewed"}))

    read = reader.read()

    assert len(read.nodes.items) == 5


def test_token_that_stays_refused_is_told_after_two_tries(lab: Lab) -> None:
    lab.fault(api_server.wants("Bearer another"))

    detail = detail_of(lab.reader())

    assert "credentials (401)" in detail
    assert "made-up" not in detail
    assert len(lab.asked(NODES)) <= 2


def test_pods_that_may_not_be_read_are_unknown(lab: Lab) -> None:
    lab.fault(api_server.refuses(403, PODS))

    read = lab.reader().read()

    assert read.pods is None
    assert len(read.nodes.items) == 5


def test_nodes_that_may_not_be_read_are_told_with_what_to_do(lab: Lab) -> None:
    lab.fault(api_server.refuses(403, NODES))

    assert detail_of(lab.reader()) == (
        "The API server forbids reading nodes (403); give the account the role in infra/kubernetes."
    )


@pytest.mark.parametrize("code", [403, 404])
def test_cluster_without_dra_has_no_devices_of_it(lab: Lab, code: int) -> None:
    lab.fault(api_server.refuses(code, "/apis"))

    assert lab.reader().read().dra.slices == []


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1beta1"])
def test_dra_is_read_in_the_newest_version_that_both_know(lab: Lab, version: str) -> None:
    for one in ("v1alpha3", "v1beta1", version, "v9"):
        lab.cluster.put(f"/apis/resource.k8s.io/{one}/resourceslices", [named(one)])
        lab.cluster.put(f"/apis/resource.k8s.io/{one}/resourceclaims", [named(one)])

    read = lab.reader().read().dra

    assert names(read.slices) == [version]
    assert names(read.claims or []) == [version]


def test_version_that_is_not_known_is_left_alone(lab: Lab) -> None:
    lab.cluster.put("/apis/resource.k8s.io/v1alpha3/resourceslices", [named("old")])

    assert lab.reader().read().dra.slices == []


def test_claims_that_may_not_be_read_are_unknown(lab: Lab) -> None:
    lab.cluster.put(SLICES, [named("s")])
    lab.cluster.put(CLAIMS, [])
    lab.fault(api_server.refuses(403, CLAIMS))

    read = lab.reader().read().dra

    assert (names(read.slices), read.claims) == (["s"], None)
    assert [warning.code for warning in read.warnings] == ["dra_unreadable"]


def test_slices_that_may_not_be_read_are_told(lab: Lab) -> None:
    lab.cluster.put(SLICES, [named("s")])
    lab.fault(api_server.refuses(403, SLICES))

    read = lab.reader().read().dra

    assert (read.slices, read.claims) == ([], [])
    assert [warning.code for warning in read.warnings] == ["dra_unreadable"]


@pytest.mark.parametrize("in_headers", [True, False])
@pytest.mark.parametrize("path", [NODES, PODS])
def test_server_that_drips_does_not_outlive_the_bound(lab: Lab, path: str, in_headers: bool) -> None:
    lab.fault(api_server.drips(path, in_headers=in_headers))
    reader = lab.reader(timeout_s=0.3)
    began = time.monotonic()

    with pytest.raises(TimedOutError):
        reader.read()

    assert time.monotonic() - began < 5  # it would drip for ever
    assert lab.handler.ended.wait(5), "the connection that drips was not cut"


def test_reader_works_again_after_a_read_that_was_cut(lab: Lab) -> None:
    drip = api_server.drips(NODES, in_headers=True)
    lab.fault(drip)
    reader = lab.reader(timeout_s=0.3)
    with pytest.raises(TimedOutError):
        reader.read()
    lab.handler.faults.remove(drip)
    reader._timeout_s = 10.0

    assert len(reader.read().nodes.items) == 5


def test_connections_are_kept_from_read_to_read(lab: Lab) -> None:
    opened: list[Any] = []
    setup = lab.handler.setup

    def counted(self: Faulty) -> None:
        opened.append(self)
        setup(self)

    lab.handler.setup = counted  # type: ignore[method-assign]
    reader = lab.reader()

    for _ in range(4):
        reader.read()

    assert len(opened) <= 3


def test_answer_that_breaks_off_is_told(lab: Lab) -> None:
    lab.fault(api_server.breaks_off(NODES))

    assert "broke while nodes were read" in detail_of(lab.reader())


@pytest.mark.parametrize("code", [429, 500, 503])
def test_server_in_trouble_is_told_with_its_status(lab: Lab, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BusyError, "pause_s", 0.0)
    lab.fault(api_server.refuses(code, NODES))

    assert str(code) in detail_of(lab.reader())


def test_connection_that_was_closed_meanwhile_is_made_anew(lab: Lab) -> None:
    lab.fault(api_server.hangs_up(NODES, times=1))

    assert len(lab.reader().read().nodes.items) == 5


def test_server_that_is_busy_for_a_moment_is_asked_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BusyError, "pause_s", 0.0)
    lab.fault(api_server.refuses(429, NODES, times=1))

    assert len(lab.reader().read().nodes.items) == 5


def test_redirect_is_not_followed(lab: Lab) -> None:
    lab.fault(api_server.refuses(302, NODES))

    assert "302" in detail_of(lab.reader())


def test_refused_connection_is_told_with_the_address(lab: Lab) -> None:
    lab.file.write_text(kubeconfig("http://127.0.0.1:9"))

    assert detail_of(lab.reader()) == "The API server at 127.0.0.1:9 can't be reached: connection refused."


def test_unknown_name_is_told(lab: Lab) -> None:
    lab.file.write_text(kubeconfig("https://user:secret@cluster.invalid:6443"))

    assert detail_of(lab.reader()) == "The API server's name is not known to DNS: cluster.invalid:6443."


def test_cluster_over_tls_is_read_with_its_own_authority(lab: Lab, tmp_path: Path) -> None:
    file, context = api_server.certificate(tmp_path)
    with serving(lab.cluster, lab.handler, context) as server:
        lab.file.write_text(kubeconfig(server, **{"certificate-authority": file.name}))

        assert len(lab.reader().read().nodes.items) == 5


def test_certificate_that_is_not_trusted_is_told(lab: Lab, tmp_path: Path) -> None:
    _, context = api_server.certificate(tmp_path)
    with serving(lab.cluster, lab.handler, context) as server:
        lab.file.write_text(kubeconfig(server))

        detail = detail_of(lab.reader())

    assert re.search(r"TLS with .* failed: its certificate is not trusted \(self.signed", detail)


def test_plain_http_where_tls_is_spoken_is_told(lab: Lab, tmp_path: Path) -> None:
    lab.file.write_text(kubeconfig(lab.server.replace("http:", "https:")))

    assert "TLS with" in detail_of(lab.reader(timeout_s=3))


def plugin(folder: Path, script: str) -> dict[str, Any]:
    command = folder / "made-up-plugin"
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(command), "args": []}}


def credential(token: str, **status: str) -> str:
    document = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": token, **status},
    }
    return f"echo '{json.dumps(document)}'"


def test_exec_plugin_gives_the_token(lab: Lab, tmp_path: Path) -> None:
    lab.fault(api_server.wants("Bearer plugged"))
    lab.file.write_text(kubeconfig(lab.server, plugin(tmp_path, credential("plugged"))))

    assert len(lab.reader().read().nodes.items) == 5


def test_exec_plugin_whose_token_ends_soon_runs_once_per_connection(lab: Lab, tmp_path: Path) -> None:
    count = tmp_path / "count"
    soon = credential("soon", expirationTimestamp="2026-01-01T00:00:00Z")
    lab.file.write_text(kubeconfig(lab.server, plugin(tmp_path, f"echo x >> {count}; {soon}")))
    reader = lab.reader()

    reader.read()
    reader.read()

    assert count.read_text() == "x\n"


def test_token_file_may_end_with_a_line_break(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("of-a-file\n")
    lab.file.write_text(kubeconfig(lab.server, {"tokenFile": "token"}))
    lab.fault(api_server.wants("Bearer of-a-file"))

    assert len(lab.reader().read().nodes.items) == 5


@pytest.mark.parametrize("server", ["gopher://x", "https://host:port", ""])
def test_server_that_is_no_address_is_told(lab: Lab, server: str) -> None:
    lab.file.write_text(kubeconfig(server))

    assert "is no address" in detail_of(lab.reader())


def test_exec_plugin_runs_again_after_401(lab: Lab, tmp_path: Path) -> None:
    count = tmp_path / "count"
    made = plugin(tmp_path, f"echo x >> {count}; n=$(wc -l < {count})\n{credential('t$n')}".replace("t$n", "t'$n'"))
    lab.fault(api_server.wants("Bearer t2"))
    lab.file.write_text(kubeconfig(lab.server, made))

    assert len(lab.reader().read().nodes.items) == 5


def test_exec_plugin_that_is_not_installed_is_named(lab: Lab) -> None:
    lab.file.write_text(kubeconfig(lab.server, {"exec": {"apiVersion": "v1", "command": "no-such-plugin"}}))

    assert detail_of(lab.reader()) == ("The kubeconfig's exec plugin no-such-plugin is not installed, or not on PATH.")


def test_exec_plugin_that_fails_is_named_and_its_output_kept_out(
    lab: Lab, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lab.file.write_text(kubeconfig(lab.server, plugin(tmp_path, "echo secret >&2; exit 3")))

    detail = detail_of(lab.reader())

    assert detail == "The exec plugin made-up-plugin of the kubeconfig gave no credentials; run it by hand."
    assert "secret" not in "".join(capfd.readouterr())


def test_exec_plugin_that_hangs_is_waited_for_once(lab: Lab, tmp_path: Path) -> None:
    count, go_on = tmp_path / "count", tmp_path / "go-on"
    script = f"echo x >> {count}; while [ ! -e {go_on} ]; do sleep 0.02; done; {credential('late')}"
    lab.file.write_text(kubeconfig(lab.server, plugin(tmp_path, script)))
    reader = lab.reader(timeout_s=0.3)

    first, second = detail_of(reader), detail_of(reader)
    go_on.touch()

    assert first == second
    assert "gave no credentials within 0.3 s" in first
    assert count.read_text() == "x\n"


def test_unknown_context_is_told_with_those_that_there_are(lab: Lab) -> None:
    assert detail_of(lab.reader(context="prod")) == (
        "The kubeconfig has no context prod (KUBE_CONTEXT); its contexts: lab."
    )


def test_context_is_chosen_by_name(lab: Lab) -> None:
    document = json.loads(lab.file.read_text())
    document["contexts"].append({"name": "other", "context": {"cluster": "other", "user": "lab"}})
    document["clusters"].append({"name": "other", "cluster": {"server": "http://127.0.0.1:9"}})
    lab.file.write_text(json.dumps(document))

    assert "127.0.0.1:9" in detail_of(lab.reader(context="other"))
    assert len(lab.reader().read().nodes.items) == 5


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (": : :\n\t- secret", "is no YAML"),
        ("[1, 2]", "is no kubeconfig"),
        ("", "is no kubeconfig"),
        ("{}", "no current context"),
        (
            json.dumps({"current-context": "a", "contexts": [{"name": "a", "context": {"cluster": "b"}}]}),
            "names a cluster that it has not",
        ),
        (
            json.dumps(
                {
                    "current-context": "a",
                    "contexts": [{"name": "a", "context": {"cluster": "b", "user": "c"}}],
                    "clusters": [
                        {"name": "b", "cluster": {"server": "https://127.0.0.1:9", "certificate-authority": "no"}}
                    ],
                    "users": [{"name": "c", "user": {"token": "secret"}}],
                }
            ),
            "certificate or key file does not exist",
        ),
    ],
)
def test_kubeconfig_that_is_wrong_is_told_without_its_values(lab: Lab, text: str, told: str) -> None:
    lab.file.write_text(text)

    detail = detail_of(lab.reader())

    assert told in detail
    assert "secret" not in detail


def test_kubeconfig_that_is_not_there_is_told(lab: Lab) -> None:
    lab.file.unlink()

    assert detail_of(lab.reader()) == "KUBECONFIG names no file that exists."


def test_nothing_that_names_a_cluster_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    with pytest.raises(ClusterError, match="set KUBECONFIG"):
        configure("", "", {})


def test_pod_without_a_service_account_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")

    with pytest.raises(ClusterError, match="service account token"):
        configure("", "")


def test_pod_in_the_cluster_uses_its_own_account(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, context = api_server.certificate(tmp_path)
    (tmp_path / "token").write_text("of-the-pod")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(in_cluster, "SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
    monkeypatch.setattr(in_cluster, "SERVICE_CERT_FILENAME", str(file))
    lab.fault(api_server.wants("bearer of-the-pod"))
    with serving(lab.cluster, lab.handler, context) as server:
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", server.rpartition(":")[2])

        read = ClusterReader(lambda: Api(configure("", ""))).read()

    assert len(read.nodes.items) == 5


def test_role_allows_what_is_called_and_nothing_else(lab: Lab) -> None:
    lab.cluster.put(SLICES, [named("s")])
    lab.cluster.put(CLAIMS, [named("c")])

    lab.reader().read()

    assert {_right(call.method, call.path) for call in lab.cluster.calls} == set(_granted())


def _right(method: str, path: str) -> tuple[str, str, str]:
    """What an API server asks its authorizer for a call without a name: verb, group, resource."""
    assert method == "GET"
    if found := re.fullmatch(r"/api/v1/(\w+)|/apis/([\w.]+)/\w+/(\w+)", path):
        return "list", found[2] or "", found[1] or found[3]
    return "get", "", path


def _granted() -> Iterator[tuple[str, str, str]]:
    for document in yaml.safe_load_all(ROLE.read_text()):
        for rule in document.get("rules", []):
            for verb in rule["verbs"]:
                for group in rule.get("apiGroups", []):
                    yield from ((verb, group, resource) for resource in rule["resources"])
                yield from ((verb, "", path) for path in rule.get("nonResourceURLs", []))


def test_no_thread_is_left_behind(lab: Lab) -> None:
    lab.reader().read()

    for thread in threading.enumerate():
        if thread.name.startswith("cluster-"):
            thread.join(5)
            assert not thread.is_alive()
