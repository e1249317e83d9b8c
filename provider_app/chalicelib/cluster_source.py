"""The inventory of a cluster, put together: settings, reader, decoder and cache."""

from datetime import datetime

from chalicelib.cluster_access import configure
from chalicelib.cluster_calls import Api
from chalicelib.cluster_inventory import Cluster, inventory_of
from chalicelib.cluster_lists import pods_unreadable
from chalicelib.cluster_reader import ClusterLists, ClusterReader
from chalicelib.kubernetes_inventory import KubernetesInventory
from chalicelib.provider_settings import ProviderSettings
from fedcompute.inventory import Inventory


def cluster_source(settings: ProviderSettings) -> KubernetesInventory:
    """Reads the cluster of these settings, on first use and whenever what is known is too old."""
    reader = ClusterReader(lambda: Api(configure(settings.kubeconfig, settings.kube_context)))

    def read(now: datetime) -> Inventory:
        return inventory_of(cluster_of(reader.read(), settings.provider_id), now)

    return KubernetesInventory(read, settings.inventory_max_age_ms)


def cluster_of(lists: ClusterLists, provider_id: str) -> Cluster:
    """What the decoder takes, of what the lists said."""
    pods = lists.pods
    of_pods = [pods_unreadable()] if pods is None else pods.warnings
    return Cluster(
        provider_id=provider_id,
        nodes=lists.nodes.items,
        pods=None if pods is None else pods.items,
        slices=lists.dra.slices,
        claims=lists.dra.claims,
        warnings=[*lists.nodes.warnings, *of_pods, *lists.dra.warnings],
    )
