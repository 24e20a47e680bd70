"""llmaz adopt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from renderer.cli.console import (
    FORMATS,
    INVALID,
    STALE,
    complete_files,
    examples,
    exit_with,
    print_line,
    report,
    report_failures,
)
from renderer.cli.standard_streams import write
from renderer.diagnostics import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from renderer.adopt.adoption import AdoptedObject, Adoption
    from renderer.diff.live.records import LiveReport

_SHOWN = 5  # objects that are left alone


def _release(context: click.Context, option: click.Parameter, release: str) -> str:
    """The validated value of --release."""
    from renderer.adopt.operator_releases import release_names

    if release and release not in release_names():
        raise click.BadParameter(f"no release '{release}': {', '.join(release_names())}", context, option)
    return release


def _name(context: click.Context, option: click.Parameter, name: str) -> str:
    """The validated value of --as."""
    from renderer.resolve.names import is_dns_label

    if name and not is_dns_label(name):
        raise click.BadParameter("a name is at most 63 lower-case letters, digits and '-'", context, option)
    return name


@click.command(
    short_help="Write llmaz input for workloads that run today.",
    epilog=examples("llmaz adopt running.yaml -o adopted", "llmaz adopt running.yaml -o new --format json"),
)
@click.argument("paths", nargs=-1, required=True, shell_complete=complete_files)
@click.option("-o", "--output", "folder", default="adopted", show_default=True, metavar="DIR", help="Where to write.")
@click.option("--strict", is_flag=True, hidden=True, expose_value=False, help="As without it.")  # of earlier versions
@click.option(
    "--release",
    default="",
    metavar="TAG",
    callback=_release,
    help="The release of the llmaz operator that runs these objects, such as v0.1.4. The engine versions of that "
    "release are written into the input.",
)
@click.option(
    "--as",
    "name",
    default="",
    metavar="NAME|same",
    callback=_name,
    help="The name of the new workload, or same: a Deployment keeps its name and its selector, and a rollout replaces "
    "its pods. Default: another name where the old workload cannot be changed into the new one.",
)
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Also list the differences that a rule explains, and each of the objects that are alike.",
)
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="How problems are printed."
)
def adopt(paths: tuple[str, ...], folder: str, release: str, name: str, verbose: bool, form: str) -> None:
    """Write OpenModels and Playgrounds for existing model servers.

    PATHS: files and folders with manifests, or with the output of kubectl get -o yaml; - is standard input, such as the
    output of helm template.

    Nothing is written into a folder that has files. Exit 0: everything is adopted; 1: some of it is lost or refused, or
    differs without a known rule; 2: nothing is adopted.
    """
    if not folder.strip():
        raise click.UsageError("DIR has no value")
    with report_failures(form):
        from renderer.adopt.adoption import adopt as adopt_paths
        from renderer.adopt.target_folder import require_empty, write_files

        require_empty(folder)
        adoption = adopt_paths(paths, folder, release, name)
        if adoption.files:
            write_files(folder, adoption.files)
        live_report = _compare(adoption) if adoption.rendered and (adoption.workloads or adoption.beside) else None
    report(adoption.problems, form, brief=not verbose)
    for line in _object_lines(adoption.objects, brief=not verbose):
        print_line(form, line)
    if adoption.left:
        more = f" and {len(adoption.left) - _SHOWN} more" if len(adoption.left) > _SHOWN else ""
        print_line(form, f"left     {', '.join(adoption.left[:_SHOWN])}{more}")
    states = [item.state for item in adoption.objects if item.state]
    refused = counted(states.count("refused"), "object")
    if not adoption.files:
        print_line(form, f"nothing adopted, {refused} refused; nothing was written")
        exit_with(INVALID)
    if live_report and form == "text":
        from renderer.adopt.steps import takeover_text
        from renderer.diff.live.report import live_text

        write(live_text(live_report, brief=not verbose) + takeover_text(adoption, brief=not verbose))
    files, adopted = counted(len(adoption.files), "file"), counted(states.count("adopted"), "object")
    print_line(form, f"{adopted} adopted, {states.count('in part')} in part, {refused} refused → {folder}/: {files}")
    differs = live_report is not None and live_report.lost + live_report.unexplained > 0
    exit_with(STALE if adoption.loses or differs else 0)


def _object_lines(objects: Sequence[AdoptedObject], *, brief: bool) -> Iterator[str]:
    """What becomes of each object; `brief`: of those beside the workloads with which the same is done, of the first,
    with the number of the others.
    """
    from renderer.text.folding import folded

    for item, others in folded(objects, lambda item: (item.group or None) if brief else None):
        yield f"{item.state or 'beside':8} {item.name} → {item.becomes}"
        if others:
            yield f"         and {others:,} more {item.group}: -v"


def _compare(adoption: Adoption) -> LiveReport:
    """How what the tree renders differs from what runs."""
    from renderer.adopt.comparison import compare_adoption

    return compare_adoption(adoption)
