"""llmaz inside Argo CD, as a Config Management Plugin: a sidecar that renders at every sync.

Argo CD runs it in the Application's folder of a temporary copy of the repository (`.git` may be missing), takes as
manifests what it prints, and fails on a code that is not 0. Nothing printed would be no failure, but a reason to delete
everything: so that is an error here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from renderer.load.rule import Rule
from renderer.problems import Origin, RenderError, problem
from renderer.records import NamedTuple

Body = dict[str, Any]

NAME = "llmaz"
_PARAMETERS, _FOLDER, _VARIABLE = "ARGOCD_APP_PARAMETERS", "ARGOCD_APP_SOURCE_PATH", "ARGOCD_ENV_LLMAZ_ENVIRONMENT"
_FORMS = {"environment": "string", "set": "array"}
_USER = 999  # Argo CD's own; the plugin's server refuses others

DOCKERFILE = """\
# The plugin's image. PYTHON: an image with Python 3.11 or newer, by digest. The wheel (make wheel) and plugin.yaml
# (llmaz argocd plugin config) lie beside this file.
ARG PYTHON
FROM ${PYTHON}
COPY *.whl /tmp/
RUN pip install --no-cache-dir /tmp/*.whl && rm /tmp/*.whl
COPY plugin.yaml /home/argocd/cmp-server/config/plugin.yaml
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUTF8=1
USER 999
"""


class Call(NamedTuple):
    """What Argo CD asks for. `root`: the copy of the repository; `path`: the Application's folder in it."""

    root: str
    path: str
    environment: str
    overrides: tuple[str, ...]


def call(around: Mapping[str, str], here: str) -> Call:
    """Reads the environment that Argo CD gives a plugin. Raises RenderError."""
    given = os.path.normpath(around.get(_FOLDER) or ".")
    root = _root(here, given)
    if not root:
        _wrong(_FOLDER, f"'{given}' is not the end of the current folder {here}")
    environment: str = around.get(_VARIABLE, "")
    overrides: tuple[str, ...] = ()
    for name, parameter in _parameters(around.get(_PARAMETERS) or "[]").items():
        if name not in _FORMS:
            _wrong(_PARAMETERS, f"there is no parameter '{name}', only environment and set")
        form = _FORMS[name]
        for other in sorted(parameter.keys() - {"name", form}):
            if parameter[other] or form not in parameter:
                _wrong(_PARAMETERS, f"the parameter '{name}' is given as {other}, where {form} is expected")
        if name == "environment":
            environment = _text(name, parameter.get("string", ""))
        else:
            array = parameter.get("array") or []
            if not isinstance(array, list):
                _wrong(_PARAMETERS, "the parameter 'set' is no array")
            overrides = tuple(_text(name, each) for each in array)
    return Call(root, given, environment, overrides)


def joined(texts: Iterable[tuple[str, str]]) -> str:
    """The files as one stream, in the order of their paths. Raises RenderError when there is nothing in it."""
    files = [text for path, text in sorted(texts) if path != "kustomization.yaml"]
    if not files:
        raise RenderError([problem("E727", Origin(Rule(".")))])
    return "---\n".join(text if text.endswith("\n") else f"{text}\n" for text in files)


def parameters(known: tuple[str, ...]) -> list[Body]:
    """What Argo CD's page shows for an Application of the plugin."""
    names = f"one of {', '.join(known)}" if known else "RenderConfig has none: leave it empty"
    return [
        {"name": "environment", "title": "Environment", "tooltip": names, "required": bool(known), "string": ""},
        {
            "name": "set",
            "title": "Overrides of RenderConfig",
            "tooltip": "KEY=VALUE, as for llmaz render --set",
            "collectionType": "array",
            "array": [],
        },
    ]


def config() -> Body:
    """plugin.yaml, which looks like an object of a cluster and is a file of the sidecar.

    No `discover`: with one, Argo CD asks it for plugins that are named too, and llmaz.yaml may lie above or be missing.
    """
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "ConfigManagementPlugin",
        "metadata": {"name": NAME},
        "spec": {
            "generate": {"command": ["llmaz", "argocd", "generate"]},
            "parameters": {"dynamic": {"command": ["llmaz", "argocd", "parameters"]}},
        },
    }


def patch(image: str, namespace: str) -> Body:
    """A strategic merge patch of argocd-repo-server: the sidecar."""
    mounts = [
        {"name": "var-files", "mountPath": "/var/run/argocd"},
        {"name": "plugins", "mountPath": "/home/argocd/cmp-server/plugins"},
        {"name": "llmaz-tmp", "mountPath": "/tmp"},  # noqa: S108 - its own, not that of all repositories
    ]
    sidecar = {
        "name": NAME,
        "image": image,
        "command": ["/var/run/argocd/argocd-cmp-server"],
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumeMounts": mounts,
    }
    pod = {"containers": [sidecar], "volumes": [{"name": "llmaz-tmp", "emptyDir": {}}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "argocd-repo-server", "namespace": namespace},
        "spec": {"template": {"spec": pod}},
    }


def _root(here: str, path: str) -> str:
    """The folder above, or this one, from which the path leads here, through links too; '' when there is none."""
    if os.path.isabs(path) or ".." in path.split(os.sep):
        return ""
    root = here
    while os.path.realpath(os.path.join(root, path)) != here:
        root, last = os.path.dirname(root), root
        if root == last:
            return ""
    return root


def _parameters(text: str) -> dict[str, Body]:
    try:
        listed = json.loads(text) or []
    except ValueError as error:
        _wrong(_PARAMETERS, f"it is no JSON: {error}")
    if not isinstance(listed, list) or not all(isinstance(each, dict) and each.get("name") for each in listed):
        _wrong(_PARAMETERS, "it is no list of parameters with a name")
    made: dict[str, Body] = {}
    for each in listed:
        if made.setdefault(str(each["name"]), each) is not each:
            _wrong(_PARAMETERS, f"the parameter '{each['name']}' is there twice")
    return made


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        _wrong(_PARAMETERS, f"the parameter '{name}' holds {json.dumps(value)}, which is no string")
    return value


def _wrong(variable: str, what: str) -> NoReturn:
    raise RenderError([problem("E726", Origin(Rule(variable)), what=what)])
