"""`render --to helm`: what the real Helm makes of the chart is what render makes, with its own values and with others.

`scripts/tools.sh helm` installs it. Without it these tests are skipped, in CI they fail.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from renderer import yamlio
from renderer.integrations.helm.undo import NotComparable, undo
from tests.cases.test_cases import EXAMPLES, INPUTS, contents
from tests.inputs import CONFIG
from tests.paths import ROOT, TESTS
from tests.programs import tool

if TYPE_CHECKING:
    from tests.conftest import Golden, Llmaz

Key: TypeAlias = tuple[str, str, str, str]
Objects: TypeAlias = dict[Key, dict[str, Any]]
OURS = "Rendered by llmaz from"
# Their arguments name a part of the tree, and the rest shares objects with it: see E740.
PARTS = ("part-of-the-tree", "shared-files-subtree")
WHOLE = [name for name in INPUTS if name not in PARTS]


@pytest.fixture(scope="session")
def helm() -> Callable[..., subprocess.CompletedProcess[str]]:
    """The pinned Helm, away from the settings of whoever runs it."""
    program = tool("helm")

    def run(*args: str | Path) -> subprocess.CompletedProcess[str]:
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("HELM_", "KUBE"))}
        return subprocess.run(
            [program, *args], env=environment, capture_output=True, text=True, check=False, encoding="utf-8"
        )

    return run


Helm: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]


def objects(text: str) -> Objects:
    """The objects of a stream by their identity; each is there once."""
    documents, problems = yamlio.parse("stream", text.encode())
    assert problems == []
    by_identity: Objects = {}
    for document in documents:
        body = document.value
        key = (body["apiVersion"], body["kind"], body["metadata"].get("namespace", ""), body["metadata"]["name"])
        assert key not in by_identity
        by_identity[key] = body
    return by_identity


def template(helm: Helm, chart: Path, values: Mapping[str, Any] | None = None) -> Objects:
    """What `helm template` makes of a chart, with values from a file."""
    more: list[str | Path] = []
    if values is not None:
        file = chart.parent / "values-of-a-test.txt"
        file.write_text(yamlio.dump(dict(values)), "utf-8")
        more = ["--values", file]
    done = helm("template", "release", chart, *more)
    assert done.returncode == 0, done.stderr
    return objects(done.stdout)


def undone(chart: Path) -> Objects:
    """The objects of a chart with its values, by `undo`."""
    templates = sorted(path for path in (chart / "templates").rglob("*") if path.is_file())
    texts = (undo(path.read_text("utf-8"), values_of(chart)) for path in templates)
    return {key: body for text in texts for key, body in objects(text).items()}


def values_of(chart: Path) -> dict[str, Any]:
    value = yamlio.parse("values.yaml", (chart / "values.yaml").read_bytes())[0][0].value
    assert isinstance(value, dict)
    return value


class Case:
    """A folder with the input of a case, as the current one."""

    def __init__(self, name: str, folder: Path, llmaz: Llmaz) -> None:
        self.folder, self.llmaz = folder, llmaz
        arguments = TESTS / "cases" / name / "args.txt"
        self.args = shlex.split(arguments.read_text("utf-8")) if arguments.exists() else []
        if (names := self.config().get("environments")) and "--env" not in self.args:
            self.args += ["--env", next(name for name in names if "from" not in (names[name] or {}))]

    def plain(self, *more: str) -> Objects:
        """What render makes."""
        done = self.llmaz("render", "--stdout", *self.args, *more)
        assert done.code == 0, done.err
        return objects(done.out)

    def chart(self) -> Path:
        """A new chart, outside of the input."""
        done = self.llmaz("render", "--to", "helm", *self.args, "-o", self.folder.parent / "chart")
        assert done.code == 0, done.err
        return Path(done.folder).resolve()

    def rewrite(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Changes every document of the input."""
        for path in self.folder.rglob("*"):
            if path.is_file() and path.suffix in (".yaml", ".yml", ".json"):
                documents, problems = yamlio.parse(path.name, path.read_bytes())
                if problems:  # nobody reads it
                    continue
                for document in documents:
                    if "metadata" in document.value:
                        change(document.value)
                texts = [yamlio.dump(_off(document.value)) for document in documents]
                one = json.dumps(documents[0].value) if path.suffix == ".json" and len(documents) == 1 else None
                path.write_text(one or "---\n".join(texts), "utf-8")

    def config(self) -> dict[str, Any]:
        """The spec of RenderConfig, empty without one."""
        file = self.folder / "llmaz.yaml"
        return dict(yamlio.parse(file.name, file.read_bytes())[0][0].value["spec"]) if file.exists() else {}


