"""What CloudFormation tells of a stack, as a line for a person."""

from collections.abc import Mapping
from typing import Any

from scripts.terminal import Failure

CANCELLED = "cancelled"  # what it says of resources that another one's failure took along


def judge(name: str, status: str, reason: str) -> None:
    """Raises Failure for a stack that rests in another state than was wanted."""
    if status not in ("CREATE_COMPLETE", "UPDATE_COMPLETE", "DELETE_COMPLETE"):
        state = "the version before still stands" if status == "UPDATE_ROLLBACK_COMPLETE" else status
        raise Failure(f"{name} failed ({state}): {reason or 'no reason was given'}")


def change(change: Mapping[str, Any]) -> str:
    """One change of a change set."""
    replaced = " (replaced)" if change.get("Replacement") == "True" else ""
    return f"{change['Action'].lower():<7} {change['ResourceType']:<32} {change['LogicalResourceId']}{replaced}"


def told(event: Mapping[str, Any]) -> str:
    """One event."""
    reason = f"  {event['ResourceStatusReason']}" if event.get("ResourceStatusReason") else ""
    return f"{event['ResourceStatus']:<28} {event['LogicalResourceId']}{reason}"


def first_reason(event: Mapping[str, Any]) -> str:
    """Why a resource failed, where an event says so."""
    reason = str(event.get("ResourceStatusReason") or "")
    is_failure = str(event["ResourceStatus"]).endswith("_FAILED") and CANCELLED not in reason
    return f"{event['LogicalResourceId']} ({event['ResourceType']}): {reason}" if is_failure and reason else ""
