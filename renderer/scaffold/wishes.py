"""What a new repository shall be like: flags and what git knows, checked."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from renderer import git, tree
from renderer.gitops import asked
from renderer.gitops.places import address
from renderer.load.rule import Rule
from renderer.problems import Origin, Problem, RenderError, problem
from renderer.records import NamedTuple

UNKNOWN = "https://git.example/OWNER/REPOSITORY.git"  # where nobody says what the repository is
ACTION = "OWNER/llmaz-renderer@REF"  # as the templates of docs/ write it
SECRET = "llmaz-git"  # noqa: S105 - the name of one
HERE = "https://kubernetes.default.svc"

_ACTION = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9_][\w.-]*@[\w][\w./-]*", re.ASCII)
_SERVER = re.compile(r"https?://[A-Za-z0-9\[][\w.:\]-]*(?:/[\w./-]*)?", re.ASCII)
_CLUSTER = re.compile(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?", re.ASCII)
_BRANCH = re.compile(r"[A-Za-z0-9_][\w./-]*", re.ASCII)
_NO_BRANCH = re.compile(r"\.\.|//|/\.|\.lock(?:/|$)|[./]$|^refs/")
_FOLDER = re.compile(r"[\w./ +-]*")  # in YAML and a shell it stays what it is


class Wishes(NamedTuple):
    """How the repository shall be.

    `top`: the top of the git repository around the folder, '' is none; `below`: the folder as seen from there, with
    `/`, '' is the top itself; `origin`: whether it has a remote of that name; `tools`: the namespace of Argo CD or
    Flux; `secret`: of Flux, opens the repository.
    """

    engine: str
    ci: str
    demo: bool
    top: str
    below: str
    origin: bool
    repository: str
    branch: str
    namespace: str
    tools: str
    project: str
    destination: str
    secret: str
    action: str

    @property
    def known(self) -> bool:
        """Whether anybody said what the repository is."""
        return self.repository != UNKNOWN

    def inside(self, path: str) -> str:
        """A path of the folder as seen from the repository's top."""
        return f"{self.below}/{path}" if self.below else path


def wishes(folder: str, flags: Mapping[str, str | None], engine: str, ci: str | None, demo: bool) -> Wishes:
    """What flags, git and defaults come to. `flags`: by their words on the command line, None where not given.

    Raises RenderError with all that is wrong.
    """
    there = os.path.abspath(folder)
    while not os.path.isdir(there) and os.path.dirname(there) != there:
        there = os.path.dirname(there)
    top, remote, branch = _repository(there)
    below = os.path.relpath(os.path.realpath(folder), os.path.realpath(top)) if top else "."
    repository = flags.get("--repo-url") or remote or UNKNOWN
    made = Wishes(
        engine,
        ci or _ci(repository),
        demo,
        top,
        "" if below == "." else below.replace(os.sep, "/"),
        bool(remote),
        repository,
        flags.get("--branch") or branch or "main",
        flags.get("--namespace") or "llm",
        flags.get("--engine-namespace") or ("flux-system" if engine == "flux" else "argocd"),
        flags.get("--project") or "default",
        flags.get("--destination") or HERE,
        flags.get("--secret") or (SECRET if _by_key(repository) else ""),
        flags.get("--action") or ACTION,
    )
    found = _wrong(made)
    base, config = tree.base_of((there,))
    if config and os.path.realpath(base) != os.path.realpath(folder):
        found.append(problem("E766", Origin(Rule(os.path.normpath(folder))), config=os.path.relpath(config)))
    if found:
        raise RenderError(found)
    return made


def _ci(repository: str) -> str:
    """GitLab where the host's name says so."""
    host = re.split(r"[:/]", re.sub(r"^\w+://", "", repository).rpartition("@")[2])[0]
    return "gitlab" if "gitlab" in host.lower() else "github"


def _repository(folder: str) -> tuple[str, str, str]:
    """Top, remote and branch of the repository around a folder; empty where there is none, and without git."""
    try:
        top = git.top(folder)
        return top, git.remote(top), git.branch(top)
    except RenderError:
        return "", "", ""


def _by_key(repository: str) -> bool:
    """Whether it is read by ssh."""
    return repository.startswith("ssh://") or "://" not in repository


def _wrong(made: Wishes) -> list[Problem]:
    found: list[Problem] = []
    if made.known:
        found += address(made.repository)
    if made.repository.startswith("oci://") and not found:
        found.append(problem("E762", Origin(Rule("--repo-url")), value=made.repository))
    names = {"--namespace": made.namespace, "--engine-namespace": made.tools, "--project": made.project}
    for flag, value in {**names, **({"--secret": made.secret} if made.secret else {})}.items():
        try:
            asked(flag, value)
        except RenderError as error:
            found += error.problems
    if not _BRANCH.fullmatch(made.branch) or _NO_BRANCH.search(made.branch) or made.branch == "HEAD":
        found.append(problem("E761", Origin(Rule("--branch")), value=made.branch))
    if not (_SERVER if "://" in made.destination else _CLUSTER).fullmatch(made.destination):
        found.append(problem("E763", Origin(Rule("--destination")), value=made.destination))
    if not _ACTION.fullmatch(made.action):
        found.append(problem("E764", Origin(Rule("--action")), value=made.action))
    if made.ci != "none" and not _FOLDER.fullmatch(made.below):
        found.append(problem("E765", Origin(Rule("--ci")), value=made.below))
    return found