def _off(value: Any) -> Any:
    """A bare `off` is a boolean to YAML and a word to us: written anew, it has to stay that word."""
    if isinstance(value, dict):
        words = ("mode", "hardening")
        return {key: "off" if key in words and inner is False else _off(inner) for key, inner in value.items()}
    return [_off(item) for item in value] if isinstance(value, list) else value


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz) -> Callable[[str], Case]:
    """Lays out the input of a case."""

    def lay(name: str) -> Case:
        folder = tmp_path / "input"
        shutil.copytree(INPUTS[name], folder, symlinks=True)
        monkeypatch.chdir(folder)
        return Case(name, folder, llmaz)

    return lay


# --- the chart's own values -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WHOLE)
def test_its_own_values_make_the_plain_output(name: str, case: Callable[[str], Case], helm: Helm) -> None:
    it = case(name)
    chart, plain = it.chart(), it.plain()
    assert template(helm, chart) == plain
    assert undone(chart) == plain  # without Helm, as `llmaz diff` reads it


@pytest.mark.parametrize("name", [name for name in WHOLE if name.startswith("example-")])
def test_helm_finds_nothing_wrong(name: str, case: Callable[[str], Case], helm: Helm) -> None:
    done = helm("lint", "--strict", case(name).chart())
    assert done.returncode == 0, done.stdout
    messages = re.findall(r"^\[(\w+)\] (.*)$", done.stdout, re.MULTILINE)
    assert messages == [("INFO", "Chart.yaml: icon is recommended")]


@pytest.mark.parametrize("name", ["example-gateway-pool", "example-hpa"])
def test_golden(
    name: str, case: Callable[[str], Case], golden: Golden, superfluous: Callable[[Path, set[Path]], list[Path]]
) -> None:
    files = contents(case(name).chart())
    for path, (text, _) in files.items():
        golden(f"data/helm/{name}/{path}", text)
        assert OURS in text.partition("\n")[0]
    folder = TESTS / "data" / "helm" / name
    assert superfluous(folder, {folder / path for path in files}) == []


# --- other values -----------------------------------------------------------------------------------------------------

# Where more of the input would have to change: an argument that names a namespace; a Gateway of others whose selector
# does; patches of environments that name theirs.
NAMED = [
    name
    for name in WHOLE
    if name not in ("set-overrides", "routes-on-a-gateway-in-the-tree") and "environments" not in name
]
# Every layout and kind of route and autoscaler, and whatever else writes a number of replicas.
SCALED = [
    "autoscaling-fed",
    "disaggregated-sets-scaled",
    "disaggregation",
    "elastic",
    "example-canary",
    "example-disaggregation",
    "example-gateway-pool",
    "example-hpa",
    "example-model-split",
    "example-several-hosts",
    "layout-app",
    "layout-object",
    "routes",
    "routes-packed",
    "routes-to-variants",
    "service-leader-worker",
    "wide-experts-variants",
]


@pytest.mark.parametrize("name", NAMED)
def test_other_namespaces(name: str, case: Callable[[str], Case], helm: Helm) -> None:
    """The same objects as when all namespaces have other names in the input."""
    it = case(name)
    chart = it.chart()
    names = {namespace: f"{namespace}-2" for namespace in values_of(chart)["namespaces"]}
    rendered = template(helm, chart, {"namespaces": names})

    def rename(body: dict[str, Any]) -> None:
        spec, metadata = body.get("spec"), body["metadata"]
        if body["kind"] == "Namespace":
            metadata["name"] = names[metadata["name"]]
        elif body["kind"] != "RenderConfig":
            metadata["namespace"] = names.get(metadata.get("namespace"), metadata.get("namespace", default))
        elif spec:
            of = spec.get("gateway") or {}
            of["perNamespace"] = {names.get(key, key): value for key, value in (of.get("perNamespace") or {}).items()}
            for section in (spec, of, *of["perNamespace"].values()):
                if "namespace" in section:
                    section["namespace"] = names.get(section["namespace"], section["namespace"])
            if not of["perNamespace"]:
                del of["perNamespace"]

    config = it.config()
    default = names.get(config.get("namespace", "default"), "default")
    it.rewrite(rename)
    more = () if "namespace" in (config.get("gateway") or {}) else ("--set", "gateway.namespace=llmaz-system-2")
    assert rendered == it.plain(*(more if "llmaz-system" in names else ()))


