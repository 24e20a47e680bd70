"""What a new repository holds, path by path."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from renderer import __version__, load, template, yamlio
from renderer.gitops import Place, health
from renderer.gitops.applications import Ways, applications
from renderer.gitops.flux import kustomizations
from renderer.scaffold.wishes import ACTION, HERE, Wishes
from renderer.yamlio import Document

Body = dict[str, Any]

FILES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "files")
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# In a wheel it lies inside the package, in a checkout beside it.
CHART = next(
    (
        folder
        for folder in (os.path.join(top, "charts", "llmaz") for top in (_PACKAGE, os.path.dirname(_PACKAGE)))
        if os.path.isdir(folder)
    ),
    "",
)
GATEWAY = "llmaz-system"  # RenderConfig's gateway.namespace, unsaid

_WAVE = "argocd.argoproj.io/sync-wave"


def contents(made: Wishes) -> dict[str, str]:
    """Path, as seen from the new folder or absolute, and text of each file."""
    texts = dict(_input(made))
    texts |= {f"platform/llmaz/{path}": text for path, text in _chart()}
    texts |= dict(_platform(made))
    texts |= dict({"argocd": _argocd, "flux": _flux, "none": _nothing}[made.engine](made))
    texts |= dict(_workflow(made))
    return {"README.md": _readme(made), **texts}


def tops(texts: Iterable[str]) -> list[str]:
    """What stands at the top of the new folder, and what does not lie in it."""
    made = {os.path.relpath(path) if os.path.isabs(path) else re.sub("/.*", "/", path) for path in texts}
    return sorted(made, key=lambda name: (name.startswith("."), name.lower()))


def commands(folder: str, made: Wishes) -> list[str]:
    """What to type next: render; commit and push; bootstrap."""
    there = os.path.normpath(folder)
    enter = [] if there == "." else [f"cd {'./' if there.startswith('-') else ''}{shlex.quote(there)}"]
    return [" && ".join(each) for each in ([*enter, "llmaz render"], _push(made), _begin(made))]


def missing(made: Wishes) -> list[str]:
    """What nobody has said, and where it is to be written."""
    said = []
    if not made.known and made.engine != "none":
        said.append(f"no --repo-url, and no remote 'origin': in bootstrap/ put yours for {made.repository}")
    if made.ci == "github" and made.action == ACTION:
        said.append(f"no --action: in .github/workflows/llmaz.yml put your copy of llmaz's repository for {ACTION}")
    if made.ci == "gitlab":
        said.append("in .gitlab-ci.yml pip needs the index that holds llmaz's wheel")
    return said


def _push(made: Wishes) -> list[str]:
    """Commits and pushes; what is missing for it is made before."""
    branch = shlex.quote(made.branch)
    aside = [os.path.relpath(file, made.below) for file in [_workflow_file(made)] if file and made.below]
    steps = [
        " ".join(["git add .", *map(shlex.quote, aside)]),
        "git commit --message 'Models, and the platform for them'",
    ]
    if not made.top:
        steps.insert(0, f"git init --initial-branch {branch}")
    if not made.origin:
        steps.append(f"git remote add origin {shlex.quote(made.repository)}")
    return [*steps, f"git push origin HEAD:{branch}"]


def _begin(made: Wishes) -> list[str]:
    """Gives the cluster what it has to know."""
    if made.engine == "none":
        apply = "kubectl apply --server-side"
        return [f"{apply} --filename extra", f"{apply} --recursive --filename rendered"]
    steps = ["kubectl apply --filename bootstrap/root.yaml"]
    if made.engine == "argocd":
        patch = "patch configmap argocd-cm --patch-file bootstrap/argocd-cm.yaml"
        steps.insert(0, f"kubectl --namespace {made.tools} {patch}")
    return steps


# --- input ------------------------------------------------------------------------------------------------------------


def _input(made: Wishes) -> Iterator[tuple[str, str]]:
    playground = _playground(made)
    name = _model(playground)
    yield "playgrounds/chat.yaml", playground.data.decode()
    yield f"models/{name}.yaml", _preset(name)
    gateway: Body = {"create": True}
    if made.demo:
        gateway["replicas"] = 1
    ignored = ["bootstrap/**", "platform/**", *([".gitlab-ci.yml"] if made.ci == "gitlab" else [])]
    config = {
        "apiVersion": "renderer.llmaz.io/v1alpha1",
        "kind": "RenderConfig",
        "metadata": {"name": "config"},
        "spec": {
            "namespace": made.namespace,
            "ignore": ignored,
            "passThrough": ["extra/**"],
            "gateway": gateway,
        },
    }
    yield "llmaz.yaml", _written([config], "What holds for all models. Every key: `llmaz schema renderconfig`.")
    names = list(dict.fromkeys((made.namespace, GATEWAY)))
    yield (
        "extra/namespaces.yaml",
        _written(map(_namespace, names), "Of models, and of the Gateway. Neither tool deletes one."),
    )


def _playground(made: Wishes) -> Document:
    name = "cpu-demo.yaml" if made.demo else "gpu.yaml"
    return yamlio.parse(name, _shipped(name).encode())[0][0]


def _model(playground: Document) -> str:
    name: str = playground.value["spec"]["modelClaim"]["modelName"]
    return name


def _preset(name: str) -> str:
    """The text of a model preset, less the line that leads editors to a schema beside it."""
    with open(os.path.join(load.PRESETS, "models", f"{name}.yaml"), encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("# yaml-language-server:")]
    return f"# From the preset of llmaz {__version__}; llmaz presets diff {name} compares them.\n" + "".join(lines)


def _namespace(name: str) -> Body:
    annotations = {"argocd.argoproj.io/sync-options": "Prune=false", "kustomize.toolkit.fluxcd.io/prune": "disabled"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "annotations": annotations}}


# --- platform ---------------------------------------------------------------------------------------------------------


def _chart() -> Iterator[tuple[str, str]]:
    """Path and text of each file of our chart."""
    for folder, folders, names in os.walk(CHART):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8", newline="") as file:
                yield os.path.relpath(path, CHART).replace(os.sep, "/"), file.read()


def _platform(made: Wishes) -> Iterator[tuple[str, str]]:
    values: Body = {"engine": made.engine}
    if made.engine == "argocd":
        values["argocd"] = {
            "namespace": made.tools,
            "project": made.project,
            "destination": _destination(made),
        }
    if made.engine == "flux":
        source = _told(made)[0]["metadata"]["name"]
        values["flux"] = {
            "namespace": made.tools,
            "self": {"name": source, "chart": f"./{made.inside('platform/llmaz')}"},
        }
    if made.demo:  # its chart asks for a whole CPU and 1 GiB, of which a laptop has few
        values["leaderWorkerSet"] = {"values": {"resources": {"requests": {"cpu": "100m", "memory": "128Mi"}}}}
    head = "What differs from llmaz/values.yaml, which names every component and key. For a chat page, as an example:"
    yield "platform/values.yaml", _written([values], head, "openWebUI: {enabled: true}")


def _destination(made: Wishes) -> Body:
    return {"server" if "://" in made.destination else "name": made.destination}


# --- bootstrap --------------------------------------------------------------------------------------------------------


def _place(made: Wishes, revision: str) -> Place:
    given = {"--revision": revision}
    given["--destination-server" if "://" in made.destination else "--destination-name"] = made.destination
    return Place("llmaz", "", made.repository, made.inside("rendered"), "file", given)


def _argocd(made: Wishes) -> Iterator[tuple[str, str]]:
    models, shared = applications([_place(made, made.branch)], Ways(made.project, made.tools))
    for body, wave in ((shared, "2"), (models, "3")):
        body["metadata"]["annotations"][_WAVE] = wave
    # Applications themselves live where Argo CD does, wherever models go.
    helm = {"releaseName": "llmaz", "valueFiles": ["../values.yaml"]}  # components are called after the release
    chart = _applied(made, "llmaz-platform", "platform/llmaz", {"helm": helm})
    if made.destination in (HERE, "in-cluster"):  # else the chart makes nothing but Applications
        # Its own objects go to the Gateway's namespace. That belongs to llmaz-shared: two owners would fight for it.
        chart["spec"]["destination"]["namespace"] = GATEWAY
        chart["spec"]["syncPolicy"]["syncOptions"].insert(0, "CreateNamespace=true")
    chart["metadata"]["annotations"] |= {"argocd.argoproj.io/manifest-generate-paths": ".;../values.yaml", _WAVE: "0"}
    root = _applied(made, "llmaz-bootstrap", "bootstrap/apps", {})
    settings = health.config_map(made.tools)
    with open(os.path.join(CHART, "files", "application.lua"), encoding="utf-8") as file:
        settings["data"]["resource.customizations.health.argoproj.io_Application"] = file.read()
    yield (
        "bootstrap/argocd-cm.yaml",
        _written([settings], "A patch of Argo CD's settings, to be applied once: when our objects are healthy."),
    )
    yield "bootstrap/root.yaml", _written([root], "To be applied once: the Application that makes those in apps/.")
    yield "bootstrap/apps/platform.yaml", _written([chart], "The platform: an Application for each component.")
    yield (
        "bootstrap/apps/models.yaml",
        _written([shared, models], "What is rendered: `llmaz argocd application`, after the platform."),
    )


def _applied(made: Wishes, name: str, path: str, how: Body) -> Body:
    """An Application of Applications."""
    like, _ = applications([_place(made, made.branch)], Ways(made.project, made.tools))
    source = {"repoURL": made.repository, "targetRevision": made.branch, "path": made.inside(path), **how}
    destination = {"server": HERE, "namespace": made.tools}
    like["metadata"]["name"] = name
    like["spec"] |= {"source": source, "destination": destination}
    return like


def _flux(made: Wishes) -> Iterator[tuple[str, str]]:
    source, models = _told(made)
    reference = models["spec"]["sourceRef"]
    platform = {"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "name": "llmaz-platform"}
    root = {
        "apiVersion": models["apiVersion"],
        "kind": models["kind"],
        "metadata": {"name": "llmaz-bootstrap", "namespace": made.tools},
        "spec": {
            "interval": "10m",
            "retryInterval": "2m",
            "timeout": "10m",
            "sourceRef": reference,
            "path": f"./{made.inside('bootstrap/apps')}",
            "prune": True,
            # not `wait`: it would wait for the models, which wait for this
            "healthChecks": [{**platform, "namespace": made.tools}],
        },
    }
    models["spec"] = {"dependsOn": [{"name": "llmaz-bootstrap"}], **models["spec"]}
    chart = made.inside("platform/llmaz")
    again = {"name": "RetryOnFailure", "retryInterval": "2m"}  # nothing is uninstalled
    release = {
        "apiVersion": platform["apiVersion"],
        "kind": platform["kind"],
        "metadata": {"name": "llmaz-platform", "namespace": made.tools},
        "spec": {
            "interval": "10m",
            "releaseName": "llmaz",
            "chart": {
                "spec": {
                    "chart": f"./{chart}",
                    "sourceRef": reference,
                    "reconcileStrategy": "Revision",  # the chart's version stays when values change
                    "valuesFiles": [f"./{chart}/values.yaml", f"./{made.inside('platform/values.yaml')}"],
                }
            },
            "timeout": "10m",
            "install": {"strategy": again},
            # The first time it waits for the components. Not later: each commit is an upgrade, and models wait for it,
            # so a chat page that is not well would hold up all of them.
            "upgrade": {"disableWait": True, "strategy": again},
        },
    }
    yield "bootstrap/root.yaml", _written([source, root], "To be applied once: it makes what stands in apps/.")
    yield "bootstrap/apps/platform.yaml", _written([release], "The platform: a HelmRelease for each component.")
    yield (
        "bootstrap/apps/models.yaml",
        _written([models], "What is rendered: `llmaz flux kustomization`, after the platform."),
    )


def _told(made: Wishes) -> list[Body]:
    """Flux's source, and the Kustomization of the models."""
    # what looks like a tag or a commit has to be written in full
    looks = re.match(r"v?[0-9]|[0-9a-f]{40}$", made.branch)
    place = _place(made, f"refs/heads/{made.branch}" if looks else made.branch)
    return kustomizations("llmaz", [place], made.tools, made.secret or None)


