"""What the gateway and the providers share: the request, the inventory, matching, ranking, errors and the log."""

__version__ = "0.1.0"
