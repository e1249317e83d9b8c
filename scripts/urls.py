"""make urls: where everything that is deployed answers, one `name url` a line."""

import argparse
import sys
from collections.abc import Sequence

from botocore.exceptions import BotoCoreError, ClientError

from scripts import deploy, deployment, targets
from scripts.terminal import Failure, console, fail


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Returns its exit code."""
    argparse.ArgumentParser(prog="python -m scripts.urls", description=__doc__).parse_args(arguments)
    try:
        found = deployed_urls()
    except Failure as failure:
        fail(failure)
        return 1
    for name, url in found.items():
        console.print(f"{name} {url}", markup=False)
    return 0


def deployed_urls() -> dict[str, str]:
    """The addresses by name. Raises Failure where nothing is deployed, and where TARGET does not answer."""
    target = targets.find(deploy.running_fleet())
    try:
        found = deploy.urls(target, target.stacks(), deployment.names(target))
    except (BotoCoreError, ClientError) as error:
        raise Failure(f"TARGET={target.name} does not answer: {error}") from error
    if not found:
        raise Failure("Nothing is deployed: make deploy")
    return found


if __name__ == "__main__":
    sys.exit(main())
