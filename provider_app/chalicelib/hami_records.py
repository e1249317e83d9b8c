"""The texts by which device plugins register cards, decoded record by record: a bad one is told and hides no other.

Source: Project-HAMi/HAMi, pkg/device/devices.go. v2.3 and v2.4: records of seven fields, each ended by ":"; v2.5 to v2.7.1: of
nine; JSON since v2.8 (NVIDIA) and for Ascend, Kunlun, Vastai, Biren and AMD. Hygon and Iluvatar still write nine fields. In
JSON what is zero is left out, so an absent `health` means unhealthy. Volcano's six fields: volcano-sh/devices.
"""

from collections.abc import Iterator, Mapping

from chalicelib.hami_documents import of_enflame, of_list, of_metax
from chalicelib.hami_families import Form
from chalicelib.hami_numbers import amount, flag, integer
from chalicelib.hami_record import MOST_RECORDS, Decoded, Record, place


def records_of(text: str, form: Form) -> Iterator[Decoded]:
    """The cards that an annotation's value registers, and in words what is wrong with those that it does not."""
    if form in _OTHER_FORMS:
        yield from _OTHER_FORMS[form](text)
    elif text.lstrip()[:1] == "[":
        yield from of_list(text)
    else:
        yield from _of_fields(text, _FIELDS)


_FIELDS = {
    7: ("id", "count", "devmem", "devcore", "type", "numa", "health"),
    9: ("id", "count", "devmem", "devcore", "type", "numa", "health", "index", "mode"),
}
_VOLCANO_FIELDS = {6: ("id", "count", "devmem", "type", "health", "mode")}


def _of_fields(text: str, shapes: Mapping[int, tuple[str, ...]]) -> Iterator[Decoded]:
    if ":" not in text:
        yield "no record: there is no ':' in it"
        return
    for number, segment in enumerate(text.split(":", MOST_RECORDS)):
        if not segment.strip():
            continue
        fields = segment.split(",")
        names = shapes.get(len(fields))
        if names is None:
            wanted = " or ".join(str(count) for count in shapes)
            yield f"record {number} has {len(fields)} fields, not {wanted}"
            continue
        yield _of_named(dict(zip(names, fields, strict=True)), number)


def _of_named(fields: dict[str, str], number: int) -> Decoded:
    numbers = {name: amount(fields.get(name, "100")) for name in ("count", "devmem", "devcore")}
    wrong = [name for name, found in numbers.items() if found is None]
    healthy = flag(fields["health"])
    if healthy is None:
        wrong.append("health")
    if wrong or not fields["id"]:
        return f"record {number} has no usable {', '.join(wrong or ['id'])}"
    return Record(
        fields["id"],
        fields["type"],
        numbers["count"] or 0,
        numbers["devmem"] or 0,
        numbers["devcore"] or 0,
        bool(healthy),
        place(integer(fields.get("index", ""))),
        place(integer(fields.get("numa", ""))),
        fields.get("mode") or None,
    )


def _of_volcano(text: str) -> Iterator[Decoded]:
    yield from _of_fields(text, _VOLCANO_FIELDS)


_OTHER_FORMS = {"volcano": _of_volcano, "metax": of_metax, "enflame": of_enflame}
