"""Where each environment is read from, and where it goes to: flags and defaults, checked."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence

from renderer.gitops.settings import Tree, apps, layout, wanted
from renderer.load.rule import Rule
from renderer.problems import Origin, Problem, RenderError, guess, problem
from renderer.records import NamedTuple

_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,38}[a-z0-9])?")
_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")
_SECRET = re.compile(r"\w+://[^/@]*:[^/]*@")
_USER = re.compile(r"(?:https?|oci)://[^/?#]*@", re.IGNORECASE)
_TOKEN = re.compile(r"\w+://[^?]*\?.*(?:token|passw|secret|key|auth|sig)[^&=]*=", re.IGNORECASE)
_TAGGED = re.compile(r"oci://[^/]*/[^:@]*[:@](.+)")
_HELD = {"password": _SECRET, "user, which may be a token": _USER, "token": _TOKEN}
_CREDENTIALS = "leave it out: Argo CD and Flux keep credentials in Secrets of their own"
_ADDRESS = "write --repo-url https://host/path, ssh://git@host/path or oci://host/path"


class Place(NamedTuple):
    """One environment. `name`: of what is made for it; `folder`: in the repository; `given`: the flags, filled in."""

    name: str
    environment: str
    repository: str
    folder: str
    layout: str
    given: Mapping[str, str]


def asked(flag: str, value: str) -> str:
    """The value of a flag that names an object. Raises RenderError for what cannot be one."""
    if not _LABEL.fullmatch(value):
        what = "small letters, digits and -, at most 63"
        raise RenderError([problem("E721", Origin(Rule(flag)), value=value, what=what)])
    return value


def workload(flag: str, value: str) -> tuple[str, str]:
    """Namespace and name. Raises RenderError."""
    namespace, _, name = value.partition("/")
    if not _LABEL.fullmatch(namespace) or not _LABEL.fullmatch(name):
        raise RenderError([problem("E721", Origin(Rule(flag)), value=value, what="NAMESPACE/NAME")])
    return namespace, name


def known(handed: Sequence[tuple[str, str]], environments: Iterable[str]) -> None:
    """Raises RenderError for a workload that no app makes. Its name is that of an app, or begins with it and a -."""
    there = apps(environments) if handed else []
    found = []
    for namespace, name in handed if there else ():
        if not any(namespace == each[0] and f"{name}-".startswith(f"{each[1]}-") for each in there):
            words = {"value": f"'{namespace}/{name}'", "what": "is made from nothing in the input"}
            hint = guess(f"{namespace}/{name}", ["/".join(each) for each in there])
            found.append(problem("E723", Origin(Rule("--hand-over")), **words, hint=hint))
    if found:
        raise RenderError(found)


def revision(default: str, repository: str | None) -> str:
    """What is read when nobody says: of an artifact the tag of the recipe in docs/flux.md."""
    return "live" if (repository or "").startswith("oci://") else default


def address(url: str) -> list[Problem]:
    """What speaks against --repo-url: nothing, where a cluster can read there."""
    words: dict[str, str]
    if held := next((what for what, secret in _HELD.items() if secret.match(url)), ""):
        words = {"value": "the URL", "what": f"holds a {held}", "hint": _CREDENTIALS}
    elif tagged := _TAGGED.fullmatch(url):
        hint = f"write it as --revision {tagged[1]}"
        words = {"value": f"'{url}'", "what": "names a version of the artifact", "hint": hint}
    elif not re.match(r"(?:https?|ssh|oci)://[^/]|[\w.-]+@[\w.-]+:[^/]", url) or re.search(r"\s", url):
        what = "is no address of a repository that a cluster can reach"
        words = {"value": f"'{url}'", "what": what, "hint": _ADDRESS}
    else:
        return []
    return [problem("E723", Origin(Rule("--repo-url")), **words)]


def places(
    tree: Tree, name: str, repository: str | None, folder: str | None, named: tuple[str, ...], given: Mapping[str, str]
) -> list[Place]:
    """One for each environment that is wanted. `{env}` in a flag's value stands for its name. Raises RenderError."""
    environments = wanted(tree.environments, named)
    many = len(environments) > 1
    found: list[Problem] = []
    url = repository or tree.repository
    if not url:
        found.append(problem("E720", Origin(Rule("--repo-url"))))
    else:
        found += address(url)
    if not _NAME.fullmatch(name):
        what = "small letters, digits and -, at most 40"
        found.append(problem("E721", Origin(Rule("--name")), value=name, what=what))
    for flag, value in {"--path": folder or "", **given}.items():
        if many and value and flag in ("--path", "--destination-name", "--destination-server") and "{env}" not in value:
            found.append(problem("E724", Origin(Rule(flag)), value=value, names=", ".join(environments)))
    top = "." if url.startswith("oci://") else tree.folder
    wholly = folder or (f"{top}/{{env}}" if environments != ("",) else top)
    made = []
    for environment in environments:
        path = posixpath.normpath(wholly.replace("{env}", environment))
        if path.startswith(("/", "../")) or path == "..":
            found.append(problem("E722", Origin(Rule("--path")), path=path))
        filled = {flag: value.replace("{env}", environment) for flag, value in given.items()}
        whole = f"{name}-{environment}" if environment else name
        made.append(Place(whole, environment, url, path, layout(environment), filled))
    if found:
        raise RenderError(found)
    return made


def distinct(names: Mapping[str, list[str]]) -> None:
    """Nothing when each name is made once. Raises RenderError."""
    if twice := {name: owners for name, owners in names.items() if len(owners) > 1}:
        raise RenderError(
            problem("E725", Origin(Rule("--name")), name=name, owners=" and ".join(owners))
            for name, owners in twice.items()
        )
