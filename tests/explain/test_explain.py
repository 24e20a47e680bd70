"""`llmaz explain`: goldens below explain/expected/, and a promise about every field of every case."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from msgspec.structs import astuple, replace

from renderer import load, resolve, yamlio
from renderer.api import RenderOptions
from renderer.diagnostics import Path as Steps
from renderer.diagnostics import dotted
from renderer.explain import field_descriptions
from renderer.explain.answers import leaves
from renderer.explain.reasons import FILLED, MADE, RULE, SAID, InputLine, Reason, ReasonFinder
from renderer.explain.rendered_objects import ExplainRun, RenderedObject
from renderer.kubernetes import quantity
from tests.cases.test_cases import INPUTS
from tests.inputs import CONFIG
from tests.paths import ROOT, TESTS

if TYPE_CHECKING:
    from tests.conftest import Golden, Llmaz

RUNNER = "spec.leaderWorkerTemplate.workerTemplate.spec.containers[model-runner]"

# What a golden is called → the input, and the arguments.
GOLDENS = {
    "app.txt": ("example-quickstart", "chat"),
    "chat-template.txt": ("chat-template", f"lws/own.{RUNNER}.args[12]"),
    "chat-template-text.txt": ("chat-template", "configmap/beside-options-config.data[chat-template.jinja]"),
    "chat-template-volume.txt": (
        "chat-template",
        "lws/of-a-config-map.spec.leaderWorkerTemplate.workerTemplate.spec.volumes[chat-template]",
    ),
    "arguments.txt": ("options-given-again", "lws/underscores"),
    "elastic.txt": ("example-hpa", "hpa/chat"),
    "filtered-word.txt": ("version-vllm-speculative", f"lws/json.{RUNNER}.args[8]"),
    "flavors.txt": ("design-example", "lws/chat"),
    "gateway.txt": ("example-gateway-auth", "gateway/llmaz-gateway"),
    "group.txt": ("example-several-hosts", "lws/blue"),
    "group-words.txt": ("example-several-hosts", f"lws/blue-fast.{RUNNER}.args[10]"),
    "group-ranks.txt": ("wide-experts-pool", "lws/r1"),
    "group-of-a-role.txt": ("disaggregation-hosts", "lws/wide-decode"),
    "set-of-roles.txt": ("disaggregation-adapters", "disaggregatedset/sglang/qwen"),
    "group-start-rank.txt": ("wide-experts-backend", f"lws/r1.{RUNNER}.command"),
    "hand-written.txt": ("service-leader-worker", "lws/group"),
    "kv-cache.txt": ("kv-cache-offloading", "lws/vllm-files"),
    "loader.txt": ("source-s3", "lws/folder"),
    "models-file.txt": ("example-several-models", "configmap/router-config"),
    "models-metrics.txt": ("llamacpp-router", "podmonitor/router"),
    "model.txt": ("flavors-inftyai", "lws/llm/two-flavors"),
    "field-further-in.txt": ("example-hpa", "chat.behavior.scaleDown"),
    "override.txt": ("example-quickstart", "chat.schedulerName --set schedulerName=volcano"),
    "packed.txt": ("routes-packed", "aigatewayroute/team-a/llmaz-0"),
    "pod-template.txt": ("pod-template", "lws/patched"),
    "pool.txt": ("example-gateway-pool", "deploy/chat-epp"),
    "provider.txt": ("example-fallback-external", "modelroute/llm/chat"),
    "rights.txt": ("example-gateway-auth", "securitypolicy/large"),
    "service.json": ("example-quickstart", "svc/chat-lb --format json"),
    "argument.txt": ("example-vllm-gpu", f"lws/coder.{RUNNER}.args[--max-model-len]"),
    "argument-filled.txt": ("example-vllm-gpu", f"lws/coding/coder.{RUNNER}.args[0]"),
    "argument-given-again.txt": ("options-given-again", "lws/underscores.containers[0].args[--shutdown_timeout]"),
    "environment.txt": ("environment-who-wins", f"lws/chat.{RUNNER}.env"),
    "image.txt": ("images", f"lws/own.{RUNNER}.image"),
    "replicas.txt": ("example-vllm-gpu", "coder.spec.replicas"),
    "resource.txt": ("resources-who-wins", f"lws/lower-limit.{RUNNER}.resources.requests.memory"),
    "version.txt": ("version-vllm-drain", "lws/before.spec.leaderWorkerTemplate.workerTemplate"),
    "version-argument.txt": ("version-vllm-speculative", f"lws/options.{RUNNER}.args[--num-speculative-tokens]"),
    "version-command.txt": ("version-sglang-command", f"lws/module.{RUNNER}.command[2]"),
    "version-probe.txt": ("version-sglang-readiness", f"lws/health.{RUNNER}.readinessProbe"),
    "rule.txt": ("example-vllm-gpu", "svc/coder-leaders.spec.clusterIP"),
}


def arguments(case: str) -> list[str]:
    """The further arguments of a case."""
    file = TESTS / "cases" / case / "args.txt"
    return shlex.split(file.read_text()) if file.exists() else []


@pytest.mark.parametrize("name", GOLDENS)
def test_explain(name: str, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz, golden: Golden) -> None:
    case, line = GOLDENS[name]
    monkeypatch.chdir(INPUTS[case])
    done = llmaz("explain", *shlex.split(line))
    assert (done.code, done.err) == (0, "")
    if name.endswith(".txt"):
        assert max(map(len, done.out.splitlines())) <= 120
    golden(f"explain/expected/{name}", done.out)


def test_every_golden_is_made() -> None:
    assert {path.name for path in (TESTS / "explain" / "expected").iterdir()} == set(GOLDENS)


# Every field of every case


class Field(NamedTuple):
    """A field of a rendered object, with who made it; `text`: the file that it names."""

    rendered: RenderedObject
    path: Steps
    value: Any
    reason: Reason


def houses(case: str) -> Iterator[ExplainRun]:
    """The runs of a case, one an environment."""
    words = arguments(case)
    paths = tuple(word for i, word in enumerate(words) if word[0] != "-" and (i == 0 or words[i - 1][0] != "-"))
    overrides = tuple(words[i + 1] for i, word in enumerate(words) if word == "--set")
    options = RenderOptions(paths=paths, overrides=overrides)
    for name in load.rendered_environments(options) or ("",):
        yield ExplainRun(replace(options, env=name))


@lru_cache(maxsize=2)
def fields(case: str) -> tuple[Field, ...]:
    """All fields of a case, in the folder of its input."""
    all_fields: list[Field] = []
    for house in houses(case):
        reasons = ReasonFinder(house)
        for rendered in [*house.render_items(house.items), *house.shared()]:
            all_fields += [
                Field(rendered, path, value, reasons.of(rendered, path)) for path, value in leaves(rendered.body)
            ]
        assert house.refused == []
    return tuple(all_fields)


def file_of(place: InputLine) -> Path:
    return (ROOT if place.preset else Path()) / place.file


@lru_cache(maxsize=64)
def read(file: Path) -> list[yamlio.Document]:
    return yamlio.parse(file.name, file.read_bytes())[0]


def standing(place: InputLine) -> Any:
    """What stands at a place, by a reader of its own: the document that holds the line, followed to the field."""
    for document in read(file_of(place).resolve()):
        value = document.value
        for step in _steps(place.field):
            if isinstance(value, dict) and step in value:
                value = value[step]
            elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
                value = value[int(step)]
            else:
                break
        else:
            path = _path(document.value, place.field)
            if (place.line, place.column) in (document.locate(path), document.locate(path, key=True)):
                return value
    raise AssertionError(f"{place}: no such field there")


def _steps(field: str) -> list[str]:
    return [first or second for first, second in re.findall(r"\[([^\]]*)\]|([^.\[]+)", field)]


def _path(value: Any, field: str) -> Steps:
    path: Steps = ()
    for step in _steps(field):
        part: str | int = int(step) if isinstance(value, list) else step
        path, value = (*path, part), value[part]
    return path


def alike(rendered: Any, written: Any) -> bool:
    if rendered == written or str(rendered) == str(written):
        return True
    try:
        return quantity.canonical(rendered) == quantity.canonical(written)
    except (ValueError, TypeError, AttributeError):
        return False


@pytest.mark.parametrize("case", INPUTS, scope="module")  # so that all tests of a case come in turn: see `fields`
def test_every_field_has_an_explanation(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that is named is a line of the case's input or of a preset. What it is said to hold stands there, and a
    template that is said to be filled is one; a rule has words.
    """
    monkeypatch.chdir(INPUTS[case])
    all_fields = fields(case)
    assert all_fields
    checked: dict[InputLine, Any] = {}
    for rendered, path, value, reason in all_fields:
        where = f"{rendered} {dotted(path)}: {reason}"
        if reason.place is None:
            assert (reason.how, bool(reason.rule)) == (RULE, True), where
            continue
        for place in (reason.place, *reason.others, *(word for _, word in reason.words if word)):
            if place.file.startswith("--set "):
                assert (place.line, place.text) == (0, ""), where
            elif place not in checked:
                assert file_of(place).read_text("utf-8").splitlines()[place.line - 1] == place.text, where
                checked[place] = standing(place)
        written = checked.get(reason.place)
        if reason.how == SAID and reason.place.file.startswith("--set "):
            assert str(value) in reason.place.file, where
        elif reason.how == SAID:
            assert alike(value, written), f"{where}: {written}"
        elif reason.how == FILLED:
            assert "{{" in str(written), where
            if rendered.key[0] != "ConfigMap":  # these are templates of other engines too
                fixed = [re.escape(part) for part in re.split(r"\{\{.*?\}\}", str(written))]
                assert re.fullmatch(".*".join(fixed), str(value), re.DOTALL), f"{where}: {written}"
        else:
            assert reason.how == MADE, where