def scale(count: int) -> Callable[[dict[str, Any]], None]:
    """So many replicas of every app."""

    def change(body: dict[str, Any]) -> None:
        if body["kind"] in ("Playground", "Service") and "llmaz.io" in body["apiVersion"]:
            roles = body["spec"].get("disaggregation")
            is_set = bool(roles) and roles.get("kind") == "DisaggregatedSet"
            for spec in (roles["prefill"], roles["decode"]) if roles else (body["spec"],):
                elastic = spec.get("elasticConfig") or ("replicas" not in spec and body["spec"].get("elasticConfig"))
                if is_set and not elastic:  # written as rendered
                    continue
                if elastic:
                    elastic |= {"minReplicas": max(count, 1), "maxReplicas": max(count, 1) + 5}
                else:
                    spec["replicas"] = count

    return change


def replicas(chart: Path, count: int) -> dict[str, Any]:
    """The same as values."""
    by_key = {"replicas": count, "minReplicas": max(count, 1), "maxReplicas": max(count, 1) + 5}

    def counts(values: Mapping[str, Any]) -> dict[str, Any]:
        return {key: counts(value) if isinstance(value, dict) else by_key[key] for key, value in values.items()}

    return {"apps": counts(values_of(chart)["apps"])}


@pytest.mark.parametrize("count", [0, 1, 2, 1_000_000])
@pytest.mark.parametrize("name", SCALED)
def test_other_replicas(name: str, count: int, case: Callable[[str], Case], helm: Helm) -> None:
    """The same objects as when every app asks for so many in the input: disruption budgets and weights too."""
    it = case(name)
    chart = it.chart()
    rendered = template(helm, chart, replicas(chart, count))
    it.rewrite(scale(count))
    assert rendered == it.plain()


@pytest.mark.parametrize("before", [0, 1, 3])
@pytest.mark.parametrize(
    "name",
    ["example-gateway-pool", "example-model-split", "example-several-hosts", "routes-packed", "routes-to-variants"],
)
def test_other_replicas_than_the_chart_began_with(
    name: str, before: int, case: Callable[[str], Case], helm: Helm
) -> None:
    it = case(name)
    it.rewrite(scale(before))
    chart = it.chart()
    rendered = template(helm, chart, replicas(chart, 2))
    it.rewrite(scale(2))
    assert rendered == it.plain()


def images(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every string at a field that names an image."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if isinstance(inner, str) and (key == "image" or (key == "reference" and path[-1:] == ("image",))):
            yield (*path, str(key)), inner
        else:
            yield from images(inner, (*path, str(key)))


def moved(image: str) -> str:
    host, slash, path = image.partition("/")
    if slash and re.search("[.:]", host):
        return f"mirror.example:5000/all/{path}"
    return f"mirror.example:5000/all/{image if slash else f'library/{image}'}"


@pytest.mark.parametrize(
    "name",
    [
        "engine-ollama",
        "example-gateway-pool",
        "example-several-hosts",
        "images-everywhere",
        "loaders-and-secrets",
        "source-oci",
    ],
)
def test_another_registry(name: str, case: Callable[[str], Case], helm: Helm) -> None:
    it = case(name)
    plain = it.plain()
    rendered = template(helm, it.chart(), {"imageRegistry": "mirror.example:5000/all"})
    before, after = (dict(images([rendering[key] for key in plain])) for rendering in (plain, rendered))
    assert before
    assert after == {path: moved(image) for path, image in before.items()}
    text = json.dumps(sorted(rendered.items()))
    for image in sorted(set(before.values()), key=len, reverse=True):
        text = text.replace(json.dumps(moved(image)), json.dumps(image))
    assert text == json.dumps(sorted(plain.items())), "something else than images has changed"


def test_images_however_they_are_written(folder: Path, llmaz: Llmaz, helm: Helm) -> None:
    written = {
        "nginx": "library/nginx",
        "nginx:1": "library/nginx:1",
        "docker.io/nginx:1": "library/nginx:1",
        "org/it@sha256:" + "0" * 64: "org/it@sha256:" + "0" * 64,
        "docker.io/org/it": "org/it",
        "localhost/it": "it",
        "host:5000/a/b:c": "a/b:c",
    }
    containers = [{"name": f"c{i}", "image": image} for i, image in enumerate(written)]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "it"}, "spec": {"containers": containers}}
    passed(folder, pod)
    assert llmaz("render", "--to", "helm").code == 0
    for registry in ("", "mirror.example"):
        rendered = template(helm, folder / "chart", {"imageRegistry": registry})
        got = [container["image"] for container in rendered["v1", "Pod", "", "it"]["spec"]["containers"]]
        assert got == [f"{registry}/{there}" for there in written.values()] if registry else list(written)


