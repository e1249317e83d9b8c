"""make undeploy: removes the stacks of a deployment, the gateway first, and what they left.

On AWS the registry's table stays, with its backups: it is removed by hand.
"""

import argparse
import sys
from collections.abc import Sequence

from botocore.exceptions import BotoCoreError, ClientError

from scripts import deploy, deployment, interrupts, processes, settings, targets
from scripts.artifacts import Artifacts
from scripts.deployment import Names
from scripts.stacks import Stacks
from scripts.targets import Target
from scripts.terminal import Failure, console, fail, heading, line


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m scripts.undeploy", description=__doc__)
    parser.add_argument("--yes", action="store_true", help="do not ask before something is removed from AWS")
    given = parser.parse_args(arguments)
    try:
        with interrupts.raised():
            undeploy(is_agreed=given.yes)
    except Failure as failure:
        fail(failure)
        return 1
    except (BotoCoreError, ClientError) as error:
        fail(Failure(f"The target refused a call: {error}"))
        return 1
    except interrupts.Interrupted as interrupted:
        return 128 + interrupted.number
    return 0


def undeploy(*, is_agreed: bool) -> None:
    """All of it. Raises Failure."""
    configured = deploy.running_fleet()
    target = targets.find(configured)
    if target.name == "emulator" and "emulator" not in processes.recorded(settings.run_dir()):
        raise Failure("The emulator does not run: `make deploy` or `make dev` starts it.")
    names = deployment.names(target)
    if target.is_aws and not is_agreed and console.input("Remove it from AWS? (yes/no) ").strip().lower() != "yes":
        raise Failure("Nothing was done.")
    stacks = target.stacks()
    providers = [names.provider(one) for one in deployment.deployed_providers(stacks, names)]
    gone = [name for name in [names.gateway, *providers] if _delete(stacks, name)]
    base = stacks.outputs(names.base)
    if base:
        Artifacts(target.client("s3"), base["Artifacts"]).empty()
    if _delete(stacks, names.base):
        gone.append(names.base)
        _clear_up(target, names, base)
    console.print(f"\nRemoved {', '.join(gone)}." if gone else "Nothing is deployed.", markup=False)


def _delete(stacks: Stacks, name: str) -> bool:
    if stacks.status(name) is None:
        return False
    heading(name)
    return stacks.delete(name)


def _clear_up(target: Target, names: Names, base: dict[str, str]) -> None:
    """What a stack leaves behind on purpose: the table, and layers that an older version was made with."""
    client = target.client("lambda")
    layer = f"{names.base}-shared"
    for one in client.list_layer_versions(LayerName=layer).get("LayerVersions", []):
        client.delete_layer_version(LayerName=layer, VersionNumber=one["Version"])
    if target.is_aws:
        line(f"The table {base.get('RegistryTable')} stays, with its records. To remove it: see docs/deployment.md.")
    elif base.get("RegistryTable"):
        target.client("dynamodb").delete_table(TableName=base["RegistryTable"])


if __name__ == "__main__":
    sys.exit(main())
