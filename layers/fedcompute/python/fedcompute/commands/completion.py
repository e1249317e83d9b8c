"""fedcompute completion: what makes a shell complete commands, options and ids."""

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, /, shell: str) -> None:
    """Print the completion script for a shell.

    \b
    bash:  eval "$(fedcompute completion bash)"                 in ~/.bashrc
    zsh:   eval "$(fedcompute completion zsh)"                  in ~/.zshrc
    fish:  fedcompute completion fish > ~/.config/fish/completions/fedcompute.fish
    """
    found = get_completion_class(shell)
    assert found is not None  # click has all three
    main = context.find_root().command
    click.echo(found(main, {}, "fedcompute", "_FEDCOMPUTE_COMPLETE").source())
