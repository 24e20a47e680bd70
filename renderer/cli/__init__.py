"""Flags in, exit code out; the only room that prints.

Only click is imported at the start, and a command's own file when it is called: `llmaz --version` and `--help` are
asked more often than anything else.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from renderer import __version__
from renderer.cli.answers import INTERRUPT, INTERRUPTED
from renderer.cli.lightly import click

_EPILOG = (
    "Exit codes: 0 fine, 1 stale (--check) or different (--exit-code), 2 invalid input or usage, 3 internal fault."
)
_COMMANDS = {  # where each stands
    "init": "init.init",
    "render": "rendering.render",
    "validate": "rendering.validate",
    "check": "checking.check",
    "diff": "diff.diff",
    "routes": "routing.routes",
    "explain": "explain.explain",
    "argocd": "argocd.argocd",
    "flux": "flux.flux",
    "nodepools": "nodepools.nodepools",
    "presets": "presets.presets",
    "schema": "schemas.schema_",
    "kustomize": "kustomize.kustomize",
}


class Commands(click.Group):
    """The commands, each imported when it is asked for."""

    def list_commands(self, context: click.Context) -> list[str]:
        """In alphabetical order."""
        return sorted(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """None for a name that is none."""
        if name not in _COMMANDS:
            return None
        module, _, function = _COMMANDS[name].partition(".")
        command: click.Command = getattr(import_module(f"renderer.cli.{module}"), function)
        return command


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_EPILOG,
)
@click.version_option(__version__, prog_name="llmaz", message="%(prog)s %(version)s")
def cli() -> None:
    """Expands llmaz OpenModel and Playground YAML into the plain manifests that GitOps tools sync."""


def main(args: Sequence[str] | None = None) -> None:
    """The console script. It ends at once: freeing all that was read takes longer than reading it."""
    gc.disable()  # what is read is needed until the end, and what is made is freed by counting
    try:
        cli.main(args=args, prog_name="llmaz", standalone_mode=False)
    except SystemExit as end:  # which holds what the command had, until we are gone
        _exit(end.code)
    except click.ClickException as wrong:
        wrong.show()
        _exit(wrong.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo(INTERRUPT, err=True)
        _exit(INTERRUPTED)
    _exit(0)


def _exit(code: Any) -> NoReturn:
    """Leaves with this code, as `sys.exit` takes it."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)
