"""What the registry promises to two clients that do anything, one call after the other."""

import os
import time
from typing import Any

from fakes.registry_model import Ran, RegistryMachine
from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

EXAMPLES = int(os.environ.get("MODEL_EXAMPLES", "8"))
STEPS = int(os.environ.get("MODEL_STEPS", "12"))
SEED = int(os.environ.get("MODEL_SEED", "1"))


class ModelContract:
    def test_any_calls_of_two_clients_leave_what_they_would_leave_in_a_dict(self, dynamodb: Any) -> None:
        ran = Ran()
        parts = {"make_client": staticmethod(lambda: dynamodb), "ran": ran}
        machine = seed(SEED)(type("Machine", (RegistryMachine,), parts))
        size = settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            suppress_health_check=[HealthCheck.too_slow],
        )
        started = time.monotonic()

        run_state_machine_as_test(machine, settings=size)

        took_s = time.monotonic() - started
        steps = sum(ran.steps.values())
        print(f"{EXAMPLES} examples of at most {STEPS} steps, seed {SEED}: {steps} steps in {took_s:.0f} s")
        print(f"  {len(ran.states)} distinct states; told {dict(ran.steps.most_common())}")
        print(f"  writes {dict(ran.fates.most_common())}")
        assert steps >= EXAMPLES
