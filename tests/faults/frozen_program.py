"""A gateway in a process of its own: makes a search for each line that it reads, and prints how it went.

Beside the outcomes: how many threads Python knows of, and how many the system does.
"""

import json
import sys
import threading
from pathlib import Path

import pytest
from fakes.gateway import Gateway

with pytest.MonkeyPatch.context() as patch:
    gateway = Gateway(patch, AWS_ENDPOINT_URL=sys.argv[1], LOG_LEVEL="ERROR")
    for _ in sys.stdin:
        answer = gateway.search()
        entries = answer.json.get("providers", [])
        said = {
            "status": answer.status,
            "outcomes": {entry["id"]: entry["outcome"] for entry in entries},
            "threads": threading.active_count(),
            "tasks": len(list(Path("/proc/self/task").iterdir())),
        }
        print(json.dumps(said), flush=True)
