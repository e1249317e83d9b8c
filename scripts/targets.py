"""Where a deployment goes, and everything that differs between the emulator, LocalStack and AWS: here and nowhere else."""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import boto3
import requests
from botocore.config import Config
from botocore.exceptions import BotoCoreError

from scripts import services
from scripts.packages import STAGE
from scripts.settings import Settings
from scripts.stacks import Stacks
from scripts.terminal import Failure, line

NAMES = ("emulator", "localstack", "aws")
CONTAINER = "fedcompute-localstack"  # as infra/localstack/compose.yaml names it


@dataclass(frozen=True)
class Target:
    """One place to deploy to. Without an endpoint it is AWS itself."""

    name: str
    endpoint: str  # as this machine reaches it; empty for AWS
    inner_endpoint: str  # as functions reach it
    lays_layers: bool  # whether functions get their layers
    auth: str
    provider_addresses: str
    allowed_hosts: str

    @property
    def is_aws(self) -> bool:
        """Whether it costs money."""
        return not self.endpoint

    def url(self, api_id: str) -> str:
        """Where an API answers this machine."""
        return self._url(self.endpoint, api_id)

    def inner_url(self, api_id: str) -> str:
        """Where an API answers functions of the same target."""
        return self._url(self.inner_endpoint, api_id)

    def _url(self, endpoint: str, api_id: str) -> str:
        if self.is_aws:
            return f"https://{api_id}.execute-api.{self.session().region_name}.amazonaws.com/{STAGE}"
        return f"{endpoint}/restapis/{api_id}/{STAGE}/_user_request_"

    def stacks(self) -> Stacks:
        """Its stacks, which tell what happens to them as it happens."""
        return Stacks(
            self.client("cloudformation"),
            line,
            3.0 if self.is_aws else 0.2,
            empty_means_unchanged=self.name == "localstack",
        )

    def session(self) -> boto3.Session:
        """Credentials and region: an emulator takes any, AWS the caller's. Raises Failure."""
        if not self.is_aws:
            return boto3.Session("test", "test", region_name=services.NO_ACCOUNT["AWS_DEFAULT_REGION"])
        try:
            session = boto3.Session()
        except BotoCoreError as error:
            raise Failure(f"AWS_PROFILE can't be used: {error}") from error
        if session.region_name is None:
            raise Failure("No region is set: AWS_REGION=eu-central-1, or a profile that names one.")
        return session

    def client(self, service: str) -> Any:
        """A client of one of its services. No proxy stands before an emulator."""
        session: Any = self.session()
        if self.is_aws:
            return session.client(service, config=Config(retries={"mode": "standard", "total_max_attempts": 5}))
        quick = Config(proxies={}, connect_timeout=5, read_timeout=120, retries={"total_max_attempts": 2})
        return session.client(service, endpoint_url=self.endpoint, config=quick)


def find(configured: Settings, environment: Mapping[str, str] = os.environ) -> Target:
    """What TARGET names. Raises Failure for one that is none, and for a LocalStack that does not answer."""
    name = environment.get("TARGET") or "emulator"
    if name == "emulator":
        address = configured.url("emulator")
        auth = environment.get("AUTH") or "open"
        return Target(name, address, address, lays_layers=True, auth=auth, provider_addresses="any", allowed_hosts="")
    if name == "localstack":
        return _localstack(environment)
    if name == "aws":
        auth = environment.get("AUTH") or "keys"
        addresses = environment.get("PROVIDER_ADDRESSES") or "public"
        return Target(name, "", "", lays_layers=True, auth=auth, provider_addresses=addresses, allowed_hosts="")
    raise Failure(f"TARGET={name} is none; it is {', '.join(NAMES[:-1])} or {NAMES[-1]}.")


def _localstack(environment: Mapping[str, str]) -> Target:
    """A LocalStack anywhere. In Docker its functions stand in containers, which see it, and this host, elsewhere."""
    endpoint = (environment.get("LOCALSTACK_ENDPOINT") or "http://127.0.0.1:4566").rstrip("/")
    _check_answers(endpoint)
    contained = _container(endpoint)
    inner = environment.get("LOCALSTACK_INNER_ENDPOINT") or (f"http://{contained[0]}:4566" if contained else endpoint)
    is_apart = inner != endpoint
    hosts = {inner.partition("://")[2].rpartition(":")[0], *contained} if is_apart else ()
    return Target(
        "localstack",
        endpoint,
        inner,
        lays_layers=False,  # the community edition takes layers and does not lay them under functions
        auth=environment.get("AUTH") or "open",
        provider_addresses="private" if is_apart else "any",
        allowed_hosts=",".join(sorted(hosts)),
    )


def _check_answers(endpoint: str) -> None:
    try:
        with requests.Session() as session:
            session.trust_env = False
            session.get(f"{endpoint}/_localstack/info", timeout=10).raise_for_status()
    except requests.RequestException as error:
        raise Failure(
            f"No LocalStack answers at {endpoint}: docker compose -f infra/localstack/compose.yaml up -d --wait,"
            " or name another in LOCALSTACK_ENDPOINT."
        ) from error


def _container(endpoint: str) -> tuple[str, ...]:
    """The addresses of the container of infra/localstack/compose.yaml and of this host, in the network of its functions.

    None where the endpoint is not that container.
    """
    try:
        command = ["docker", "inspect", CONTAINER]
        told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout
    except (OSError, subprocess.SubprocessError):
        return ()
    network = json.loads(told)[0]["NetworkSettings"]
    ports = {binding["HostPort"] for binding in network["Ports"].get("4566/tcp") or ()}
    if endpoint.rpartition(":")[2] not in ports:
        return ()
    return next((one["IPAddress"], one["Gateway"]) for one in network["Networks"].values())
