"""The two sides of an upgrade: what another release of llmaz renders of the work tree, and what this one does."""

from __future__ import annotations

import os
import tempfile

from msgspec.structs import replace

from renderer import load, pipeline, resolve
from renderer.api import RenderOptions
from renderer.check.programs.other_renderer import RendererSource, render_by
from renderer.diagnostics import Diagnostic, RenderError, has_errors
from renderer.diff.sides import Sides
from renderer.output.leftover_files import folder_files
from renderer.output.manifest_files import OutputFile
from renderer.source.paths import read_file


def upgrade(source: RendererSource, options: RenderOptions) -> Sides:
    """The rendered files of the work tree by another llmaz, which is the base, and by this one. Raises RenderError."""
    options = load.for_one_environment(options, "llmaz diff")
    later = pipeline.render(replace(options, texts=True))
    if has_errors(later.problems, options.strict):
        return Sides([], [], later.problems, [], options.env)
    with tempfile.TemporaryDirectory(prefix="llmaz-") as scratch:
        output = os.path.join(os.path.realpath(scratch), "rendered")
        render_by(source, _render_arguments(options), output)
        before = _rendered_files(os.path.join(output, options.env))
    return Sides(
        before,
        later.texts,
        later.problems,
        [],
        options.env,
        figures=({}, later.figures),
        pathless=resolve.pathless_apps(later.inputs),
        replaced=resolve.replaced_names(later.inputs),
    )


def _render_arguments(options: RenderOptions) -> list[str]:
    """The words of `llmaz render` that say what these options do. Flags that are not needed are left out, since an
    older llmaz may not know them.
    """
    words = [f"--set={override}" for override in options.overrides]
    words += [f"--env={options.env}"] if options.env else []
    words += [f"--policy={options.policy}"] if options.policy else []
    words += ["--allow-empty"] if options.allow_empty else []
    return [*words, "--", *options.paths] if options.paths else words


def _rendered_files(folder: str) -> list[OutputFile]:
    """The manifests in an output folder. Raises RenderError for a folder that cannot be read."""
    problems: list[Diagnostic] = []
    paths = sorted(path for path, _ in folder_files(folder, problems) if path.endswith((".yaml", ".yml", ".json")))
    if problems:
        raise RenderError(problems)
    texts = [read_file(os.path.join(folder, path)).decode("utf-8", "replace") for path in paths]
    return [OutputFile(path, text.replace("\r\n", "\n")) for path, text in zip(paths, texts, strict=True)]