def passed(folder: Path, *bodies: Any, name: str = "own/it.yaml") -> None:
    """A tree with one Playground, and these objects that are passed through."""
    quick = (EXAMPLES / "quickstart" / "chat.yaml").read_text("utf-8")
    (folder / "chat.yaml").write_text(quick.replace("demo", "llm"), "utf-8")
    spec = {"passThrough": ["own/**"]}
    config = {
        "apiVersion": "renderer.llmaz.io/v1alpha1",
        "kind": "RenderConfig",
        "metadata": {"name": "c"},
        "spec": spec,
    }
    (folder / "llmaz.yaml").write_text(yamlio.dump(config), "utf-8")
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("---\n".join(map(yamlio.dump, bodies)), "utf-8")


@pytest.mark.parametrize("name", ["gateway-auth", "gateway-pool", "gateway-teams", "token-limits"])
def test_the_chain_holds_in_other_namespaces(
    name: str, case: Callable[[str], Case], llmaz: Llmaz, helm: Helm, tmp_path: Path
) -> None:
    chart = case(f"example-{name}").chart()
    names = {namespace: f"{namespace[:40]}-elsewhere" for namespace in values_of(chart)["namespaces"]}
    assert len(names) > 1
    rendered = template(helm, chart, {"namespaces": names})
    target = tmp_path / "made" / "all.yaml"
    target.parent.mkdir()
    target.write_text("---\n".join(map(yamlio.dump, rendered.values())), "utf-8")
    done = llmaz("check", target)
    assert done.code == 0, done.err
    assert re.fullmatch(rf"{len(rendered)} objects checked, (\d+ engines?.*, )?0 errors", done.err.splitlines()[-1]), (
        done.err
    )
    # Of one half of the names, references lead nowhere: the test is able to fail.
    half = template(helm, chart)
    target.write_text("---\n".join(yamlio.dump(half[k]) for k in half if k[1] != "Gateway"), "utf-8")
    with target.open("a", encoding="utf-8") as file:
        file.writelines(f"---\n{yamlio.dump(rendered[k])}" for k in rendered if k[1] == "Gateway")
    assert llmaz("check", target).code == 2


