"""Which cluster, and as whom: KUBECONFIG and KUBE_CONTEXT, ~/.kube/config, or the pod's own service account.

The official client does it (contexts, merged files, certificates, exec plugins, token files). What it keeps to itself or
writes to the root logger, such as an exec plugin that fails, is told here in words without secrets.
"""

import logging
import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from chalicelib.cluster_errors import ClusterError
from fedcompute.text import clean

if TYPE_CHECKING:
    from kubernetes.client import Configuration

HOME_CONFIG = "~/.kube/config"
IN_CLUSTER = "KUBERNETES_SERVICE_HOST"
NOT_SET = "No cluster is named: set KUBECONFIG to a kubeconfig's path."

_LOADING = threading.Lock()  # the client's loader works with what the process has one of: the root logger


def configure(kubeconfig: str, context: str, environment: Mapping[str, str] = os.environ) -> "Configuration":
    """The client's configuration with its credentials; runs the exec plugin, if there is one.

    `kubeconfig`: a path, or several joined as in PATH; empty for the default one, then for the pod's own account.
    `context`: empty for the current one. Takes as long as the plugin takes.
    Raises: ClusterError.
    """
    if kubeconfig:
        made = _from_files(kubeconfig, context, "KUBECONFIG")
    elif Path(HOME_CONFIG).expanduser().exists():
        made = _from_files(HOME_CONFIG, context, HOME_CONFIG)
    elif environment.get(IN_CLUSTER):
        made = _in_cluster()
    else:
        raise ClusterError(NOT_SET)
    if not _is_address(str(made.host)):
        raise ClusterError("The kubeconfig's server is no address, such as https://10.0.0.1:6443.")
    made.refresh_api_key_hook = None  # credentials that have ended are loaded anew when the API server says so
    return made


def _is_address(server: str) -> bool:
    try:
        parts = urlsplit(server)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _in_cluster() -> "Configuration":
    from kubernetes.client import Configuration  # noqa: PLC0415 (half a second and 35 MiB, on first use)
    from kubernetes.config import ConfigException, load_incluster_config  # noqa: PLC0415

    made = Configuration()
    try:
        load_incluster_config(client_configuration=made)  # type: ignore[no-untyped-call]
    except (ConfigException, OSError) as error:
        raise ClusterError("This pod has no service account token that can be read; mount one.") from error
    return made


def _from_files(paths: str, context: str, name: str) -> "Configuration":
    from kubernetes.client import Configuration  # noqa: PLC0415
    from kubernetes.config import load_kube_config  # noqa: PLC0415

    made = Configuration()
    with _LOADING, _quiet():
        chosen, user = _checked(paths, context, name)
        try:
            load_kube_config(  # type: ignore[no-untyped-call]
                paths, chosen, client_configuration=made, persist_config=False
            )
        except Exception as error:
            # Any of a dozen types: what is wrong in such a file raises whatever it runs into.
            raise ClusterError(f"{name} names a kubeconfig whose {_culprit(error)}.") from error
    if user.get("exec") and not made.api_key and not made.cert_file:
        raise ClusterError(
            f"The exec plugin {_command_of(user)} of the kubeconfig gave no credentials; run it by hand."
        )
    return made


def _checked(paths: str, context: str, name: str) -> tuple[str, Mapping[str, Any]]:
    """The context and its user, if that has an exec plugin; ClusterError for what the loader would tell less plainly."""
    existing = [Path(path).expanduser() for path in paths.split(os.pathsep) if Path(path).expanduser().is_file()]
    if not existing:
        raise ClusterError(f"{name} names no file that exists.")
    documents = [_parsed(path, name) for path in existing]
    chosen = context or _current(documents)
    found = _named(documents, "contexts", chosen)
    if found is None:
        wanted = f"context {clean(context, 60)} (KUBE_CONTEXT)" if context else "current context"
        known = ", ".join(clean(one, 60) for one in _names(documents, "contexts")[:10]) or "none"
        raise ClusterError(f"The kubeconfig has no {wanted}; its contexts: {known}.")
    user_name = _mapping(found.get("context")).get("user")
    for document, path in zip(documents, existing, strict=True):
        user = _named([document], "users", user_name)
        if user is not None:
            return chosen, _with_plugin(_mapping(user.get("user")), path.parent)
    return chosen, {}


def _with_plugin(user: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    command = _mapping(user.get("exec")).get("command")
    if command is None or user.get("token") or user.get("tokenFile"):
        return {}
    where = str(folder / str(command)) if "/" in str(command) else str(command)
    if shutil.which(where) is None:
        raise ClusterError(f"The kubeconfig's exec plugin {_command_of(user)} is not installed, or not on PATH.")
    return user


def _parsed(path: Path, name: str) -> Mapping[str, Any]:
    import yaml  # noqa: PLC0415 (comes with the client)

    try:
        document = yaml.safe_load(path.read_text())
    except OSError as error:
        raise ClusterError(f"{name} names a file that can't be read: {error.strerror}.") from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise ClusterError(f"{name} names a file that is no YAML.") from error
    if not isinstance(document, dict):
        raise ClusterError(f"{name} names a file that is no kubeconfig.")
    return document


def _current(documents: list[Mapping[str, Any]]) -> str:
    """As kubectl has it: the first file's that sets one. The client would take the last one's."""
    return next((str(one["current-context"]) for one in documents if one.get("current-context")), "")


def _named(documents: list[Mapping[str, Any]], kind: str, name: object) -> Mapping[str, Any] | None:
    for document in documents:
        for item in _items(document, kind):
            if name and item.get("name") == name:
                return item
    return None


def _names(documents: list[Mapping[str, Any]], kind: str) -> list[str]:
    return [str(item.get("name")) for document in documents for item in _items(document, kind)]


def _items(document: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    found = document.get(kind)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _command_of(user: Mapping[str, Any]) -> str:
    return clean(Path(str(_mapping(user.get("exec")).get("command"))).name, 60)


def _culprit(error: Exception) -> str:
    """What is wrong, without any of the file's values: they may be secret."""
    text = str(error)
    for mark, words in (
        ("File does not exist", "certificate or key file does not exist"),
        ("Expected object with name", "context names a cluster that it has not"),
        ("Expected key", "context, cluster or user lacks a part"),
    ):
        if mark in text:
            return words
    return "content can't be used"


@contextmanager
def _quiet() -> Iterator[None]:
    """Keeps what the client's loader says on the root logger out of the log: an exec plugin's output may be secret."""
    root = logging.getLogger()
    mute, nowhere = _NotOfTheLoader(), logging.NullHandler()
    root.addFilter(mute)
    root.addHandler(nowhere)  # without any, the loader would set one up that prints
    try:
        yield
    finally:
        root.removeFilter(mute)
        root.removeHandler(nowhere)


class _NotOfTheLoader(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return record.module != "kube_config"
