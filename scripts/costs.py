"""What a deployment costs on AWS, by list prices: at rest per month, and per million searches."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from scripts.terminal import line

# USD, us-east-1, on demand, without free tiers (aws.amazon.com: lambda, api-gateway, dynamodb, cloudwatch, s3; 2026).
ALARM_METRIC = 0.10  # a month; an alarm on an expression counts each of its metrics
BACKUP_GB = 0.20  # a month, point-in-time recovery
TABLE_GB = 0.25
BUCKET_GB = 0.023
API_MILLION = 3.50
LAMBDA_MILLION = 0.20
LAMBDA_GB_S = {"x86_64": 0.0000166667, "arm64": 0.0000133334}
READ_MILLION = 0.125  # read units; a consistent read of up to 4 KB is one
LOG_GB = 0.50

# What one search uses, as measured on this project's samples; a gateway's work grows with its providers.
SEARCH_S = 0.15
INVENTORY_S = 0.02
LOG_BYTES = 1_500  # two lines: the handler's and the access log's
PACKAGES_GB = 0.02


def show(templates: Sequence[Path]) -> None:
    """Prints the two sums and what they are made of. `templates`: of every stack, one for each."""
    documents = [json.loads(one.read_text()) for one in templates]
    at_rest = monthly(documents)
    per_million = searches(documents)
    for title, parts in (("at rest, per month", at_rest), ("per million searches", per_million)):
        line(f"{title}: about {sum(parts.values()):.2f} USD")
        for name, amount in parts.items():
            line(f"  {amount:8.2f}  {name}")
    line("List prices of us-east-1 without free tiers; your region, tax and other use of the account are not in it.")


def monthly(documents: Iterable[dict[str, Any]]) -> dict[str, float]:
    """What stands there costs, whoever asks or not."""
    alarms = sum(_metrics(one) for document in documents for one in _of(document, "AWS::CloudWatch::Alarm"))
    return {
        f"{alarms} alarm metrics": alarms * ALARM_METRIC,
        "table and backup, below 10 MB": 0.01 * (TABLE_GB + BACKUP_GB),
        "packages in the bucket": PACKAGES_GB * BUCKET_GB,
    }


def searches(documents: Iterable[dict[str, Any]], millions: float = 1.0) -> dict[str, float]:
    """What searches cost: the gateway's own call, and one of each deployed provider."""
    parts = dict.fromkeys(("API Gateway", "Lambda requests", "Lambda time", "DynamoDB reads", "logs"), 0.0)
    for document in documents:
        # The one that API Gateway calls; parts of large searches come on top, see scripts/simulate.py.
        for function in _of(document, "AWS::Serverless::Function", "APIHandler"):
            is_gateway = "REGISTRY_TABLE" in function["Environment"]["Variables"]
            seconds = SEARCH_S if is_gateway else INVENTORY_S
            price = LAMBDA_GB_S[function["Architectures"][0]]
            parts["API Gateway"] += API_MILLION * millions
            parts["Lambda requests"] += LAMBDA_MILLION * millions
            parts["Lambda time"] += 1e6 * millions * seconds * function["MemorySize"] / 1024 * price
            parts["DynamoDB reads"] += READ_MILLION * millions * is_gateway
            parts["logs"] += 1e6 * millions * LOG_BYTES / 1e9 * LOG_GB
    return parts


def _of(document: dict[str, Any], kind: str, name: str = "") -> list[dict[str, Any]]:
    resources = document["Resources"].items()
    return [one["Properties"] for its_name, one in resources if one["Type"] == kind and name in ("", its_name)]


def _metrics(alarm: dict[str, Any]) -> int:
    return sum("MetricStat" in one for one in alarm["Metrics"]) if "Metrics" in alarm else 1