def _nothing(made: Wishes) -> Iterator[tuple[str, str]]:
    return iter(())


# --- workflows and words ----------------------------------------------------------------------------------------------


def _workflow(made: Wishes) -> Iterator[tuple[str, str]]:
    """Of the whole repository, so at its top. The texts are those of docs/github.md and docs/gitlab.md."""
    file = os.path.join(made.top, _workflow_file(made)) if made.below else _workflow_file(made)
    if made.ci == "github":
        text = _shipped("github.yml").replace(ACTION, made.action)
        if made.branch != "main":
            text = text.replace("branches: [main]", f'branches: ["{made.branch}"]')
        if made.below:
            field = yamlio.dump({"working-directory": made.below}).rstrip("\n")
            text = text.rstrip("\n") + f"\n          {field}\n"
        yield file, text
    elif made.ci == "gitlab":
        text = _shipped("gitlab.yml").replace("image: python:3.13", "image: python:3.13.9")
        text = text.replace("install --quiet llmaz-renderer", f"install --quiet llmaz-renderer=={__version__}")
        if made.below:
            where = shlex.quote(made.below)
            text = text.replace("llmaz render --check", f"llmaz render {where} --check")
            text = text.replace("--format markdown", f"--format markdown -- {where}")
        yield file, text


def _workflow_file(made: Wishes) -> str:
    """As seen from the repository's top; '' is none."""
    return {"github": ".github/workflows/llmaz.yml", "gitlab": ".gitlab-ci.yml", "none": ""}[made.ci]


