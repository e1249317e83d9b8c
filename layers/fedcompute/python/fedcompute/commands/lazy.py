"""A group whose commands are imported when they are called."""

import importlib
from collections.abc import Mapping
from typing import Any

import click


class LazyGroup(click.Group):
    """`lazily` has, by name, where a command is ("module:attribute") and the line that the group's help says of it."""

    def __init__(self, *arguments: Any, lazily: Mapping[str, tuple[str, str]], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._lazily = lazily

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order in which they were given."""
        return [*self._lazily, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now."""
        if cmd_name not in self._lazily:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = self._lazily[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands in the group's help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in self._lazily.items()])
