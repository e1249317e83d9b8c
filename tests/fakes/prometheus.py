"""Prometheus' side of /metrics: its client library's parser, and those of promtool's lint rules that a text can break."""

import re
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

type Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]

_BASE_UNITS = ("seconds", "bytes")
_OTHER_UNITS = re.compile(r"_(ms|millis|milliseconds|minutes|hours|kb|mb|mib|gib|kilobytes|megabytes|percent)(_|$)")
_TYPES = re.compile(r"_(counter|gauge|histogram|summary)(_|$)")


def families_of(text: str) -> list[Any]:
    """What the library reads."""
    return list(text_string_to_metric_families(text))


def samples_of(text: str) -> Samples:
    """Every sample's value by its name and labels."""
    found: Samples = {}
    for family in families_of(text):
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            assert key not in found, f"twice: {key}"
            found[key] = sample.value
    return found


def value_of(text: str, name: str, **labels: str) -> float:
    """One sample's value."""
    return samples_of(text)[name, tuple(sorted(labels.items()))]


def lint(text: str) -> list[str]:
    """What promtool check metrics would say (prometheus/client_golang, testutil/promlint)."""
    told: list[str] = []
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))
    helps = dict(re.findall(r"^# HELP (\S+) (.+)$", text, re.MULTILINE))
    for name, kind in kinds.items():
        checks = {
            "no help text": name not in helps,
            "counters should have _total": kind == "counter" and not name.endswith("_total"),
            "only counters should have _total": kind != "counter" and name.endswith("_total"),
            "_bucket, _count and _sum are for histograms": name.endswith(("_bucket", "_count", "_sum")),
            "should use base units": bool(_OTHER_UNITS.search(name)),
            "should not hold its type": bool(_TYPES.search(name)),
            "should be snake_case": not re.fullmatch(r"[a-z][a-z0-9_]*", name),
            "units stand last": any(f"_{unit}_" in name.removesuffix("_total") for unit in _BASE_UNITS),
        }
        told += [f"{name}: {rule}" for rule, is_broken in checks.items() if is_broken]
    for family in families_of(text):
        for sample in family.samples:
            told += [f"{sample.name}: label {label}" for label in sample.labels if not re.fullmatch("[a-z_]+", label)]
            if family.type != "histogram" and "le" in sample.labels:
                told.append(f"{sample.name}: le is for histograms")
    return told
