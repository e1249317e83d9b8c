"""A gateway that is stopped between searches, as Lambda stops it, while everybody closes the idle connections.

python -m scripts.freeze     FREEZE_CYCLES (100), FREEZE_S (10) and FREEZE_PROVIDERS (20) say how
"""

from scripts.fault_table import run

if __name__ == "__main__":
    raise SystemExit(run("freeze_program.py"))
