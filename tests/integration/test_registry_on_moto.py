"""The registry's contracts on moto."""

from contracts.large_registry_contract import LargeRegistryContract
from contracts.registry_contract import RegistryContract
from fakes.fake_time import FakeTime


class TestRegistryOnMoto(RegistryContract):
    pass


class TestLargeRegistryOnMoto(LargeRegistryContract):
    pacing = FakeTime().pacing  # moto takes seconds for a page
