"""CloudFormation stacks through change sets: made, shown, executed and followed, event by event."""

import json
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from scripts import stack_events
from scripts.terminal import Failure

LARGEST_TEMPLATE = 51_200  # bytes, of a template in a call
TAGS = [{"Key": "application", "Value": "fedcompute"}]
PATIENCE_S = 30 * 60
GRACE_S = 20.0  # until a stack that was told to change shows that it does
STACK = "AWS::CloudFormation::Stack"
UNCHANGED = ("didn't contain changes", "No updates are to be performed")

type Tell = Callable[[str], None]


@dataclass(frozen=True)
class Stack:
    """What is wanted of one stack."""

    name: str
    template: Mapping[str, Any]
    parameters: Mapping[str, str]


@dataclass(frozen=True)
class ChangeSet:
    """A change set that is ready: whether it makes the stack, and its changes, one line each."""

    identifier: str
    stack: str
    is_new: bool
    changes: tuple[str, ...]


class Stacks:
    """The stacks of one account and region.

    `empty_means_unchanged`: LocalStack makes a change set without changes where AWS says that there are none. On AWS
    such a change set changes outputs.
    """

    def __init__(self, client: Any, tell: Tell, poll_s: float = 1.0, *, empty_means_unchanged: bool = False) -> None:
        self._empty_means_unchanged = empty_means_unchanged
        self._client = client
        self._tell = tell
        self._poll_s = poll_s

    def status(self, name: str) -> str | None:
        """A stack's state; None where there is no such stack, or only an empty one that was never made."""
        found = self._find(name)
        return None if found is None or found["StackStatus"] == "REVIEW_IN_PROGRESS" else str(found["StackStatus"])

    def outputs(self, name: str) -> dict[str, str]:
        """A stack's outputs; none where there is no stack."""
        found = self._find(name)
        return {one["OutputKey"]: one["OutputValue"] for one in found.get("Outputs", [])} if found else {}

    def parameters(self, name: str) -> dict[str, str]:
        """What a stack was made with."""
        found = self._find(name)
        return {one["ParameterKey"]: one["ParameterValue"] for one in found.get("Parameters", [])} if found else {}

    def apply(self, stack: Stack) -> bool:
        """Brings a stack to what is wanted; whether that changed anything. Raises Failure with the first reason."""
        change_set = self.prepare(stack)
        if change_set is None:
            return False
        seen = self._events_of(stack.name)
        self._client.execute_change_set(ChangeSetName=change_set.identifier, StackName=stack.name)
        self._follow(stack.name, seen)
        return True

    def prepare(self, stack: Stack) -> ChangeSet | None:
        """A change set, or None where there is nothing to change. Raises Failure."""
        is_new = self._make_way(stack.name)
        body = json.dumps(stack.template, separators=(",", ":"))
        if len(body) > LARGEST_TEMPLATE:
            raise Failure(
                f"The template of {stack.name} has {len(body)} bytes; CloudFormation takes {LARGEST_TEMPLATE}."
            )
        made = self._client.create_change_set(
            StackName=stack.name,
            ChangeSetName=f"deploy-{uuid.uuid4().hex[:12]}",
            ChangeSetType="CREATE" if is_new else "UPDATE",
            TemplateBody=body,
            Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in stack.parameters.items()],
            Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
            Tags=TAGS,
        )
        return self._await_change_set(made["Id"], stack.name, is_new=is_new)

    def drop(self, change_set: ChangeSet) -> None:
        """Forgets a change set, and the empty stack that it was for."""
        self._client.delete_change_set(ChangeSetName=change_set.identifier, StackName=change_set.stack)
        if change_set.is_new:
            self._client.delete_stack(StackName=change_set.stack)

    def delete(self, name: str) -> bool:
        """Removes a stack; whether there was one. Raises Failure."""
        found = self._find(name)
        if found is None:
            return False
        identifier = found["StackId"]  # a stack that is gone is only found by this
        seen = self._events_of(identifier)
        self._client.delete_stack(StackName=name)
        self._follow(identifier, seen)
        return True

    def _make_way(self, name: str) -> bool:
        """Whether the stack is yet to be made; one that never got ready is removed first."""
        status = self.status(name)
        if status is None:
            return True
        if status in ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED"):
            self._tell(f"{name} never got ready ({status}): it is removed first")
            self.delete(name)
            return True
        if status.endswith("_IN_PROGRESS"):
            raise Failure(f"Somebody else is changing {name} ({status}); try again when that has ended.")
        if status == "UPDATE_ROLLBACK_FAILED":
            raise Failure(f"{name} could not be rolled back; see `Rollback` in docs/deployment.md.")
        return False

    def _await_change_set(self, identifier: str, stack: str, *, is_new: bool) -> ChangeSet | None:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            found = self._client.describe_change_set(ChangeSetName=identifier, StackName=stack)
            if found["Status"] == "CREATE_COMPLETE":
                changes = tuple(sorted(stack_events.change(dict(one["ResourceChange"])) for one in found["Changes"]))
                made = ChangeSet(identifier, stack, is_new, changes)
                if changes or is_new or not self._empty_means_unchanged:
                    return made
                self.drop(made)
                return None
            if found["Status"] == "FAILED":
                self.drop(ChangeSet(identifier, stack, is_new, ()))
                if any(words in found.get("StatusReason", "") for words in UNCHANGED):
                    return None
                raise Failure(f"{stack} can't be changed so: {found.get('StatusReason', 'no reason was given')}")
            time.sleep(self._poll_s)
        raise Failure(f"The change set of {stack} did not get ready.")

    def _follow(self, name: str, seen: set[str]) -> None:
        """Tells each event until the stack rests. Raises Failure unless it rests well."""
        reason, last = "", ""  # of the stack's own events; its state may be the old one for a moment
        began = time.monotonic()
        while time.monotonic() < began + PATIENCE_S:
            found = self._find(name)
            for event in self._new_events(name, seen):
                self._tell(stack_events.told(event))
                reason = reason or stack_events.first_reason(event)
                last = str(event["ResourceStatus"]) if event["ResourceType"] == STACK else last
            status = "DELETE_COMPLETE" if found is None else str(found["StackStatus"])
            has_begun = found is None or last == status or time.monotonic() > began + GRACE_S
            if has_begun and not status.endswith("_IN_PROGRESS"):
                stack_events.judge(name, status, reason)
                return
            time.sleep(self._poll_s)
        raise Failure(f"{name} did not come to rest.")

    def _new_events(self, name: str, seen: set[str]) -> list[dict[str, Any]]:
        events = [one for one in self._events(name) if one["EventId"] not in seen]
        seen.update(one["EventId"] for one in events)
        return list(reversed(events))

    def _events_of(self, name: str) -> set[str]:
        return {one["EventId"] for one in self._events(name)}

    def _events(self, name: str) -> list[dict[str, Any]]:
        try:
            pages = self._client.get_paginator("describe_stack_events").paginate(StackName=name)
            return [dict(one) for page in pages for one in page["StackEvents"]]
        except ClientError:  # it is gone, or there is none yet
            return []

    def _find(self, name: str) -> dict[str, Any] | None:
        try:
            found = self._client.describe_stacks(StackName=name)["Stacks"]
        except ClientError as error:
            if "does not exist" in str(error):
                return None
            raise
        return dict(found[0]) if found and found[0]["StackStatus"] != "DELETE_COMPLETE" else None
