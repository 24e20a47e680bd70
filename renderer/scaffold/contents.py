"""The files of a new repository, by path."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping

from renderer import __version__, load, template, yamlio
from renderer.integrations.gitops import EnvironmentSource, health
from renderer.integrations.gitops.applications import Application, SyncOptions, applications
from renderer.integrations.gitops.flux import kustomizations
from renderer.kubernetes.json_values import list_at, map_at, text_at, value_at
from renderer.scaffold.next_commands import bootstrap_commands, push_commands
from renderer.scaffold.options import ACTION, IN_CLUSTER, ScaffoldOptions
from renderer.text import escapes
from renderer.yamlio import Document

Body = dict[str, object]

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
GATEWAY = "llmaz-system"  # the default of RenderConfig's gateway.namespace

_WAVE = "argocd.argoproj.io/sync-wave"


def contents(options: ScaffoldOptions) -> dict[str, str]:
    """The text of each file, by its path: relative to the new folder, or absolute."""
    texts = dict(_input(options))
    texts |= {f"platform/llmaz/{path}": text for path, text in _chart()}
    texts |= dict(_platform(options))
    texts |= dict({"argocd": _argocd, "flux": _flux, "none": _no_bootstrap}[options.engine](options))
    texts |= dict(_workflow(options))
    return {"README.md": _readme(options), **texts}


def top_level_entries(texts: Iterable[str]) -> list[str]:
    """Sorted names at the top of the new folder, and relative paths of files outside of it. `texts`: all paths."""
    entries = {os.path.relpath(path) if os.path.isabs(path) else re.sub("/.*", "/", path) for path in texts}
    return sorted(entries, key=lambda name: (name.startswith("."), name.lower()))


# --- input ------------------------------------------------------------------------------------------------------------


def _input(options: ScaffoldOptions) -> Iterator[tuple[str, str]]:
    playground = _playground(options)
    name = _model_name(playground)
    yield "playgrounds/chat.yaml", playground.data.decode()
    yield f"models/{name}.yaml", _preset_text(name)
    gateway: Body = {"create": True}
    if options.demo:
        gateway["replicas"] = 1
    ignored = ["bootstrap/**", "platform/**", *([".gitlab-ci.yml"] if options.ci == "gitlab" else [])]
    config: Body = {
        "apiVersion": "renderer.llmaz.io/v1alpha1",
        "kind": "RenderConfig",
        "metadata": {"name": "config"},
        "spec": {
            "namespace": options.namespace,
            "ignore": ignored,
            "passThrough": ["extra/**"],
            "gateway": gateway,
        },
    }
    yield "llmaz.yaml", _write_yaml([config], "Settings for all models. All keys: `llmaz schema renderconfig`.")
    names = list(dict.fromkeys((options.namespace, GATEWAY)))
    yield (
        "extra/namespaces.yaml",
        _write_yaml(map(_namespace, names), "For models, and for the Gateway. Neither tool deletes one."),
    )


def _playground(options: ScaffoldOptions) -> Document:
    name = "cpu-demo.yaml" if options.demo else "gpu.yaml"
    return yamlio.parse(name, _read_template(name).encode())[0][0]


def _model_name(playground: Document) -> str:
    name: str = playground.value["spec"]["modelClaim"]["modelName"]
    return name


def _preset_text(name: str) -> str:
    """The text of a model preset, without the line that names a schema for editors."""
    with open(os.path.join(load.PRESETS, "models", f"{name}.yaml"), encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("# yaml-language-server:")]
    return f"# From the preset of llmaz {__version__}; llmaz presets diff {name} compares them.\n" + "".join(lines)


def _namespace(name: str) -> Body:
    annotations = {"argocd.argoproj.io/sync-options": "Prune=false", "kustomize.toolkit.fluxcd.io/prune": "disabled"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "annotations": annotations}}


# --- platform ---------------------------------------------------------------------------------------------------------


def _chart() -> Iterator[tuple[str, str]]:
    """Relative path and text of each file of charts/llmaz."""
    for folder, folders, names in os.walk(CHART):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8", newline="") as file:
                yield os.path.relpath(path, CHART).replace(os.sep, "/"), file.read()


def _platform(options: ScaffoldOptions) -> Iterator[tuple[str, str]]:
    values: Body = {"engine": options.engine}
    if options.engine == "argocd":
        values["argocd"] = {
            "namespace": options.tools,
            "project": options.project,
            "destination": _destination(options),
        }
    if options.engine == "flux":
        source = text_at(_flux_objects(options)[0], "metadata", "name")
        values["flux"] = {
            "namespace": options.tools,
            "self": {"name": source, "chart": f"./{options.inside('platform/llmaz')}"},
        }
    if options.demo:  # its chart asks for a whole CPU and 1 GiB, of which a laptop has few
        values["leaderWorkerSet"] = {"values": {"resources": {"requests": {"cpu": "100m", "memory": "128Mi"}}}}
    head = "What differs from llmaz/values.yaml, which names every component and key. For a chat page, as an example:"
    yield "platform/values.yaml", _write_yaml([values], head, "openWebUI: {enabled: true}")


def _destination(options: ScaffoldOptions) -> Body:
    return {"server" if "://" in options.destination else "name": options.destination}


# --- bootstrap --------------------------------------------------------------------------------------------------------


def _rendered_source(options: ScaffoldOptions, revision: str) -> EnvironmentSource:
    flags = {"--revision": revision}
    flags["--destination-server" if "://" in options.destination else "--destination-name"] = options.destination
    return EnvironmentSource("llmaz", "", options.repository, options.inside("rendered"), "file", flags)


def _argocd(options: ScaffoldOptions) -> Iterator[tuple[str, str]]:
    models, shared = applications(
        [_rendered_source(options, options.branch)], SyncOptions(options.project, options.tools)
    )
    for body, wave in ((shared, "2"), (models, "3")):
        body["metadata"]["annotations"][_WAVE] = wave
    # Applications themselves live where Argo CD does, wherever models go.
    helm = {"releaseName": "llmaz", "valueFiles": ["../values.yaml"]}  # components are called after the release
    chart = _root_application(options, "llmaz-platform", "platform/llmaz", {"helm": helm})
    if options.destination in (IN_CLUSTER, "in-cluster"):  # else the chart makes nothing but Applications
        # Its own objects go to the Gateway's namespace. That belongs to llmaz-shared: two owners would fight for it.
        chart["spec"]["destination"] = {"server": IN_CLUSTER, "namespace": GATEWAY}
        list_at(chart, "spec", "syncPolicy", "syncOptions").insert(0, "CreateNamespace=true")
    chart["metadata"]["annotations"] |= {"argocd.argoproj.io/manifest-generate-paths": ".;../values.yaml", _WAVE: "0"}
    root = _root_application(options, "llmaz-bootstrap", "bootstrap/apps", {})
    with open(os.path.join(CHART, "files", "application.lua"), encoding="utf-8") as file:
        data = {**health.data(), "resource.customizations.health.argoproj.io_Application": file.read()}
    settings = {**health.config_map(options.tools), "data": data}
    yield (
        "bootstrap/argocd-cm.yaml",
        _write_yaml([settings], "A patch of Argo CD's settings, to be applied once: when our objects are healthy."),
    )
    yield "bootstrap/root.yaml", _write_yaml([root], "To be applied once: the Application that creates those in apps/.")
    yield "bootstrap/apps/platform.yaml", _write_yaml([chart], "The platform: an Application for each component.")
    yield (
        "bootstrap/apps/models.yaml",
        _write_yaml([shared, models], "What is rendered: `llmaz argocd application`, after the platform."),
    )


def _root_application(options: ScaffoldOptions, name: str, path: str, how: Body) -> Application:
    """An Application of Argo CD whose source holds other Applications. `how`: further fields of its source."""
    application, _ = applications(
        [_rendered_source(options, options.branch)], SyncOptions(options.project, options.tools)
    )
    source = {"repoURL": options.repository, "targetRevision": options.branch, "path": options.inside(path), **how}
    destination = {"server": IN_CLUSTER, "namespace": options.tools}
    application["metadata"]["name"] = name
    application["spec"] |= {"source": source, "destination": destination}
    return application


def _flux(options: ScaffoldOptions) -> Iterator[tuple[str, str]]:
    source, models = _flux_objects(options)
    reference = value_at(models, "spec", "sourceRef")
    platform = {"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "name": "llmaz-platform"}
    root = {
        "apiVersion": models["apiVersion"],
        "kind": models["kind"],
        "metadata": {"name": "llmaz-bootstrap", "namespace": options.tools},
        "spec": {
            "interval": "10m",
            "retryInterval": "2m",
            "timeout": "10m",
            "sourceRef": reference,
            "path": f"./{options.inside('bootstrap/apps')}",
            "prune": True,
            # not `wait`: it would wait for the models, which wait for this
            "healthChecks": [{**platform, "namespace": options.tools}],
        },
    }
    models["spec"] = {"dependsOn": [{"name": "llmaz-bootstrap"}], **map_at(models, "spec")}
    chart = options.inside("platform/llmaz")
    again = {"name": "RetryOnFailure", "retryInterval": "2m"}  # nothing is uninstalled
    release: Body = {
        "apiVersion": platform["apiVersion"],
        "kind": platform["kind"],
        "metadata": {"name": "llmaz-platform", "namespace": options.tools},
        "spec": {
            "interval": "10m",
            "releaseName": "llmaz",
            "chart": {
                "spec": {
                    "chart": f"./{chart}",
                    "sourceRef": reference,
                    "reconcileStrategy": "Revision",  # the chart's version stays when values change
                    "valuesFiles": [f"./{chart}/values.yaml", f"./{options.inside('platform/values.yaml')}"],
                }
            },
            "timeout": "10m",
            "install": {"strategy": again},
            # The first time it waits for the components. Not later: each commit is an upgrade, and models wait for it,
            # so a chat page that is not well would hold up all of them.
            "upgrade": {"disableWait": True, "strategy": again},
        },
    }
    yield "bootstrap/root.yaml", _write_yaml([source, root], "To be applied once: it creates what is in apps/.")
    yield "bootstrap/apps/platform.yaml", _write_yaml([release], "The platform: a HelmRelease for each component.")
    yield (
        "bootstrap/apps/models.yaml",
        _write_yaml([models], "What is rendered: `llmaz flux kustomization`, after the platform."),
    )


def _flux_objects(options: ScaffoldOptions) -> list[Body]:
    """Flux's source object, and the Kustomization of the rendered files."""
    # what looks like a tag or a commit has to be written in full
    is_ambiguous = re.match(r"v?[0-9]|[0-9a-f]{40}$", options.branch)
    source = _rendered_source(options, f"refs/heads/{options.branch}" if is_ambiguous else options.branch)
    return kustomizations("llmaz", [source], options.tools, options.secret or None)