def test_places_of_namespaces(folder: Path, llmaz: Llmaz, helm: Helm) -> None:
    """Every form of a reference in what is passed through; and words that only look like one."""
    body = {
        "apiVersion": "example.com/v1",
        "kind": "Any",
        "metadata": {
            "name": "llm",
            "namespace": "llm",
            "labels": {"namespace": "llm", "kubernetes.io/metadata.name": "llm"},
            "annotations": {"said": "llm", "to": "http://chat-lb.llm.svc.cluster.local:8080/llm"},
        },
        "spec": {
            "ref": {"kind": "Secret", "name": "llm", "namespace": "llm"},
            "metadata": {"namespace": "llm", "key": "of Envoy"},
            "elsewhere": {"namespace": "other"},
            "selector": {"namespace": "llm"},
            "namespaceSelector": {"matchNames": ["llm", "other"]},
            "matchExpressions": [
                {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["llm", "other"]},
                {"key": "app", "operator": "In", "values": ["llm"]},
            ],
            "args": ["--pool-namespace", "llm", "--namespace=llm", "--model", "llm", "llm"],
            "query": 'sum(up{namespace="llm", exported_namespace=~"llm",model="llm",pod!="llm"})\n',
            "user": "system:serviceaccount:llm:chat",
            "group": "system:serviceaccounts:llm",
            "hosts": ["x.llm.svc", "x.llm.svcs", "x.llm-2.svc", "llm.svc", "x.llm.example.com", "{x.llm.svc"],
        },
    }
    passed(folder, body, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "llm"}})
    assert llmaz("render", "--to", "helm").code == 0
    rendered = template(helm, folder / "chart", {"namespaces": {"llm": "123"}})
    assert ("v1", "Namespace", "", "123") in rendered
    spec = body["spec"]
    assert rendered["example.com/v1", "Any", "123", "llm"] == {
        **body,
        "metadata": {
            "name": "llm",
            "namespace": "123",
            "labels": {"namespace": "llm", "kubernetes.io/metadata.name": "123"},
            "annotations": {"said": "llm", "to": "http://chat-lb.123.svc.cluster.local:8080/llm"},
        },
        "spec": {
            **spec,  # type: ignore[dict-item]
            "ref": {"kind": "Secret", "name": "llm", "namespace": "123"},
            "namespaceSelector": {"matchNames": ["123", "other"]},
            "matchExpressions": [
                {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["123", "other"]},
                {"key": "app", "operator": "In", "values": ["llm"]},
            ],
            "args": ["--pool-namespace", "123", "--namespace=123", "--model", "llm", "llm"],
            "query": 'sum(up{namespace="123", exported_namespace=~"123",model="llm",pod!="llm"})\n',
            "user": "system:serviceaccount:123:chat",
            "group": "system:serviceaccounts:123",
            "hosts": ["x.123.svc", "x.llm.svcs", "x.llm-2.svc", "llm.svc", "x.llm.example.com", "{x.123.svc"],
        },
    }


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"apps": {"llm/chta": {"replicas": 2}}}, "at '/apps': additional properties 'llm/chta' not allowed"),
        ({"apps": {"demo/chat": {"replicas": -1}}}, "at '/apps/demo~1chat/replicas'"),
        ({"apps": {"demo/chat": {"replicas": "2"}}}, "at '/apps/demo~1chat/replicas'"),
        ({"apps": {"demo/chat": {"maxReplicas": 2}}}, "at '/apps/demo~1chat': additional properties 'maxReplicas'"),
        ({"apps": {"demo/chat": None}}, "missing property 'demo/chat'"),
        ({"namespaces": {"demo": "Demo"}}, "at '/namespaces/demo'"),
        ({"namespaces": {"demo": 7}}, "at '/namespaces/demo'"),
        ({"namespaces": {"demon": "x"}}, "at '/namespaces': additional properties 'demon' not allowed"),
        ({"imageRegistry": "https://mirror.example"}, "at '/imageRegistry'"),
        ({"imageRegistry": "mirror.example/"}, "at '/imageRegistry'"),
        ({"image": "x"}, "additional properties 'image' not allowed"),
    ],
)
def test_values_that_helm_refuses(
    values: dict[str, Any], message: str, case: Callable[[str], Case], helm: Helm, tmp_path: Path
) -> None:
    chart = case("example-quickstart").chart()
    file = tmp_path / "values.json"
    file.write_text(json.dumps(values), "utf-8")
    done = helm("template", "release", chart, "--values", file)
    assert done.returncode == 1
    assert message in done.stderr


def test_bounds_that_helm_refuses(case: Callable[[str], Case], helm: Helm) -> None:
    chart = case("example-hpa").chart()
    assert helm("template", "release", chart, "--set", "apps.llm/chat.minReplicas=6").returncode == 0
    done = helm("template", "release", chart, "--set", "apps.llm/chat.minReplicas=7")
    assert done.returncode == 1
    assert "apps.llm/chat: maxReplicas is below minReplicas" in done.stderr