@pytest.mark.parametrize("case", INPUTS, scope="module")  # so that all tests of a case come in turn: see `fields`
def test_no_two_arguments_come_from_one_line(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor two variables of a container."""
    monkeypatch.chdir(INPUTS[case])
    seen: dict[Any, str] = {}
    for rendered, path, _, reason in fields(case):
        several = path[-2:-1] in (("args",), ("command",)) or (path[-3:-2] == ("env",) and path[-1] == "name")
        if reason.place and several and reason.how != MADE:
            lists = [i for i, step in enumerate(path) if step in ("containers", "initContainers")]
            key = (id(rendered), path[: lists[0] + 2] if lists else path[:8], astuple(reason.place)[:4])
            assert seen.setdefault(key, dotted(path)) == dotted(path), reason


def test_every_rule_is_met(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules that no field of any case has are dead."""
    met: set[tuple[str, str]] = set()
    for case, folder in INPUTS.items():
        monkeypatch.chdir(folder)
        for house in houses(case):
            for rendered in [*house.render_items(house.items), *house.shared()]:
                for path, _ in leaves(rendered.body):
                    if rule := field_descriptions.rule(rendered.key[0], path, rendered.body):
                        met.add((rendered.key[0], rule.text))
    texts = {text for _, text in met}
    assert sorted({text for _, text in field_descriptions.all_rules()} - texts) == []


def test_most_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fields of which no more is known than the app that they are made for."""
    for case in ("example-gateway-pool", "example-token-limits", "routes-of-gateways-of-ours", "service-leader-worker"):
        monkeypatch.chdir(INPUTS[case])
        bare = [
            f"{rendered} {dotted(path)}"
            for rendered, path, _, reason in fields(case)
            if reason.rule.startswith("made for")
        ]
        assert bare == []


# What is asked for


APPS = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat, namespace: one}
spec: {modelClaim: {modelName: qwen3-8b}}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat, namespace: two}
spec: {replicas: 3, modelClaim: {modelName: qwen3-8b}}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: code}
spec: {modelClaim: {modelName: qwen3-4b-instruct-gguf}, backendRuntimeConfig: {backendName: llamacpp}}
"""


@pytest.fixture
def apps(folder: Path) -> Path:
    """Two apps of one name, and one of another."""
    (folder / "apps.yaml").write_text(APPS)
    return folder


@pytest.mark.parametrize(
    "name",
    [
        "lws/two/chat",
        "LWS/two/chat",
        "LeaderWorkerSet/two/chat",
        "leaderworkersets/two/chat",
        "leaderworkersets.leaderworkerset.x-k8s.io/two/chat",
    ],
)
def test_ways_to_name_an_object(name: str, apps: Path, llmaz: Llmaz) -> None:
    done = llmaz("explain", f"{name}.spec.replicas")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "LeaderWorkerSet/two/chat, made for Playground two/chat\nspec.replicas: 3\n\n"
        "apps.yaml:9:18: spec.replicas\n      9 | spec: {replicas: 3, modelClaim: {modelName: qwen3-8b}}\n"
    )


