"""The gateway's environment, read once into one frozen model."""

import os
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from chalicelib.addresses import Reach
from fedcompute.text import clean


class SettingsError(Exception):
    """A variable that can't be used, in words that name it."""


def _names(value: object) -> object:
    return tuple(name.strip() for name in value.split(",") if name.strip()) if isinstance(value, str) else value


class GatewaySettings(BaseModel):
    """One field per environment variable, by its name in capitals. Sizes in bytes, times in ms."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    registry_table: str = Field(min_length=3)
    auth: Literal["open", "keys"]
    allowed_hosts: Annotated[tuple[str, ...], BeforeValidator(_names)] = ()
    provider_addresses: Reach
    fanout_threads: int = Field(1, ge=1, le=16)
    fanout_connections: int = Field(512, ge=1, le=4096)
    search_deadline_ms: int = Field(8000, ge=100, le=25000)
    search_part_function: str = ""  # the Lambda function that parts of a large search are sent to; empty: none are
    search_part_providers: int = Field(1000, ge=1, le=2000)
    max_inventory_bytes: int = Field(32 << 20, ge=1024, le=1 << 30)
    master_key: str = Field("", pattern=r"^(file|ssm|secretsmanager):.+$")
    metrics: Literal["on", "off"] = "on"
    key_rate_per_s: int = Field(20, ge=1, le=10000)
    owner_providers: int = Field(500, ge=1)  # the most that one owner may register where AUTH=keys
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    # AWS's own
    aws_endpoint_url: str = ""
    aws_endpoint_url_dynamodb: str = ""
    aws_lambda_function_name: str = ""
    aws_lambda_runtime_api: str = ""

    @property
    def is_on_aws(self) -> bool:
        """Whether this is a Lambda of real AWS, not one of an emulator."""
        return bool(self.aws_lambda_function_name) and not self.aws_endpoint_url

    @property
    def forbidden_urls(self) -> tuple[str, ...]:
        """What no provider may be: the AWS endpoint and the Lambda run time's own interface."""
        runtime = f"http://{self.aws_lambda_runtime_api}" if self.aws_lambda_runtime_api else ""
        return tuple(url for url in (self.aws_endpoint_url, self.aws_endpoint_url_dynamodb, runtime) if url)


def read_settings(environment: Mapping[str, str] = os.environ) -> GatewaySettings:
    """The settings, safe by default: keys and public addresses. Raises SettingsError naming each bad variable."""
    given = {name: environment[name.upper()] for name in GatewaySettings.model_fields if environment.get(name.upper())}
    try:
        settings = GatewaySettings.model_validate({"auth": "keys", "provider_addresses": "public", **given})
    except ValidationError as error:
        bad = "; ".join(f"{str(one['loc'][0]).upper()}: {clean(one['msg'])}" for one in error.errors())
        raise SettingsError(f"environment: {bad}") from error
    if settings.is_on_aws and settings.auth == "open":
        raise SettingsError("AUTH: open is for a person's own machine; set keys")
    if settings.is_on_aws and settings.master_key.startswith("file:"):
        raise SettingsError("MASTER_KEY: a file is for a person's own machine; set ssm:NAME or secretsmanager:NAME")
    if settings.is_on_aws and settings.provider_addresses is Reach.ANY:
        raise SettingsError("PROVIDER_ADDRESSES: any is for a person's own machine; set public or private")
    return settings
