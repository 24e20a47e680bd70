"""The scope of a run: its RenderConfig, the input files below PATHS, the output folder, the policies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from msgspec.structs import replace

from renderer.api import RenderConfig, RenderOptions, Scope
from renderer.diagnostics import NamedSource, Origin, RenderError, Source, make_diagnostic
from renderer.load.environments import environment_names, only_environment
from renderer.load.render_config import parse_override, render_config
from renderer.load.render_policy import render_policies
from renderer.source import tree
from renderer.text.suggestions import closest

_SIMILAR = 0.75  # from which on a name is taken for a misspelt one


def output_folder(base: str, config: RenderConfig | None) -> str:
    """The folder of the output, below the base, as RenderConfig names it."""
    return os.path.join(base, str((config and config.get("output", "dir")) or "rendered"))


def scope(options: RenderOptions) -> Scope:
    """RenderConfig and the input files of a run. Raises RenderError for bad overrides and missing paths."""
    cwd = os.getcwd()
    overrides = [parse_override(text) for text in options.overrides]
    file_system = options.file_system
    require_paths(options.paths, file_system.exists)
    base, config_path = file_system.base_of(options.paths)
    config_name = os.path.relpath(config_path, cwd) if config_path else ""
    skipped_keys, env = options.skipped_keys, options.env
    config, problems = render_config(config_path, config_name, overrides, file_system, skipped_keys, env)
    paths = options.paths or (os.path.relpath(base, cwd) if config_path else ".",)
    output = output_folder(base, config) if options.output is None else options.output
    folder = os.path.relpath(os.path.abspath(output), cwd)
    if options.compares:
        tree.refuse_links(output)
    real_output = os.path.realpath(output) + os.sep
    if options.compares and any((os.path.realpath(path) + os.sep).startswith(real_output) for path in paths):
        raise RenderError([make_diagnostic("E143", Origin(NamedSource(folder)))])
    ignore = config.get("ignore") or ()
    files = file_system.folder(base, paths, ignore, folder)
    keys = [os.path.relpath(os.path.abspath(path), base).replace(os.sep, "/") for path in paths]
    pruned_paths = () if "." in keys else tuple(keys)
    if pruned_paths and config_path:
        files = replace(files, other_files=file_system.other_files(base, paths, ignore, folder))
    env_folder = f"{folder}/{env}" if env else folder
    policies, policy_problems = render_policies(options, base)
    problems += policy_problems
    return Scope(options, config, config_path, files, env_folder, pruned_paths, tuple(problems), policies=policies)


def require_paths(paths: Iterable[str], exists: Callable[[str], bool]) -> None:
    """Raises RenderError for paths that do not exist."""
    if missing := [path for path in paths if not exists(path)]:
        raise RenderError(make_diagnostic("E122", Origin(NamedSource(path)), hint=_near(path)) for path in missing)


def _near(path: str) -> str:
    """A hint that names what has nearly this name on disk; '' for nothing."""
    folder, name = os.path.split(path.rstrip("/"))
    try:
        names = [entry for entry in os.listdir(folder or ".") if entry != name]
    except OSError:
        return ""
    near = closest(name, names, _SIMILAR) if name else ""
    return f"did you mean '{os.path.join(folder, near)}'?" if near else ""


def scopes(options: RenderOptions, first: Scope | None = None) -> tuple[str, list[Scope]]:
    """The output folder, and a Scope for each environment to render; without environments a single one.
    `first`: the result of `scope(options)` where the caller has it already.
    """
    first = first or scope(options)
    if options.env:
        return os.path.dirname(first.folder), [first]
    names = environment_names(first.config.document)
    return first.folder, [scope(replace(options, env=name)) for name in names] or [first]


def rendered_environments(options: RenderOptions) -> tuple[str, ...]:
    """The environments that a run with these options renders, in RenderConfig's order. Raises RenderError."""
    return (options.env,) if options.env else environment_names(_config(options))


def for_one_environment(options: RenderOptions, what: str) -> RenderOptions:
    """The options with the only environment chosen, since `what` handles just one. Raises RenderError for several."""
    return options if options.env else replace(options, env=only_environment(_config(options), what))


def _config(options: RenderOptions) -> Source:
    """The document of RenderConfig, or a NamedSource in its place."""
    _, path = options.file_system.base_of(options.paths)
    name = os.path.relpath(path) if path else ""
    return render_config(path, name, (), options.file_system, options.skipped_keys)[0].document