def test_values_on_the_command_line(case: Callable[[str], Case], helm: Helm) -> None:
    chart = case("example-quickstart").chart()
    flags = ["--set", "apps.demo/chat.replicas=0", "--set", "namespaces.demo=other", "--set", "imageRegistry=m.example"]
    done = helm("template", "release", chart, *flags)
    assert done.returncode == 0, done.stderr
    rendered = objects(done.stdout)
    body = rendered["leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "other", "chat"]
    assert body["spec"]["replicas"] == 0
    assert all(image.startswith("m.example/") for _, image in images(body))


def test_in_another_chart(case: Callable[[str], Case], helm: Helm, tmp_path: Path) -> None:
    """As a subchart it gets `global` from Helm, and its values below its name."""
    parent = tmp_path / "parent"
    shutil.copytree(case("example-quickstart").chart(), parent / "charts" / "llmaz-models")
    (parent / "Chart.yaml").write_text("{apiVersion: v2, name: parent, version: 1.0.0}\n", "utf-8")
    values = {"global": {"any": "thing"}, "llmaz-models": {"namespaces": {"demo": "other"}}}
    assert {key[2] for key in template(helm, parent, values)} == {"other"}


# --- text -------------------------------------------------------------------------------------------------------------

TRICKY = [
    "{{ .Values.x }}",
    "{{- x -}}",
    "}} {{",
    "{{{{",
    "{{{x}}}",
    "{{`x`}}",
    "`$x` ${X} $(X) $$",
    "\"quoted\" and 'quoted'",
    "{{/* no comment */}}",
    "{ #llmaz:0# #llmaz:1!# #llmazz:0#",
    "\\{{ \\n \\",
    "{{\n}}\n",
    "{% raw %}{# x #}",
    "# {{",
    "---",
    "{",
]
ENDS = ["a\n", "a\n\n\n", "a\nb", "\n\na", "{{ a\n b }}\n", "a: {{\n---\nb: c\n", " a\n", "a\n# b\n", "a\n\n# c\n\n"]


def test_strings_survive(folder: Path, llmaz: Llmaz, helm: Helm) -> None:
    """In the engine's arguments, and as what a document ends with."""
    args = [*TRICKY, *ENDS, "{x.llm.svc.cluster.local", "{{x.llm.svc"]
    runtime = {"backendName": "llamacpp", "version": "mine", "args": args}
    playground = {
        "apiVersion": "inference.llmaz.io/v1alpha1",
        "kind": "Playground",
        "metadata": {"name": "tricky", "namespace": "llm"},
        "spec": {"modelClaim": {"modelName": "qwen3-0--6b-gguf"}, "backendRuntimeConfig": runtime},
    }
    metadata = {"namespace": "llm"}
    maps = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"m{i}", **metadata}, "data": {"it": text}}
        for i, text in enumerate([*TRICKY, *ENDS])
    ]
    passed(folder, *maps, name="own/{{ odd }}.yaml")
    (folder / "{{ a }} `b`.yaml").write_text(yamlio.dump(playground), "utf-8")
    done = llmaz("render", "--to", "helm")
    assert done.code == 0, done.err
    plain = objects(llmaz("render", "--stdout").out)
    assert template(helm, folder / "chart") == undone(folder / "chart") == plain
    for i, text in enumerate([*TRICKY, *ENDS]):
        assert plain["v1", "ConfigMap", "llm", f"m{i}"]["data"]["it"] == text
    [text] = [path.read_text("utf-8") for path in (folder / "chart").rglob("tricky.yaml")]
    assert text.startswith("# Rendered by llmaz from {{`{{`}} a }} `b`.yaml. Do not edit.\n")
    assert llmaz("render", "--to", "helm", "--check").code == 0
    (folder / "{{ a }} `b`.yaml").unlink()
    assert llmaz("render", "--to", "helm").err.splitlines()[-1].endswith(", 1 deleted")


def test_names_of_files(folder: Path, llmaz: Llmaz, helm: Helm) -> None:
    """Helm reads no file whose name begins with `_`; what is left of the name may be taken."""
    for name in ("_a", "a", ".a", "__a"):
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name.replace("_", "x").replace(".", "y")}}
        passed(folder, body, name=f"own/{name}.yaml")
    quick = (folder / "chat.yaml").read_text("utf-8")
    (folder / "chat.yaml").write_text(quick.replace("name: chat\n", "name: shared\n"), "utf-8")
    done = llmaz("render", "--to", "helm", "--set", "gateway.create=true", "--set", "gateway.namespace=llm")
    assert done.code == 0, done.err
    plain = objects(llmaz("render", "--stdout", "--set", "gateway.create=true", "--set", "gateway.namespace=llm").out)
    assert template(helm, folder / "chart") == undone(folder / "chart") == plain
    templates = folder / "chart" / "templates"
    paths = sorted(path.relative_to(templates).as_posix() for path in templates.rglob("*.yaml"))
    assert paths == [
        "_extra/own/a.yaml",
        "_extra/own/a_.yaml",
        "_extra/own/a__.yaml",
        "_extra/own/a___.yaml",
        "cluster.yaml",
        "llm/shared.yaml",
        "llm/shared_.yaml",
    ]


# --- the folder -------------------------------------------------------------------------------------------------------


