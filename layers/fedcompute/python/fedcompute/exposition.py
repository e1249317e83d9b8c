"""Metrics as Prometheus reads them: the text format, version 0.0.4."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Sample(NamedTuple):
    """One number; `suffix` is what follows the family's name, as in a histogram's `_bucket`."""

    labels: Mapping[str, str]
    value: float
    suffix: str = ""


class Family(NamedTuple):
    """The samples of one name. `kind`: counter, gauge or histogram."""

    name: str
    kind: str
    about: str
    samples: Sequence[Sample]


def text_of(families: Iterable[Family]) -> str:
    """The families as text; those without samples are left out."""
    return "".join(f"{line}\n" for family in families if family.samples for line in _lines(family))


def gauge(name: str, about: str, value: float) -> Family:
    """A family of one number."""
    return Family(name, "gauge", about, [Sample({}, value)])


def labelled(name: str, about: str, label: str, values: Mapping[str, float]) -> Family:
    """A gauge whose numbers differ in one label."""
    return Family(name, "gauge", about, [Sample({label: key}, value) for key, value in values.items()])


def _lines(family: Family) -> Iterator[str]:
    yield f"# HELP {family.name} {_escaped(family.about)}"
    yield f"# TYPE {family.name} {family.kind}"
    for sample in family.samples:
        pairs = ",".join(f'{name}="{_quoted(value)}"' for name, value in sample.labels.items())
        labels = f"{{{pairs}}}" if pairs else ""
        yield f"{family.name}{sample.suffix}{labels} {_number(sample.value)}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', r"\"")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