def _no_bootstrap(options: ScaffoldOptions) -> Iterator[tuple[str, str]]:
    return iter(())


# --- workflows and README ---------------------------------------------------------------------------------------------


def _workflow(options: ScaffoldOptions) -> Iterator[tuple[str, str]]:
    """Path and text of the CI file, from docs/github.md or docs/gitlab.md. It goes to the top of the repository."""
    file = os.path.join(options.top, options.workflow_file) if options.below else options.workflow_file
    if options.ci == "github":
        text = _read_template("github.yml")
        text = text.replace(ACTION, options.action) if options.action != ACTION else _without_action(text)
        if options.branch != "main":
            text = text.replace("branches: [main]", f"branches: [{escapes.json_text(options.branch)}]")
        if options.below:
            field = yamlio.dump({"working-directory": options.below}).rstrip("\n")
            text = text.rstrip("\n") + f"\n          {field}\n"
        yield file, text
    elif options.ci == "gitlab":
        text = _read_template("gitlab.yml").replace("image: python:3.13", "image: python:3.13.9")
        text = text.replace("install --quiet llmaz-renderer", f"install --quiet llmaz-renderer=={__version__}")
        if options.below:
            folder = escapes.shell_word(options.below)
            text = text.replace("llmaz render --check", f"llmaz render {folder} --check")
            text = text.replace("--format markdown", f"--format markdown -- {folder}")
        yield file, text


