"""A federation of which a quarter misbehaves, searched hundreds of times: times, and what is left behind.

python -m scripts.soak     SOAK_PROVIDERS (300), SOAK_SEARCHES (20) and SOAK_MORE (500) say how many
"""

from scripts.fault_table import run

if __name__ == "__main__":
    raise SystemExit(run("soak_program.py"))