def test_all_of_an_app(apps: Path, llmaz: Llmaz) -> None:
    """By its name where that is enough, else by its kind."""
    heads = re.findall("^[A-Z].*, made for .*$", llmaz("explain", "code").out, re.MULTILINE)
    assert heads[0] == "LeaderWorkerSet/default/code, made for Playground default/code"
    assert len(heads) == len(set(heads)) == 6
    assert llmaz("explain", "playground/code").out == llmaz("explain", "pl/default/code").out
    assert len(re.findall("made for Playground two/chat$", llmaz("explain", "pl/two/chat").out, re.MULTILINE)) == 7
    assert llmaz("explain", "service/code-lb").out.startswith("Service/default/code-lb, made for Playground")


@pytest.mark.parametrize(
    "field",
    [
        f"{RUNNER}.image",
        f".{RUNNER}.image",
        RUNNER.replace("model-runner", "0") + ".image",
        RUNNER.replace("[model-runner]", ".0") + ".image",
        RUNNER.replace("[model-runner]", "['model-runner']") + ".image",
        "containers[model-runner].image",
    ],
)
def test_ways_to_name_a_field(field: str, apps: Path, llmaz: Llmaz) -> None:
    done = llmaz("explain", f"lws/one/chat.{field}".replace("..", "."))
    assert (done.code, done.err) == (0, "")
    assert "containers[0].image: vllm/vllm-openai:" in done.out


