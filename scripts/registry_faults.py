"""Every route while DynamoDB throttles, fails, hangs or is not there: what it answers, and when.

python -m scripts.registry_faults
"""

from scripts.fault_table import run

if __name__ == "__main__":
    raise SystemExit(run("registry_faults_program.py"))
