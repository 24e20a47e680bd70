"""The options of a new repository, from flags, git and defaults, validated."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from msgspec import Struct

from renderer.diagnostics import Diagnostic, NamedSource, Origin, RenderError, make_diagnostic
from renderer.integrations.gitops import validate_name
from renderer.integrations.gitops.repository_url import check_address
from renderer.source import git, tree

UNKNOWN = "https://git.example/replace/this.git"  # placeholder for an unknown URL
ACTION = "OWNER/llmaz-renderer@REF"  # as the templates of docs/ write it; where nobody says another, a step fails
SECRET = "llmaz-git"  # noqa: S105 - the name of a Secret
IN_CLUSTER = "https://kubernetes.default.svc"

_ACTION = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9_][\w.-]*@[\w][\w./-]*", re.ASCII)
_SERVER = re.compile(r"https?://[A-Za-z0-9\[][\w.:\]-]*(?:/[\w./-]*)?", re.ASCII)
_CLUSTER = re.compile(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?", re.ASCII)
_BRANCH = re.compile(r"[A-Za-z0-9_][\w./-]*", re.ASCII)
_NO_BRANCH = re.compile(r"\.\.|//|/\.|\.lock(?:/|$)|[./]$|^refs/")
_FOLDER = re.compile(r"[\w./ +-]*")  # needs no quotes in YAML and in a shell


class ScaffoldOptions(Struct, frozen=True):
    """The options of a new repository."""

    engine: str  # argocd, flux or none
    ci: str  # github, gitlab or none
    demo: bool
    top: str  # of the git repository around the folder, '' without one
    below: str  # the folder relative to `top`, with `/`, '' for the top itself
    origin: bool  # the repository has a remote of that name
    repository: str
    branch: str
    namespace: str
    tools: str  # the namespace of Argo CD or Flux
    project: str
    destination: str
    secret: str  # the name of the Secret by which Flux reads the repository
    action: str

    @property
    def known(self) -> bool:
        """Whether the URL of the repository is known."""
        return self.repository != UNKNOWN

    @property
    def workflow_file(self) -> str:
        """The path of the CI file, relative to the top of the repository; '' for none."""
        return {"github": ".github/workflows/llmaz.yml", "gitlab": ".gitlab-ci.yml", "none": ""}[self.ci]

    def inside(self, path: str) -> str:
        """A path of the folder, relative to the top of the repository."""
        return f"{self.below}/{path}" if self.below else path


def scaffold_options(
    folder: str, flags: Mapping[str, str | None], engine: str, ci: str | None, demo: bool
) -> ScaffoldOptions:
    """The validated options from flags, git and defaults. `flags`: values by `--name`, None where not given.

    Raises RenderError with all diagnostics.
    """
    existing = os.path.abspath(folder)
    while not os.path.isdir(existing) and os.path.dirname(existing) != existing:
        existing = os.path.dirname(existing)
    top, remote, branch = _repository(existing)
    below = os.path.relpath(os.path.realpath(folder), os.path.realpath(top)) if top else "."
    repository = flags.get("--repo-url") or remote or UNKNOWN
    options = ScaffoldOptions(
        engine=engine,
        ci=ci or _ci(repository),
        demo=demo,
        top=top,
        below="" if below == "." else below.replace(os.sep, "/"),
        origin=bool(remote),
        repository=repository,
        branch=flags.get("--branch") or branch or "main",
        namespace=flags.get("--namespace") or "llm",
        tools=flags.get("--gitops-namespace") or ("flux-system" if engine == "flux" else "argocd"),
        project=flags.get("--project") or "default",
        destination=flags.get("--destination") or IN_CLUSTER,
        secret=flags.get("--secret") or (SECRET if _is_read_by_ssh(repository) else ""),
        action=flags.get("--action") or ACTION,
    )
    diagnostics = _validate(options)
    base, config = tree.base_of((existing,))
    if config and os.path.realpath(base) != os.path.realpath(folder):
        diagnostics.append(
            make_diagnostic("E766", Origin(NamedSource(os.path.normpath(folder))), config=os.path.relpath(config))
        )
    if diagnostics:
        raise RenderError(diagnostics)
    return options


def _ci(repository: str) -> str:
    """`gitlab` if the host of the URL contains that word, else `github`."""
    host = re.split(r"[:/]", re.sub(r"^\w+://", "", repository).rpartition("@")[2])[0]
    return "gitlab" if "gitlab" in host.lower() else "github"


def _repository(folder: str) -> tuple[str, str, str]:
    """Top, URL of `origin` and branch of the repository around a folder; all '' without a repository or git."""
    try:
        top = git.top(folder)
        return top, git.remote(top), git.branch(top)
    except RenderError:
        return "", "", ""


def _is_read_by_ssh(repository: str) -> bool:
    """Whether the URL is read by ssh, and so with a key."""
    return repository.startswith("ssh://") or "://" not in repository


def _validate(options: ScaffoldOptions) -> list[Diagnostic]:
    diagnostics: list[Diagnostic] = []
    if options.known:
        diagnostics += check_address(options.repository)
    if options.repository.startswith("oci://") and not diagnostics:
        diagnostics.append(make_diagnostic("E762", Origin(NamedSource("--repo-url")), value=options.repository))
    named_flags = {"--namespace": options.namespace, "--gitops-namespace": options.tools, "--project": options.project}
    for flag, value in {**named_flags, **({"--secret": options.secret} if options.secret else {})}.items():
        try:
            validate_name(flag, value)
        except RenderError as error:
            diagnostics += error.problems
    if not _BRANCH.fullmatch(options.branch) or _NO_BRANCH.search(options.branch) or options.branch == "HEAD":
        diagnostics.append(make_diagnostic("E761", Origin(NamedSource("--branch")), value=options.branch))
    if not (_SERVER if "://" in options.destination else _CLUSTER).fullmatch(options.destination):
        diagnostics.append(make_diagnostic("E763", Origin(NamedSource("--destination")), value=options.destination))
    if not _ACTION.fullmatch(options.action):
        diagnostics.append(make_diagnostic("E764", Origin(NamedSource("--action")), value=options.action))
    if options.ci != "none" and not _FOLDER.fullmatch(options.below):
        diagnostics.append(make_diagnostic("E765", Origin(NamedSource("--ci")), value=options.below))
    return diagnostics