ROLES = "disaggregation-adapters"


@pytest.mark.parametrize(
    ("case", "field", "expected"),
    [
        (
            ROLES,
            "lws/vllm/qwen-decode.containers[model-runner].ports[nixl].containerPort",
            "engine.disaggregation.ports",
        ),
        (
            ROLES,
            "lws/vllm/qwen-decode.containers[model-runner].ports[http].containerPort",
            "the picker's sidecar has 8080",
        ),
        (ROLES, "lws/vllm/qwen-decode.initContainers[routing-sidecar].name", "receives requests for the engine"),
        (ROLES, "DisaggregatedSet/sglang/qwen.spec.roles[0].name", "spec.disaggregation.prefill"),
        (
            "kv-cache-offloading",
            "lws/vllm-files.containers[model-runner].resources.requests.memory",
            "the last adds to",
        ),
        ("disaggregation-hosts", "lws/blue-decode.leaderTemplate.containers[model-runner].image", "spec.version"),
        ("disaggregation-hosts", "lws/blue-decode.leaderTemplate.containers[nobody].image", "no item 'nobody'"),
    ],
)
def test_roles_and_sums(case: str, field: str, expected: str, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz) -> None:
    monkeypatch.chdir(INPUTS[case])
    done = llmaz("explain", field)
    assert expected in done.out + done.err


def test_keys_with_dots(apps: Path, llmaz: Llmaz) -> None:
    done = llmaz("explain", "lws/code.metadata.annotations[renderer.llmaz.io/backend]")
    assert done.code == 0
    assert "apps.yaml:14:" in done.out


