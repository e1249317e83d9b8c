"""The registry's contract on moto."""

from contracts.registry_contract import RegistryContract


class TestRegistryOnMoto(RegistryContract):
    pass
