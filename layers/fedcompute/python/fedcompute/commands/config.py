"""Which gateway, and with which key: flags, the environment, and ~/.config/fedcompute/config.toml.

default = "campus"

[gateways.campus]
url = "https://gateway.example.org/api"
key_file = "~/.config/fedcompute/campus.key"
timeout_s = 30
"""

import os
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path

import click
import msgspec
from msgspec import Struct

LOCAL = "http://localhost:8080"


class Gateway(Struct, frozen=True, forbid_unknown_fields=True):
    """One gateway as the configuration has it."""

    url: str
    key_file: str | None = None
    timeout_s: float | None = None


class Config(Struct, frozen=True, forbid_unknown_fields=True):
    """The configuration file."""

    default: str | None = None
    gateways: dict[str, Gateway] = {}


def path(environment: Mapping[str, str] = os.environ) -> Path:
    """Where the configuration is: FEDCOMPUTE_CONFIG, else in XDG_CONFIG_HOME, else in ~/.config."""
    given = environment.get("FEDCOMPUTE_CONFIG")
    if given:
        return Path(given).expanduser()
    home = environment.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(home).expanduser() / "fedcompute" / "config.toml"


def read() -> Config:
    """The configuration; an empty one where there is no file."""
    file = path()
    try:
        return msgspec.convert(tomllib.loads(file.read_text()), Config)
    except FileNotFoundError:
        return Config()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise click.UsageError(f"{file} can't be used: {error}") from error


def chosen(name: str | None, config: Config) -> Gateway:
    """The gateway of this name or address; the default one where none is named."""
    name = name or config.default
    if name is None:
        return Gateway(LOCAL)
    if "://" in name:
        return next((one for one in config.gateways.values() if one.url == name), Gateway(name))
    if name not in config.gateways:
        known = ", ".join(config.gateways) or "none"
        raise click.UsageError(f"No gateway is called {name}; {path()} has: {known}. Or give its URL.")
    return config.gateways[name]


def key_for(gateway: Gateway, environment: Mapping[str, str] = os.environ) -> str | None:
    """FEDCOMPUTE_KEY, else what is in FEDCOMPUTE_KEY_FILE, else in the gateway's own key_file; None without any."""
    key = environment.get("FEDCOMPUTE_KEY", "").strip()
    file = environment.get("FEDCOMPUTE_KEY_FILE") or gateway.key_file
    if not key and file:
        key = _key_in(Path(file).expanduser())
    if not key.isprintable() or not key.isascii():
        raise click.UsageError("The key holds characters that no key has; copy it again.")
    return key or None


def _key_in(file: Path) -> str:
    try:
        mode = stat.S_IMODE(file.stat().st_mode)
        if mode & 0o077:
            raise click.UsageError(f"Others may read the key in {file}; make it yours alone with: chmod 600 {file}")
        return file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise click.UsageError(f"The key in {file} can't be read: {reason}.") from error