def test_only_what_is_asked_for_is_rendered(apps: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[str] = []
    plan = resolve.plan

    def noting(context: resolve.RunContext, item: Any) -> Any:
        planned.append(f"{item.namespace}/{item.name}")
        return plan(context, item)

    monkeypatch.setattr(resolve, "plan", noting)
    assert llmaz("explain", "lws/code").code == 0
    assert planned == ["default/code"]


def test_what_is_wrong_elsewhere_does_not_matter(apps: Path, llmaz: Llmaz) -> None:
    (apps / "wrong.yaml").write_text(APPS.partition("---")[0].replace("chat", "bad").replace("qwen3-8b", "nobody"))
    assert llmaz("explain", "lws/code").code == 0
    done = llmaz("explain", "lws/bad")
    assert (done.code, done.out) == (2, "")
    assert "wrong.yaml:4:32: spec.modelClaim.modelName: no OpenModel is named 'nobody' [E203]" in done.err
    assert "E777" not in done.err
    done = llmaz("explain", "bad")
    assert (done.code, "[E203]" in done.err) == (2, True)


WRONG = {
    "a/b/c/d": "E770",
    "lws//chat": "E770",
    ".spec": "E770",
    "[0]": "E770",
    "lwz/nobody": "E771",
    "nowhere/chat": "E777",
    "lwz/two/chat": "E771",
    "lwz two/chat": "E771",
    "pod/chat-0": "E771",
    "lws/code.spec[": "E772",
    "lws/code.spec[]": "E772",
    "lws/code.spec..replicas": "E772",
    "lws/code.spec[0]x": "E772",
    "lws/code.spec.replica": "E773",
    f"lws/code.{RUNNER}.args[700]": "E774",
    "lws/code.spec.leaderWorkerTemplate.workerTemplate.spec.containers[modelrunner]": "E774",
    "lws/code.spec.replicas.x": "E775",
    "lws/chat": "E776",
    "chat": "E776",
    "code.metadata.name": "E776",
    "lws/code.port": "E776",
    "lws/code.containers[runner].image": "E774",
    "lws/cod": "E777",
    "nobody": "E777",
    "lws/three/chat": "E777",
    "openmodel/qwen3-8b": "E777",
    "modelroute/code": "E777",
}


@pytest.mark.parametrize("name", ["default/code", "Playground default/code", "playground default/code"])
def test_an_app_as_a_difference_names_it(name: str, apps: Path, llmaz: Llmaz) -> None:
    """Though a ModelRoute of the namespace has the same name."""
    (apps / "route.yaml").write_text(
        "apiVersion: renderer.llmaz.io/v1alpha1\nkind: ModelRoute\nmetadata: {name: code}\n"
        "spec: {modelName: more, backends: [{playground: code}]}\n"
    )
    done, expected = llmaz("explain", name), llmaz("explain", "pl/default/code")
    assert (done.code, done.out) == (0, expected.out), done.err


@pytest.mark.parametrize("argument", WRONG)
def test_wrong(argument: str, apps: Path, llmaz: Llmaz) -> None:
    done = llmaz("explain", argument)
    assert (done.code, done.out) == (2, "")
    assert re.fullmatch(rf"{re.escape(argument)}: .* \[{WRONG[argument]}\]\n(    hint: .+\n)?1 error\n", done.err)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("chat", "nowhere.yaml"), "E122"),
        (("chat", "--set", "gateway"), "E130"),
        (("chat", "--env", "prod"), "E750"),
    ],
)
def test_wrong_options(arguments: tuple[str, ...], code: str, apps: Path, llmaz: Llmaz) -> None:
    done = llmaz("explain", *arguments)
    assert (done.code, done.out, f"[{code}]" in done.err) == (2, "", True)


def test_json(apps: Path, llmaz: Llmaz) -> None:
    """Every field has every key."""
    (item,) = json.loads(llmaz("explain", "lws/two/chat", "--format", "json").out)
    assert {key: item[key] for key in ("kind", "namespace", "name", "madeFor")} == {
        "kind": "LeaderWorkerSet",
        "namespace": "two",
        "name": "chat",
        "madeFor": "Playground two/chat",
    }
    assert len({tuple(field) for field in item["fields"]}) == 1
    (replicas,) = [field for field in item["fields"] if field["path"] == "spec.replicas"]
    assert (replicas["how"], replicas["value"], replicas["rule"]) == ("said", 3, None)
    assert replicas["origin"]["file"] == "apps.yaml"
    assert (replicas["origin"]["line"], replicas["origin"]["column"]) == (9, 18)


ENVIRONMENTS = (
    f"{CONFIG}\n  environments:\n    dev: {{}}\n    prod:\n      playgrounds:\n        two/chat: {{replicas: 8}}\n"
)


def test_environments(apps: Path, llmaz: Llmaz) -> None:
    """What an environment says stands in RenderConfig."""
    (apps / "llmaz.yaml").write_text(ENVIRONMENTS)
    prod = llmaz("explain", "lws/two/chat.spec.replicas", "--env", "prod")
    assert "spec.replicas: 8\n\nllmaz.yaml:9:30: spec.environments.prod.playgrounds[two/chat].replicas\n" in prod.out
    dev = llmaz("explain", "lws/two/chat.spec.replicas", "--env", "dev")
    assert "spec.replicas: 3\n\napps.yaml:9:18: spec.replicas\n" in dev.out
    assert "[E756]" in llmaz("explain", "lws/two/chat").err


def test_nothing_is_written(apps: Path, llmaz: Llmaz) -> None:
    assert llmaz("explain", "lws/code").code == 0
    assert sorted(path.name for path in apps.iterdir()) == ["apps.yaml"]


def test_long_texts_are_cut(folder: Path, llmaz: Llmaz) -> None:
    shutil.copy(ROOT / "examples" / "quickstart" / "chat.yaml", folder)
    assert max(map(len, llmaz("explain", "chat").out.splitlines())) <= 120
