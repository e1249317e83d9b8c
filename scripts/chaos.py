"""Providers that fail by chance, searched a thousand times: every one is in every answer, as what its call met.

python -m scripts.chaos     CHAOS_SEED (1), CHAOS_SEARCHES (1000), CHAOS_PROVIDERS (20) and CHAOS_FAULTY (0.3) say how
"""

from scripts.fault_table import run

if __name__ == "__main__":
    raise SystemExit(run("chaos_program.py"))
