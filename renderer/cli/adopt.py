"""llmaz adopt."""

from __future__ import annotations

import click

from renderer.cli.console import FORMATS, INVALID, STALE, exit_with, print_line, report, report_failures
from renderer.diagnostics import counted

_SHOWN = 5  # objects that are left alone


@click.command(short_help="Write the input for what runs today.")
@click.argument("paths", nargs=-1, required=True)
@click.option("-o", "--output", "folder", default="adopted", show_default=True, metavar="DIR", help="Where to write.")
@click.option("--strict", is_flag=True, help="Exit 1 also where the new pods differ in a way that no rule explains.")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="How problems are printed."
)
def adopt(paths: tuple[str, ...], folder: str, strict: bool, form: str) -> None:
    """Write OpenModels and Playgrounds for what serves models today.

    PATHS: files and folders of manifests, and what kubectl get -o yaml prints.

    Nothing is written into a folder that has files. Exit 0: all is adopted; 1: some of it is lost or refused; 2:
    nothing is adopted.
    """
    with report_failures(form):
        from renderer.adopt.adoption import REFUSED
        from renderer.adopt.adoption import adopt as adopt_paths
        from renderer.adopt.target_folder import require_empty, write_files

        require_empty(folder)
        adoption = adopt_paths(paths, folder)
        if adoption.files:
            write_files(folder, adoption.files)
    report(adoption.problems, form, strict=False)
    for adopted in adoption.objects:
        print_line(form, f"{adopted.state or 'beside':8} {adopted.name} → {adopted.becomes}")
    if adoption.left:
        more = f" and {len(adoption.left) - _SHOWN} more" if len(adoption.left) > _SHOWN else ""
        print_line(form, f"left     {', '.join(adoption.left[:_SHOWN])}{more}")
    states = [adopted.state for adopted in adoption.objects if adopted.state]
    if not adoption.files:
        print_line(form, f"nothing adopted, {counted(states.count(REFUSED), 'workload')} refused; nothing was written")
        exit_with(INVALID)
    print_line(
        form,
        f"{counted(states.count('adopted'), 'workload')} adopted, {states.count('in part')} in part, "
        f"{states.count('refused')} refused → {folder}/: {counted(len(adoption.files), 'file')}",
    )
    exit_with(0 if {*states} == {"adopted"} else STALE)
