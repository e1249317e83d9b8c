"""Callers' keys and providers' keys: python -m scripts.keys --help.

It works on the table itself, so it needs the right to write there and no gateway that runs.
"""

import sys

from scripts.settings import ROOT


def main() -> None:
    """Runs the command."""
    sys.path.insert(0, str(ROOT / "gateway_app"))
    from scripts.key_commands import keys  # noqa: PLC0415 (the path first: it needs the gateway's own modules)

    keys(prog_name="python -m scripts.keys")


if __name__ == "__main__":
    main()