def test_the_folder_is_kept(folder: Path, llmaz: Llmaz) -> None:
    """Written once, checked, pruned; what is not ours stays."""
    shutil.copytree(EXAMPLES / "gateway-basic", folder, dirs_exist_ok=True)
    (folder / "chart" / "templates").mkdir(parents=True)
    mine = {"chart/templates/NOTES.txt": "Hello.\n", "chart/templates/mine.yaml": "{}\n", "chart/README.md": "Mine.\n"}
    for name, text in mine.items():
        (folder / name).write_text(text, "utf-8")
    done = llmaz("render", "--to", "helm", "--check")
    assert done.code == 2
    assert done.err.startswith(
        "chart/templates/mine.yaml: not written by llmaz, and Argo CD or Flux would sync it [E129]"
    )
    config = CONFIG
    (folder / "llmaz.yaml").write_text(config + "{output: {foreign: [templates/mine.yaml]}}\n", "utf-8")
    done = llmaz("render", "--to", "helm", "--check")
    assert done.code == 1
    assert "chart/templates/demo/chat.yaml: missing\n" in done.err
    assert done.err.endswith("chart/ is stale; run llmaz render --to helm\n")
    first = llmaz("render", "--to", "helm")
    assert (first.code, first.folder, first.counts["new"]) == (0, "chart", 5)
    before = contents(folder / "chart")
    again = llmaz("render", "--to", "helm")
    assert (again.counts["unchanged"], again.counts["new"], again.counts["changed"]) == (5, 0, 0)
    assert contents(folder / "chart") == before
    assert llmaz("render", "--to", "helm", "--check").code == 0

    schema = folder / "chart" / "values.schema.json"
    schema.write_text(schema.read_text("utf-8") + "\n", "utf-8")
    (folder / "chart" / "templates" / "demo" / "chat.yaml").unlink()
    left = folder / "chart" / "templates" / "demo" / f"chat.yaml.llmaz-{2**31 - 2}"
    left.write_text("half", "utf-8")
    done = llmaz("render", "--to", "helm", "--check", "--format", "json")
    assert done.code == 1
    assert {diagnostic["code"] for diagnostic in json.loads(done.out)} == {"E126", "E127"}
    assert llmaz("render", "--to", "helm").counts["changed"] == 1
    assert contents(folder / "chart").keys() == before.keys()
    assert not left.exists()

    text = (folder / "playgrounds.yaml").read_text("utf-8")
    (folder / "playgrounds.yaml").write_text(text.split("---\n")[0], "utf-8")
    done = llmaz("render", "--to", "helm")
    assert done.counts["gone"] == 1
    assert {name: (folder / name).read_text("utf-8") for name in mine} == mine


def test_the_folder_is_no_input(folder: Path, llmaz: Llmaz) -> None:
    """Neither is a chart when plain manifests are rendered, nor the other way round."""
    shutil.copytree(EXAMPLES / "gateway-basic", folder, dirs_exist_ok=True)
    first, second = llmaz("render"), llmaz("render", "--to", "helm")
    assert first.counts["objects"] == second.counts["objects"] > 0
    for args in (["--check"], ["--check", "--to", "helm"], ["--check", "--to", "helm", "-o", "chart"]):
        assert llmaz("render", *args).code == 0


def test_a_part_of_the_tree(folder: Path, llmaz: Llmaz, helm: Helm) -> None:
    """Apps that share nothing make a chart of their own, and keep away from the chart of all."""
    for team in ("team-a", "team-b"):
        (folder / team).mkdir()
        text = (EXAMPLES / "quickstart" / "chat.yaml").read_text("utf-8").replace("demo", team)
        text = text.replace("name: chat", f"name: {team}").replace("qwen2", f"{team}-qwen2")
        (folder / team / "chat.yaml").write_text(text, "utf-8")
    (folder / "llmaz.yaml").write_text(
        "{apiVersion: renderer.llmaz.io/v1alpha1, kind: RenderConfig, metadata: {name: c}, spec: {}}\n", "utf-8"
    )
    done = llmaz("render", "--to", "helm", "team-a", "-o", "charts/a")
    assert (done.code, done.counts["apps"]) == (0, 1), done.err
    assert {key[2] for key in template(helm, folder / "charts" / "a")} == {"team-a"}
    assert llmaz("render", "--to", "helm").counts["apps"] == 2
    before = contents(folder / "chart")
    done = llmaz("render", "--to", "helm", "team-a", "-o", "chart")
    assert done.code == 2
    assert "[E741]" in done.err
    assert contents(folder / "chart") == before


