"""Commands whose other arguments come first, and PATHS of the tree after `--`."""

from __future__ import annotations

import click

_PATHS = "llmaz.trailing_paths"


class TrailingPathsCommand(click.Command):
    """A command with PATHS only after `--`."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Parses the words before `--`, and keeps those after it as PATHS."""
        position = args.index("--") if "--" in args else len(args)
        context.meta[_PATHS] = tuple(args[position + 1 :])
        return super().parse_args(context, args[:position])

    def collect_usage_pieces(self, context: click.Context) -> list[str]:
        """The pieces of the usage line, with PATHS."""
        return [*super().collect_usage_pieces(context), "[-- PATHS]..."]


def trailing_paths(context: click.Context) -> tuple[str, ...]:
    """The PATHS that were given after `--`."""
    paths: tuple[str, ...] = context.meta[_PATHS]
    return paths
