"""The provider's environment as one frozen model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from fedcompute.provider import ProviderId
from fedcompute.signatures import key_bytes


class SettingsError(ValueError):
    """Variables that are missing or wrong: names each, and says what to set."""


def _split(text: Any) -> Any:
    return tuple(part.strip() for part in text.split(",") if part.strip()) if isinstance(text, str) else text


def _check_key(text: str) -> str:
    key_bytes(text)
    return text


Key = Annotated[str, AfterValidator(_check_key)]


class ProviderSettings(BaseModel):
    """Each field is the environment variable of the same name in capitals; its description says what to set."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    provider_id: ProviderId = Field(description="the id that the registry has this provider under, such as provider-a")
    inventory_mode: Literal["static", "kubernetes", "hami"] = Field("static", description="static, kubernetes or hami")
    inventory_file: Path = Field(
        Path(), validate_default=True, description="an inventory's JSON file, relative to the app's folder"
    )
    kubeconfig: str = Field("", description="a kubeconfig's path, or several as in PATH; empty in a pod of the cluster")
    kube_context: str = Field("", description="a context of the kubeconfig; empty for its current one")
    inventory_max_age_ms: int = Field(5000, ge=0, description="a whole number of milliseconds, 0 or more")
    allowed_hosts: Annotated[tuple[str, ...], BeforeValidator(_split)] = Field(
        (), description="host names, separated by commas, that this app answers to beside its own machine's"
    )
    provider_key: Annotated[tuple[Key, ...], BeforeValidator(_split)] = Field(
        (),
        max_length=2,
        repr=False,
        description="the key that the gateway gave for this provider; two, separated by a comma, while one takes over",
    )
    metrics_token: str = Field(
        "", repr=False, pattern=r"^(.{16,})?$", description="a secret of 16 characters or more, for who reads /metrics"
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="DEBUG, INFO, WARNING or ERROR")

    @field_validator("inventory_file")
    @classmethod
    def _static_has_a_file(cls, file: Path, info: ValidationInfo) -> Path:
        if info.data.get("inventory_mode") == "static" and file == Path():
            raise ValueError("not set")
        return file


def from_environment(environment: Mapping[str, str]) -> ProviderSettings:
    """The settings that an environment holds; an empty variable counts as not set.

    Raises SettingsError that names every variable that is missing or wrong.
    """
    texts = {name: environment.get(name.upper(), "").strip() for name in ProviderSettings.model_fields}
    given = {name: text for name, text in texts.items() if text}
    try:
        return ProviderSettings.model_validate(given)
    except ValidationError as error:
        names = dict.fromkeys(str(detail["loc"][0]) for detail in error.errors())
        raise SettingsError(" ".join(_said(name, name in given) for name in names)) from error


def _said(name: str, is_given: bool) -> str:
    state = "is wrong" if is_given else "is not set"
    return f"{name.upper()} {state}; set it to {ProviderSettings.model_fields[name].description}."
