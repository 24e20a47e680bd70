"""llmaz diff."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import click
from msgspec.structs import replace

from renderer.cli.console import (
    ALLOW_EMPTY,
    ENV,
    POLICY,
    STALE,
    VERBOSE,
    examples,
    exit_with,
    exit_with_errors,
    print_line,
    render_options,
    report,
    report_failures,
    require_values,
)
from renderer.cli.standard_streams import write
from renderer.cli.trailing_paths import TrailingPathsCommand, trailing_paths

if TYPE_CHECKING:
    from renderer.api import RenderOptions
    from renderer.diff.sides import Sides


class _BaseForm(click.Choice[str]):
    """What is read of BASE; another word is taken for BASE itself."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            what = f"{error.message.rstrip('.')}. BASE is an argument: llmaz diff {value}"
            raise click.BadParameter(what, ctx, param) from None


@click.command(
    cls=TrailingPathsCommand,
    short_help="Show what a change does to the rendered objects.",
    epilog=examples("llmaz diff main", "llmaz diff main...topic --format markdown"),
)
@click.argument("between", default=None, metavar="[BASE[..NEW]]")
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "markdown", "json")),
    default="text",
    show_default=True,
    help="markdown: for a comment on a pull request.",
)
@click.option(
    "--live",
    "dumps",
    multiple=True,
    metavar="DUMP",
    help="Compare the objects in a file or folder, such as the output of `kubectl get -o yaml`, with what the work "
    "tree renders. Can be repeated.",
)
@click.option(
    "--llmaz",
    "renderer",
    metavar="WHEEL_OR_VERSION",
    help="Render the work tree with another version of llmaz, and compare with what this version renders. The "
    "other one gets its own virtual environment: a wheel is installed without network, a version is fetched by pip.",
)
@click.option("--exit-code", "tells", is_flag=True, help="Exit 1 when any object differs.")
@click.option(
    "--base",
    type=_BaseForm(("inputs", "rendered")),
    default=None,
    help="inputs: render the inputs of BASE again. rendered: read its rendered files. [default: rendered if BASE has "
    "rendered files, else inputs]",
)
@ENV
@click.option("--env-a", "older", metavar="NAME", help="With --env-b: compare two environments of the work tree.")
@click.option("--env-b", "newer", metavar="NAME", help="The other environment.")
@click.option("--show-values", "show", is_flag=True, help="Also show values that may be secrets.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="As for render, on both sides.")
@POLICY
@click.option(
    "--strict",
    is_flag=True,
    help="Treat warnings as errors. With --live it means: exit 1 if something is lost or unexplained.",
)
@ALLOW_EMPTY
@VERBOSE
@click.pass_context
def diff(context: click.Context, /, between: str | None, form: str, tells: bool, **flags: Any) -> None:
    """Show what changes in the rendered objects between BASE and the work tree, or between BASE and NEW.

    BASE is a commit, by default HEAD. BASE..NEW compares two commits. BASE...NEW compares NEW with the merge base of
    both. Nothing is checked out, and nothing is written. PATHS as for render.

    With --live, a cluster dump takes the place of BASE. llmaz has rules for the expected differences, such as defaults
    of the API server. Other differences are reported as lost (only the cluster has the field) or unexplained. With
    --llmaz, another version of llmaz renders the same work tree, and its output takes the place of BASE.
    """
    if between is not None and not between.strip():
        raise click.UsageError("BASE is empty: leave it out for HEAD")
    older, newer = flags["older"], flags["newer"]
    used = [f"--{name}" for name, key in (("base", "base"), ("env-a", "older"), ("env-b", "newer")) if flags[key]]
    used = ["BASE", *used] if between else used
    if flags["renderer"] is not None:
        require_values({"llmaz": flags["renderer"]})
        if used := [*used, *(["--live"] if flags["dumps"] else [])]:
            raise click.UsageError(
                f"--llmaz compares two renderers of the work tree, so it cannot be used with {used[0]}"
            )
    if flags["dumps"]:
        _compare_live(context, [*used, *(["--exit-code"] if tells else [])], form, flags)
    if bool(older) != bool(newer):
        raise click.UsageError("--env-a and --env-b have to be used together")
    if older and (flags["env"] or between or flags["base"]):
        raise click.UsageError("--env-a and --env-b compare the work tree with itself, without BASE, --base or --env")
    _compare_sides(context, between or "", form, tells, flags)


def _revisions(between: str, options: RenderOptions, flags: dict[str, Any]) -> Sides:
    """Two revisions, or two environments."""
    from renderer.diff.sides import environments, revisions

    if flags["older"]:
        return environments(flags["older"], flags["newer"], options)
    return revisions(between, options, flags["base"] or "")


def _upgrade(text: str, options: RenderOptions) -> Sides:
    """Another llmaz and this one."""
    from renderer import __version__
    from renderer.check.programs.other_renderer import PACKAGE, renderer_source
    from renderer.diff.upgrade import upgrade

    source = renderer_source(text)
    if not source.wheel:
        print_line("text", f"pip fetches {PACKAGE} {source.version} and what it needs from the network")
    sides = upgrade(source, options)
    print_line("text", f"base: {source.name}; compared with llmaz {__version__}")
    return sides


def _compare_sides(context: click.Context, between: str, form: str, tells: bool, flags: dict[str, Any]) -> NoReturn:
    """Prints the difference between two revisions, two environments, or another llmaz and this one."""
    with report_failures():
        options = render_options(trailing_paths(context), flags)
        sides = _upgrade(flags["renderer"], options) if flags["renderer"] else _revisions(between, options, flags)
    if failed := report(sides.problems, "text", flags["strict"], brief=not flags["verbose"]):
        if form == "markdown":
            from renderer.diff.markdown import markdown_errors

            write(markdown_errors(sides.problems, sides.environment, flags["strict"], sides.risks))
        for risk in sides.risks:
            print_line("text", f"{risk.key.place}: {risk.title}: {risk.message}")
        exit_with_errors(failed)
    with report_failures():
        from renderer.diff.comparison import compare
        from renderer.diff.formats import FORMS

        comparison = compare(
            sides.before,
            sides.after,
            figures=sides.figures,
            currency=sides.currency,
            policies=sides.policies,
            quotas=sides.quotas,
            pathless=sides.pathless,
            replaced=sides.replaced,
            replaces=not flags["older"],
            show=flags["show"],
        )
        comparison = replace(comparison, notes=tuple(sides.notes), risks=(*sides.risks, *comparison.risks))
        text = FORMS[form](comparison, sides.environment)
    write(text)
    exit_with(STALE if tells and comparison.different else 0)


def _compare_live(context: click.Context, used: list[str], form: str, flags: dict[str, Any]) -> NoReturn:
    """Prints the difference between a dump of a cluster and what the tree renders. `used`: what does not go with it."""
    if used:
        raise click.UsageError(f"--live compares a dump with the work tree, so it cannot be used with {used[0]}")
    if form == "markdown":
        raise click.UsageError("--live has no markdown: use --format text or json")
    require_values({"live": flags["dumps"]})
    with report_failures():
        from renderer.diff.live.dump import compare_dump
        from renderer.diff.live.report import live_json, live_text

        options = replace(render_options(trailing_paths(context), flags), strict=False)
        comparison = compare_dump(flags["dumps"], options)
    failed = report(comparison.problems, "text", brief=not flags["verbose"])
    if comparison.report is None:
        exit_with_errors(failed)
    write((live_json if form == "json" else live_text)(comparison.report, show_values=flags["show"]))
    exit_with(STALE if flags["strict"] and comparison.report.lost + comparison.report.unexplained else 0)