def test_an_environment_each(folder: Path, llmaz: Llmaz, helm: Helm) -> None:
    shutil.copytree(EXAMPLES / "environments", folder, dirs_exist_ok=True)
    config = yamlio.parse("llmaz.yaml", (folder / "llmaz.yaml").read_bytes())[0][0].value
    names = list(config["spec"]["environments"])
    rendered = {}
    for name in names:
        done = llmaz("render", "--to", "helm", "--env", name)
        assert (done.code, done.folder) == (0, f"chart/{name}"), done.err
        rendered[name] = template(helm, folder / "chart" / name)
        assert rendered[name] == objects(llmaz("render", "--stdout", "--env", name).out)
    assert rendered[names[0]] != rendered[names[1]]
    for name in names:
        assert llmaz("render", "--to", "helm", "--env", name, "--check").code == 0


def test_odd_objects_that_are_passed_through(folder: Path, llmaz: Llmaz, helm: Helm) -> None:
    """Of the kinds that are looked into, and of other shapes."""
    meta = {"name": "odd", "namespace": "llm"}
    bodies: list[Any] = [
        {"apiVersion": "v1", "kind": "A", "metadata": meta, "spec": {"parentRefs": 7, "fqdn": {"hostname": ["x"]}}},
        {
            "apiVersion": "v1",
            "kind": "B",
            "metadata": meta,
            "spec": "text",
            "image": 7,
            "containers": [{"image": None}],
        },
        {"apiVersion": "v1", "kind": "EnvoyProxy", "metadata": meta, "spec": {"provider": "none"}},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": meta, "args": {"namespace": ["llm"]}},
        {
            "apiVersion": "v1",
            "kind": "List",
            "metadata": meta,
            "items": [{"kind": "C", "metadata": meta}],
            "f": 1.5e300,
        },
        {
            "apiVersion": "v1",
            "kind": "D",
            "metadata": meta,
            "matchNames": [7, ["llm"]],
            "key": 7,
            "namespace": {"a": 1},
        },
        {"apiVersion": "v1", "kind": "LeaderWorkerSet", "metadata": meta, "spec": {"replicas": "x"}, "n": 2**53 + 1},
    ]
    passed(folder, *bodies)
    done = llmaz("render", "--to", "helm")
    assert done.code == 0, done.err
    plain = objects(llmaz("render", "--stdout").out)
    assert len(plain) == 6 + len(bodies)
    assert template(helm, folder / "chart") == plain


def test_nothing_at_all(folder: Path, llmaz: Llmaz, helm: Helm) -> None:
    assert llmaz("render", "--to", "helm", "--allow-empty").code == 0
    assert template(helm, folder / "chart") == {}


def test_name_and_version(folder: Path, llmaz: Llmaz, helm: Helm) -> None:
    shutil.copytree(EXAMPLES / "quickstart", folder, dirs_exist_ok=True)
    for version in ("0.1.0", "12.0.3-rc.1+build.7", "1.2.3"):
        args = ["--set", "output.chart.name=our-models", "--set", f"output.chart.version={version}"]
        assert llmaz("render", "--to", "helm", *args).code == 0
        done = helm("show", "chart", "chart")
        assert "name: our-models\n" in done.stdout
        assert f"version: {version}\n" in done.stdout


# --- docs/helm.md -----------------------------------------------------------------------------------------------------


def test_the_commands_of_the_page(folder: Path, llmaz: Llmaz, helm: Helm) -> None:
    """What its console blocks cannot show without Helm."""
    shutil.copytree(EXAMPLES / "quickstart", folder, dirs_exist_ok=True)
    assert llmaz("render", "--to", "helm").code == 0
    page = (ROOT / "docs" / "helm.md").read_text("utf-8")
    commands = [
        line
        for block in re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]
    assert len(commands) == 6
    for command in commands:
        program, *args = shlex.split(command)
        assert program == "helm"
        done = helm(*args)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
    assert (folder / "llmaz-models-1.4.0.tgz").exists()
    (folder / "out.yaml").write_text(helm("template", "models", "chart").stdout, "utf-8")
    assert llmaz("check", "out.yaml").code == 0


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_block_that_is_never_closed(replicas: int) -> None:
    """Whether it prints or not: what stands behind it would be lost, and Helm refuses the template."""
    template = 'a: 1\n{{- if ge (int (index .Values.apps "chat").replicas) 2 }}\nb: 2\n'
    with pytest.raises(NotComparable, match="a block that is never closed"):
        undo(template, {"apps": {"chat": {"replicas": replicas}}})