def _without_action(text: str) -> str:
    """The workflow with a first step that fails with what to write, in place of the one that nobody can name."""
    head, _, steps = text.partition("    steps:\n")
    checkout, _, settings = steps.partition(f"      - uses: {ACTION}\n")
    what = "write your copy of the repository of llmaz into the line with uses, remove its # and those below"
    error = f"::error file=.github/workflows/llmaz.yml::{what}, and delete this step"
    failing = f"      - name: Say where the action is\n        run: |\n          echo '{error}'\n          exit 1\n"
    return f"{head}    steps:\n{failing}{checkout}      # - uses: NAME/llmaz-renderer@COMMIT\n" + "".join(
        f"      # {line[6:]}\n" for line in settings.splitlines()
    )


def _readme(options: ScaffoldOptions) -> str:
    playground = _playground(options)
    model = load.preset(f"models/{_model_name(playground)}").value
    words = {
        "Tool": {"argocd": "Argo CD syncs that", "flux": "Flux applies that", "none": "you apply that"}[options.engine],
        "Rows": "",
        "Version": __version__,
        "Model": model["spec"]["servedModelName"],
        "Namespace": options.namespace,
        "Tools": options.tools,
        "Push": "\n   ".join(push_commands(options)),
        "Begin": "\n   ".join(bootstrap_commands(options)),
        "Key": "",
        "Check": "",
    }
    if options.engine != "none":
        words["Rows"] = f"| `bootstrap/` | what {_TOOLS[options.engine]} needs, applied once | `llmaz init` |\n"
    if options.engine == "flux" and options.secret:
        url = text_at(_flux_objects(options)[0], "spec", "url")
        named = f"flux create secret git {options.secret} --namespace {options.tools}"
        command = escapes.markdown_code(f"{named} --url {escapes.shell_word(url)}")
        words["Key"] = (
            f"Make the Secret with the key that opens the repository: {command}, and let the repository "
            "accept that key. "
        )
    if file := options.workflow_file:
        words["Check"] = f"`{file}` checks that, and reports for each change what it does to running models.\n"
    words["First"] = _fill_template(_read_template(f"{options.engine}.md"), words)
    return _fill_template(_read_template("README.md"), words).rstrip("\n") + "\n"


_TOOLS = {"argocd": "Argo CD", "flux": "Flux"}


def _fill_template(text: str, words: dict[str, str]) -> str:
    filler = template.compile_template(text, frozenset(words))
    return text if filler is None else str(filler(words))


def _write_yaml(bodies: Iterable[Mapping[str, object]], *head: str) -> str:
    """A YAML file of these objects, with `head` as comment lines at the top."""
    comment = "".join(f"# {line}".rstrip() + "\n" for line in head)
    return comment + "---\n".join(map(yamlio.dump, bodies))


def _read_template(name: str) -> str:
    with open(os.path.join(FILES, name), encoding="utf-8") as file:
        return file.read()
