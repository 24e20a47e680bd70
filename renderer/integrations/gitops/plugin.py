"""llmaz as a Config Management Plugin of Argo CD: a sidecar that renders at every sync.

Argo CD runs it in the Application's folder of a temporary copy of the repository (`.git` may be missing), takes its
standard output as manifests, and fails on an exit code that is not 0. Empty output would make it delete all objects, so
that is an error here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import NoReturn

from msgspec import Struct

from renderer import __version__
from renderer.diagnostics import NamedSource, Origin, RenderError, make_diagnostic

Body = dict[str, object]

NAME = "llmaz"
IMAGE = f"ghcr.io/inftyai/llmaz-renderer:{__version__}"  # where release.yml pushes it
_PARAMETERS, _FOLDER, _VARIABLE = "ARGOCD_APP_PARAMETERS", "ARGOCD_APP_SOURCE_PATH", "ARGOCD_ENV_LLMAZ_ENVIRONMENT"
_FORMS = {"environment": "string", "set": "array"}
_USER = 999  # Argo CD's user; the plugin's server accepts no other

DOCKERFILE = """\
# The plugin's image, for a registry of your own. PYTHON: an image with Python 3.11 or newer, by digest. The wheel (of
# the release, or by make wheel) and plugin.yaml (llmaz argocd plugin config) lie beside this file.
ARG PYTHON
FROM ${PYTHON}
COPY *.whl /tmp/
RUN pip install --no-cache-dir /tmp/*.whl && rm /tmp/*.whl
COPY plugin.yaml /home/argocd/cmp-server/config/plugin.yaml
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUTF8=1
USER 999
"""


class PluginCall(Struct, frozen=True):
    """A call of the plugin."""

    root: str  # the copy of the repository
    path: str  # the Application's folder in it
    environment: str
    overrides: tuple[str, ...]


def parse_call(variables: Mapping[str, str], folder: str) -> PluginCall:
    """The call that Argo CD describes in environment variables. `folder`: the current folder. Raises RenderError."""
    path = os.path.normpath(variables.get(_FOLDER) or ".")
    root = _root(folder, path)
    if not root:
        _fail(_FOLDER, f"'{path}' is not the end of the current folder {folder}")
    environment: str = variables.get(_VARIABLE, "")
    overrides: tuple[str, ...] = ()
    for name, parameter in _parameters(variables.get(_PARAMETERS) or "[]").items():
        if name not in _FORMS:
            _fail(_PARAMETERS, f"there is no parameter '{name}', only environment and set")
        form = _FORMS[name]
        for key in sorted(parameter.keys() - {"name", form}):
            if parameter[key] or form not in parameter:
                _fail(_PARAMETERS, f"the parameter '{name}' is given as {key}, where {form} is expected")
        if name == "environment":
            environment = _text(name, parameter.get("string", ""))
        else:
            array = parameter.get("array") or []
            if not isinstance(array, list):
                _fail(_PARAMETERS, "the parameter 'set' is not an array")
            overrides = tuple(_text(name, item) for item in array)
    return PluginCall(root, path, environment, overrides)


def join_files(texts: Iterable[tuple[str, str]]) -> str:
    """The files as one YAML stream, sorted by path. Raises RenderError if there are none."""
    files = [text for path, text in sorted(texts) if path != "kustomization.yaml"]
    if not files:
        raise RenderError([make_diagnostic("E727", Origin(NamedSource(".")))])
    return "---\n".join(text if text.endswith("\n") else f"{text}\n" for text in files)


def parameters(environments: tuple[str, ...]) -> list[Body]:
    """The parameters that Argo CD's page shows for an Application of the plugin. `environments`: all environments."""
    names = f"one of {', '.join(environments)}" if environments else "RenderConfig has none: leave it empty"
    return [
        {"name": "environment", "title": "Environment", "tooltip": names, "required": bool(environments), "string": ""},
        {
            "name": "set",
            "title": "Overrides of RenderConfig",
            "tooltip": "KEY=VALUE, as for llmaz render --set",
            "collectionType": "array",
            "array": [],
        },
    ]


def config() -> Body:
    """The content of plugin.yaml, a file of the sidecar in the form of a Kubernetes object.

    It has no `discover`, since Argo CD would also apply it to plugins chosen by name, and llmaz.yaml may be in a parent
    or missing.
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
    """A strategic merge patch that adds the sidecar to argocd-repo-server."""
    mounts = [
        {"name": "var-files", "mountPath": "/var/run/argocd"},
        {"name": "plugins", "mountPath": "/home/argocd/cmp-server/plugins"},
        {"name": "llmaz-tmp", "mountPath": "/tmp"},  # noqa: S108 - a volume of its own
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


def _root(folder: str, path: str) -> str:
    """The ancestor from which `path` leads to `folder`, also through symlinks; '' if there is none."""
    if os.path.isabs(path) or ".." in path.split(os.sep):
        return ""
    root = folder
    while os.path.realpath(os.path.join(root, path)) != folder:
        root, previous = os.path.dirname(root), root
        if root == previous:
            return ""
    return root


def _parameters(text: str) -> dict[str, Body]:
    try:
        values = json.loads(text) or []
    except ValueError as error:
        _fail(_PARAMETERS, f"it is not JSON: {error}")
    if not isinstance(values, list) or not all(
        isinstance(parameter, dict) and parameter.get("name") for parameter in values
    ):
        _fail(_PARAMETERS, "it is not a list of parameters with a name")
    parameters_by_name: dict[str, Body] = {}
    for parameter in values:
        if parameters_by_name.setdefault(str(parameter["name"]), parameter) is not parameter:
            _fail(_PARAMETERS, f"the parameter '{parameter['name']}' is there twice")
    return parameters_by_name


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        _fail(_PARAMETERS, f"the parameter '{name}' holds {json.dumps(value)}, which is not a string")
    return value


def _fail(variable: str, what: str) -> NoReturn:
    raise RenderError([make_diagnostic("E726", Origin(NamedSource(variable)), what=what)])
