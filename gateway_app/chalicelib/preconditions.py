"""The If-Match header (RFC 9110, section 13.1.1): change a record only if it is still the one that the caller saw."""

import re

from fedcompute.errors import Problem
from fedcompute.provider import ProviderRecord
from fedcompute.text import clean

_TAG = re.compile(r'(W/)?("[^"]*")')


def check_if_match(if_match: str | None, record: ProviderRecord) -> None:
    """Passes without a header, with `*`, and where one strong tag is the record's; weak tags never match.

    Raises: 412 `version_conflict`, with the current version.
    """
    if if_match is None or if_match.strip() == "*":
        return
    tags = _TAG.findall(if_match)
    unquoted = _TAG.sub("", if_match).strip(" \t,")
    if unquoted or record.etag not in (tag for weak, tag in tags if not weak):
        current = f"The record {record.id} is at version {record.etag}"
        raise Problem("version_conflict", f"{current}; {_advice(unquoted, tags)}", headers={"ETag": record.etag})


def _advice(unquoted: str, tags: list[tuple[str, str]]) -> str:
    if unquoted:
        bare = clean(unquoted.partition(",")[0].strip().replace('"', ""), 32)
        return f'in If-Match a version stands in quotes: write {bare} as "{bare}".'
    if tags and all(weak for weak, _ in tags):
        return f"a weak tag in If-Match matches nothing: write it as {clean(tags[0][1], 32)}."
    return "read it again and repeat the change with its ETag in If-Match."
