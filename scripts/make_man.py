#!/usr/bin/env python3
"""Writes the man pages of all commands into man/, from what click knows of them.

`scripts/make_man.py` rewrites them, `--check` exits 1 when they are stale (a test runs that). They hold neither a date
nor a version, so that they change with the commands alone.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

import click

from renderer.cli.commands import cli

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "man"


def pages(
    command: click.Command, parent: click.Context | None = None, name: str = "llmaz"
) -> Iterator[tuple[str, str]]:
    """Name and text of the page of a command, and of those below it."""
    context = click.Context(command, info_name=name, parent=parent, help_option_names=["-h", "--help"])
    yield f"{context.command_path.replace(' ', '-')}.1", page(context)
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            if subcommand := command.get_command(context, below):
                yield from pages(subcommand, context, below)


def page(context: click.Context) -> str:
    """The man page of a command."""
    command = context.command
    title = context.command_path.replace(" ", "-")
    body, examples = parted_epilog(command)
    synopsis = " ".join(command.collect_usage_pieces(context))
    lines = [
        f'.TH "{title.upper()}" "1" "" "llmaz" "llmaz renderer"',
        ".nh",  # no word is broken: options are searched for
        ".ad l",
        ".SH NAME",
        f"{troff(title)} \\- {troff(command.get_short_help_str(200).rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {troff(context.command_path)}",
        troff(synopsis),
        ".SH DESCRIPTION",
        paragraphs(command.help or ""),
    ]
    options = [option for option in command.get_params(context) if isinstance(option, click.Option)]
    records = [record for option in options if (record := option.get_help_record(context))]
    if records:
        lines += [".SH OPTIONS", *(f".TP\n.B {troff(names)}\n{troff(text)}" for names, text in records)]
    if isinstance(command, click.Group):
        lines.append(".SH COMMANDS")
        for name in command.list_commands(context):
            if below := command.get_command(context, name):
                lines.append(f".TP\n.B {troff(name)}\n{troff(below.get_short_help_str(200))}")
    if body:
        lines += [".SH EXIT STATUS", paragraphs(body)]
    if examples:
        lines += [".SH EXAMPLES", ".nf", *map(troff, examples), ".fi"]
    if others := see_also(context):
        lines += [".SH SEE ALSO", ",\n".join(f".BR {troff(name)} (1)" for name in others)]
    return "\n".join(lines) + "\n"


def parted_epilog(command: click.Command) -> tuple[str, list[str]]:
    """The words before the examples at the end of a command's help, and the examples."""
    words, _, examples = cleandoc(command.epilog or "").partition("\b\nExamples:\n")
    return words.removeprefix("Exit codes: ").strip(), [line.strip() for line in examples.splitlines()]


def see_also(context: click.Context) -> list[str]:
    """The pages of the command above, and of those below."""
    names = [context.parent.command_path] if context.parent else []
    if isinstance(context.command, click.Group):
        names += [f"{context.command_path} {name}" for name in context.command.list_commands(context)]
    return [name.replace(" ", "-") for name in names]


def paragraphs(text: str) -> str:
    """A help text, each paragraph as troff fills it."""
    return "\n.PP\n".join(troff(" ".join(part.split())) for part in cleandoc(text).split("\n\n"))


def troff(text: str) -> str:
    """Text as troff prints it: no escape, no request at the beginning of the line, and hyphens as they are typed."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", text)


def main() -> None:
    """Writes the pages, or checks them."""
    texts = dict(pages(cli))
    current = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.1")}
    if current == texts:
        return
    if "--check" in sys.argv[1:]:
        names = ", ".join(sorted(name for name in {*current, *texts} if current.get(name) != texts.get(name)))
        raise SystemExit(f"make_man.py: stale: {names}: run make man")
    FOLDER.mkdir(exist_ok=True)
    for name in current.keys() - texts.keys():
        (FOLDER / name).unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
