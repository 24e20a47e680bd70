"""The source and destination of each environment, from flags and defaults, validated."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from renderer.diagnostics import Diagnostic, NamedSource, Origin, RenderError, make_diagnostic, suggestion
from renderer.integrations.gitops.rendered_tree import RenderedTree, apps, layout, select_environments
from renderer.integrations.gitops.repository_url import check_address

_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,38}[a-z0-9])?")
_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")


class EnvironmentSource(Struct, frozen=True):
    """Where the rendered files of one environment are."""

    name: str  # of its objects
    environment: str
    repository: str
    folder: str  # in the repository
    layout: str
    flags: Mapping[str, str]  # by `--name`, with `{env}` replaced


def validate_name(flag: str, value: str) -> str:
    """The value of a flag that names an object. Raises RenderError for an invalid name."""
    if not _LABEL.fullmatch(value):
        what = "small letters, digits and -, at most 63"
        raise RenderError([make_diagnostic("E721", Origin(NamedSource(flag)), value=value, what=what)])
    return value


def parse_workload(flag: str, value: str) -> tuple[str, str]:
    """Namespace and name of a flag's value NAMESPACE/NAME. Raises RenderError."""
    namespace, _, name = value.partition("/")
    if not _LABEL.fullmatch(namespace) or not _LABEL.fullmatch(name):
        raise RenderError([make_diagnostic("E721", Origin(NamedSource(flag)), value=value, what="NAMESPACE/NAME")])
    return namespace, name


def check_workloads(workloads: Sequence[tuple[str, str]], environments: Iterable[str]) -> None:
    """Raises RenderError for a workload of no app. Its name must be an app's name, or begin with that and `-`."""
    all_apps = apps(environments) if workloads else []
    diagnostics = []
    for namespace, name in workloads if all_apps else ():
        if not any(namespace == app[0] and f"{name}-".startswith(f"{app[1]}-") for app in all_apps):
            words = {"value": f"'{namespace}/{name}'", "what": "is not rendered from this input"}
            hint = suggestion(f"{namespace}/{name}", ["/".join(app) for app in all_apps])
            diagnostics.append(make_diagnostic("E723", Origin(NamedSource("--hand-over")), **words, hint=hint))
    if diagnostics:
        raise RenderError(diagnostics)


def default_revision(default: str, repository: str | None) -> str:
    """The revision without --revision: for an OCI artifact the tag of docs/flux.md, else the default."""
    return "live" if (repository or "").startswith("oci://") else default


def environment_sources(
    tree: RenderedTree,
    name: str,
    repository: str | None,
    folder: str | None,
    requested: tuple[str, ...],
    flags: Mapping[str, str],
) -> list[EnvironmentSource]:
    """The source of each requested environment, or of all. `{env}` in values of flags stands for its name.

    `flags`: the other flags by `--name`. Raises RenderError.
    """
    environments = select_environments(tree.environments, requested)
    several = len(environments) > 1
    diagnostics: list[Diagnostic] = []
    url = repository or tree.repository
    if not url:
        diagnostics.append(make_diagnostic("E720", Origin(NamedSource("--repo-url"))))
    else:
        diagnostics += check_address(url)
    if not _NAME.fullmatch(name):
        what = "small letters, digits and -, at most 40"
        diagnostics.append(make_diagnostic("E721", Origin(NamedSource("--name")), value=name, what=what))
    for flag, value in {"--path": folder or "", **flags}.items():
        if (
            several
            and value
            and flag in ("--path", "--destination-name", "--destination-server")
            and "{env}" not in value
        ):
            diagnostics.append(
                make_diagnostic("E724", Origin(NamedSource(flag)), value=value, names=", ".join(environments))
            )
    top = "." if url.startswith("oci://") else tree.folder
    path_template = folder or (f"{top}/{{env}}" if environments != ("",) else top)
    sources = []
    for environment in environments:
        path = posixpath.normpath(path_template.replace("{env}", environment))
        if path.startswith(("/", "../")) or path == "..":
            diagnostics.append(make_diagnostic("E722", Origin(NamedSource("--path")), path=path))
        filled = {flag: value.replace("{env}", environment) for flag, value in flags.items()}
        full_name = f"{name}-{environment}" if environment else name
        sources.append(EnvironmentSource(full_name, environment, url, path, layout(environment), filled))
    if diagnostics:
        raise RenderError(diagnostics)
    return sources


def check_distinct(names: Mapping[str, list[str]]) -> None:
    """Raises RenderError if a name has several owners. `names`: owners by name."""
    if duplicates := {name: owners for name, owners in names.items() if len(owners) > 1}:
        raise RenderError(
            make_diagnostic("E725", Origin(NamedSource("--name")), name=name, owners=" and ".join(owners))
            for name, owners in duplicates.items()
        )