def _readme(made: Wishes) -> str:
    playground = _playground(made)
    model = load.preset(f"models/{_model(playground)}").value
    words = {
        "Tool": {"argocd": "Argo CD syncs that", "flux": "Flux applies that", "none": "you apply that"}[made.engine],
        "Rows": "",
        "Version": __version__,
        "Model": model["spec"]["servedModelName"],
        "Namespace": made.namespace,
        "Tools": made.tools,
        "Push": "\n   ".join(_push(made)),
        "Begin": "\n   ".join(_begin(made)),
        "Key": "",
        "Check": "",
    }
    if made.engine != "none":
        words["Rows"] = f"| `bootstrap/` | what {_TOOLS[made.engine]} is told, once | `llmaz init` |\n"
    if made.engine == "flux" and made.secret:
        words["Key"] = (
            f"Make the Secret with the key that opens the repository: `flux create secret git {made.secret} "
            f"--namespace {made.tools} --url {_told(made)[0]['spec']['url']}`, and let the repository accept that key. "
        )
    if file := _workflow_file(made):
        words["Check"] = f"`{file}` checks that, and says in each change what it does to running models.\n"
    words["First"] = _filled(_shipped(f"{made.engine}.md"), words)
    return _filled(_shipped("README.md"), words).rstrip("\n") + "\n"


_TOOLS = {"argocd": "Argo CD", "flux": "Flux"}


def _filled(text: str, words: dict[str, str]) -> str:
    filler = template.compiled(text, frozenset(words))
    return text if filler is None else str(filler(words))


def _written(bodies: Iterable[Body], *head: str) -> str:
    """Objects under a comment."""
    comment = "".join(f"# {line}".rstrip() + "\n" for line in head)
    return comment + "---\n".join(map(yamlio.dump, bodies))


def _shipped(name: str) -> str:
    with open(os.path.join(FILES, name), encoding="utf-8") as file:
        return file.read()
