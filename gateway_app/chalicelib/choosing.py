"""Which of the registry's providers a search asks."""

from collections.abc import Sequence

from fedcompute.inventory import Warning  # noqa: A004 (the contract's word)
from fedcompute.provider import ProviderRecord
from fedcompute.request import SearchRequest


def choose_providers(
    request: SearchRequest, records: Sequence[ProviderRecord]
) -> tuple[list[ProviderRecord], list[Warning]]:
    """(include, or all enabled) and labels, minus exclude; and warnings for ids that lead nowhere."""
    wanted = request.providers
    include, exclude = frozenset(wanted.include), frozenset(wanted.exclude)
    chosen = [
        record
        for record in records
        if record.enabled
        and (not include or record.id in include)
        and record.id not in exclude
        and all(record.labels.get(key) == value for key, value in wanted.labels.items())
    ]
    warnings = _warnings(include, exclude, records) if include or exclude else []
    if not chosen:
        warnings.append(Warning(code="no_providers", message="no enabled provider was asked"))
    return chosen, warnings


def _warnings(include: frozenset[str], exclude: frozenset[str], records: Sequence[ProviderRecord]) -> list[Warning]:
    by_id = {record.id: record for record in records}
    warnings = []
    for provider_id in sorted(include | exclude):
        record = by_id.get(provider_id)
        if record is None:
            message = "no provider of this id is registered"
            warnings.append(Warning(code="unknown_provider", message=message, provider_id=provider_id))
        elif not record.enabled and provider_id in include:
            message = "this provider is disabled and was not asked"
            warnings.append(Warning(code="provider_disabled", message=message, provider_id=provider_id))
    return warnings
