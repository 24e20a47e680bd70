"""llmaz schema."""

from __future__ import annotations

import os

import click

from renderer.cli.console import complete_words, examples, exit_with_errors, print_line
from renderer.cli.standard_streams import write


def _kinds() -> list[str]:
    from renderer import schema_validation

    return [name.removesuffix(".json") for name in os.listdir(os.path.join(schema_validation.FOLDER, "input"))]


@click.command(
    "schema",
    short_help="Print the JSON Schema of an input kind, for editors.",
    epilog=examples("llmaz schema", "llmaz schema playground"),
)
@click.argument("kind", required=False, shell_complete=complete_words(_kinds))
def schema_(kind: str | None) -> None:
    """Print the JSON Schema of an input kind, for editors; without KIND, list the kinds."""
    from renderer import schema_validation
    from renderer.diagnostics import suggestion

    folder = os.path.join(schema_validation.FOLDER, "input")
    kinds = {
        schema_validation.read_schema(f"input/{name[:-5]}").get("title", name[:-5]): name
        for name in sorted(os.listdir(folder))
    }
    if kind is None:
        write("".join(f"{title}\n" for title in sorted(kinds)))
        return
    name = next((file for title, file in kinds.items() if kind.lower() in (title.lower(), file[:-5])), None)
    if name is None:
        print_line("text", f"no kind is named '{kind}'; {suggestion(kind, list(kinds))}")
        exit_with_errors(1)
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        write(file.read())
