"""llmaz completion."""

from __future__ import annotations

import click

from renderer.cli.console import examples
from renderer.cli.standard_streams import write


@click.command(
    short_help="Print a shell completion script.",
    epilog=examples('eval "$(llmaz completion bash)"', "llmaz completion fish >llmaz.fish"),
)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script for shell completion of commands, options and their values.

    Evaluate it in ~/.bashrc (bash 4.4 or newer) or ~/.zshrc; fish reads it from ~/.config/fish/completions/llmaz.fish.
    It calls llmaz, so it also works with later versions.
    """
    from click.shell_completion import get_completion_class

    script = get_completion_class(shell)
    if script is None:  # click has all three
        raise click.UsageError(f"click has no completion for {shell}")
    write(script(context.find_root().command, {}, "llmaz", "_LLMAZ_COMPLETE").source())
