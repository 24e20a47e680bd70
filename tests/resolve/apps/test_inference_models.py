"""InferenceModel's rules (docs/design/operator.md#inferencemodel), each with inputs that are taken and inputs that are
refused; and what becomes of what is taken: by version, by criticality, by weights, over a pool and over workloads.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import yaml

from tests.inputs import document

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.conftest import Llmaz, Outcome

GROUP = "inference.networking.x-k8s.io"
OLD, NEW = "v1alpha1", "v1alpha2"
BOTH = (OLD, NEW)
MOST = 1_000_000
LONG = "l" * 253  # the longest name of a target
ADAPTERS = [f"lora-{i}" for i in range(11)]
BASE = {"modelName": "public", "poolRef": {"name": "pool"}, "targetModels": [{"name": "base"}]}

Body = dict[str, Any]


def playground(name: str, serves: str, mode: str = "backend", namespace: str = "llm", *args: str) -> Body:
    spec: Body = {"modelClaim": {"modelName": "qwen3-8b"}, "servedModelName": serves, "gateway": {"mode": mode}}
    runtime = {"backendRuntimeConfig": {"args": list(args)}} if args else {}
    return document("Playground", name, {**spec, **runtime}, namespace)


LORAS = ["--enable-lora", "--lora-modules", *(f"{name}=/mnt/adapters/{name}" for name in (*ADAPTERS, LONG))]
AROUND = (
    playground("pool", "base", "pool", "llm", *LORAS),
    playground("chat", "chat"),
    playground("next", "next-1.5"),
    playground("closed", "closed", "off"),
    playground("team-pool", "team-base", "pool", "team"),
    playground("other-pool", "base", "pool", "other"),
)
SETTINGS: Body = {
    "namespace": "llm",
    "external": ["InferencePool/llm/declared"],
    "gateway": {"perNamespace": {"other": {"name": "other-gateway"}}},
}
POOLS = (
    {
        "apiVersion": "inference.networking.k8s.io/v1",
        "kind": "InferencePool",
        "metadata": {"name": "in-the-tree", "namespace": "llm"},
        "spec": {
            "selector": {"matchLabels": {"app": "theirs"}},
            "targetPorts": [{"number": 8080}],
            "endpointPickerRef": {"name": "theirs", "port": {"number": 9002}},
        },
    },
    {
        "apiVersion": f"{GROUP}/v1alpha2",
        "kind": "InferencePool",
        "metadata": {"name": "of-old", "namespace": "llm"},
        "spec": {"selector": {"app": "theirs"}, "targetPortNumber": 8080, "extensionRef": {"name": "theirs"}},
    },
)


def model(version: str = NEW, at: str = "one", namespace: str = "llm", *, without: str = "", **spec: Any) -> Body:
    """An InferenceModel: BASE with other fields."""
    return {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "InferenceModel",
        "metadata": {"name": at, "namespace": namespace},
        "spec": {key: value for key, value in {**BASE, **spec}.items() if key != without},
    }


def targets(*weights: int | None) -> list[Body]:
    """As many targets, which the pool serves."""
    return [
        {"name": name, **({} if weight is None else {"weight": weight})}
        for name, weight in zip(ADAPTERS, weights, strict=False)
    ]


def render(folder: Path, llmaz: Llmaz, *bodies: Body, gateway: Body | None = None) -> Outcome:
    """Renders them among AROUND."""
    spec = {**SETTINGS, "gateway": {**SETTINGS["gateway"], **(gateway or {})}}
    (folder / "llmaz.yaml").write_text(json.dumps(document("RenderConfig", "config", spec)))
    (folder / "around.yaml").write_text("\n---\n".join(map(json.dumps, [*AROUND, *POOLS])))
    (folder / "models.yaml").write_text("\n---\n".join(map(json.dumps, bodies)))
    return llmaz("render")


def rendered(folder: Path) -> dict[str, str]:
    output = folder / "rendered"
    return {path.relative_to(output).as_posix(): path.read_text() for path in output.rglob("*.yaml")}


def objects(folder: Path, kind: str) -> dict[str, Body]:
    """Those of a kind, by name."""
    manifests = [manifest for text in rendered(folder).values() for manifest in yaml.safe_load_all(text)]
    return {manifest["metadata"]["name"]: manifest for manifest in manifests if manifest["kind"] == kind}


class Refused(NamedTuple):
    """Inputs, the code of what is said, and the field that it points at."""

    bodies: tuple[Body, ...]
    code: str
    field: str


def no(code: str, field: str, *bodies: Body) -> Refused:
    return Refused(bodies, code, field)


class Rule(NamedTuple):
    """Inputs that are taken, and others that are refused."""

    accepted: Sequence[tuple[Body, ...]]
    refused: Sequence[Refused]


def weighed(version: str, *weights: int | None) -> Body:
    return model(version, targetModels=targets(*weights))


def pool(**reference: Any) -> Body:
    return model(poolRef={"name": "pool", **reference})


# Each by the words of the reference; where ours are stricter, they say so.
RULES = {
    "modelName is required": Rule(
        [(model(),)],
        [no("E302", "spec", model(without="modelName")), no("E303", "spec.modelName", model(modelName=5))],
    ),
    "modelName has at most 256 characters": Rule(
        [(model(modelName="m" * 256),), (model(OLD, modelName="ü" * 256),)],
        [no("E307", "spec.modelName", model(version, modelName="m" * 257)) for version in BOTH],
    ),
    "modelName may be empty there, and is refused here": Rule(
        [(model(modelName="m"),), (model(OLD, modelName="org/model:7b v1.5"),)],
        [no("E654", "spec.modelName", model(version, modelName=name)) for version in BOTH for name in ("", "  ")],
    ),
    "modelName is unique per pool, by itself and not by the object's name": Rule(
        [(model(), model(at="two", modelName="second"))],
        [
            no("E625", "spec.modelName", model(), model(at="two")),
            no("E625", "spec.modelName", model(OLD), model(at="two", targetModels=targets(1))),
        ],
    ),
    "modelName may be used in another pool, here of another Gateway only": Rule(
        [(model(), model(namespace="other", poolRef={"name": "other-pool"}))],
        [
            no(
                "E625",
                "spec.modelName",
                model(),
                model(namespace="team", poolRef={"name": "team-pool"}, targetModels=[{"name": "team-base"}]),
            ),
            no("E625", "spec.modelName", model(modelName="chat")),  # a Playground's, which is not its pool
        ],
    ),
    "criticality is Critical, Standard, Sheddable or none": Rule(
        [(model(version, criticality=word),) for version in BOTH for word in ("Critical", "Standard", "Sheddable")]
        + [(model(),)],
        [no("E304", "spec.criticality", model(criticality=word)) for word in ("critical", "", "Default", 10)],
    ),
    "targetModels has at most 10 items": Rule(
        [(model(targetModels=targets(*[1] * 10)),), (model(OLD, modelName=ADAPTERS[0], targetModels=[]),)],
        [no("E307", "spec.targetModels", model(version, targetModels=targets(*[1] * 11))) for version in BOTH],
    ),
    "without targetModels it is the model itself under its own name": Rule(
        [(model(version, modelName="lora-3", without="targetModels"),) for version in BOTH],
        [no("E660", "spec.modelName", model(version, without="targetModels")) for version in BOTH],
    ),
    "weights are on all or on none": Rule(
        [(weighed(version, *weights),) for version in BOTH for weights in [(None, None), (9, 1), (None,), (1,)]],
        [
            no("E655", f"spec.targetModels[{index}]", weighed(version, *weights))
            for version in BOTH
            for index, weights in [(1, (9, None)), (0, (None, 1)), (2, (1, 1, None))]
        ],
    ),
    "targetModels[].name is required": Rule(
        [(model(targetModels=[{"name": "base"}]),)],
        [no("E302", "spec.targetModels[0]", model(version, targetModels=[{"weight": 1}])) for version in BOTH],
    ),
    "targetModels[].name has at most 253 characters": Rule(
        [(model(targetModels=[{"name": LONG}]),)],
        [no("E307", "spec.targetModels[0].name", model(targetModels=[{"name": f"{LONG}x"}]))],
    ),
    "targetModels[].name is served by the pool": Rule(
        [(model(targetModels=[{"name": "base"}, {"name": "lora-0"}]),)],
        [
            no("E660", "spec.targetModels[1].name", model(targetModels=[{"name": "base"}, {"name": "lora"}])),
            no("E660", "spec.targetModels[0].name", model(targetModels=[{"name": "chat"}])),  # of another pool
        ],
    ),
    "targetModels[].name is served by a workload of the namespace": Rule(
        [(model(poolRef={"name": "chat"}, targetModels=[{"name": "chat"}, {"name": "next-1.5"}]),)],
        [
            no("E660", "spec.targetModels[0].name", model(poolRef={"name": "chat"}, targetModels=[{"name": name}]))
            for name in ("next", "team-base", "")
        ]
        + [no("E644", "spec.targetModels[0].name", model(poolRef={"name": "chat"}))]
        + [
            no("E643", "spec.targetModels[0].name", model(poolRef={"name": "chat"}, targetModels=[{"name": "closed"}])),
        ],
    ),
    "targetModels[].name stands once, which only we say": Rule(
        [(weighed(NEW, 1, 1),)],
        [no("E657", "spec.targetModels[1].name", model(targetModels=[*targets(1), *targets(1)]))],
    ),
    "in v1alpha1 a weight is 0 to 1000000": Rule(
        [(weighed(OLD, 0, 1),), (weighed(OLD, MOST, MOST),)],
        [no("E307", "spec.targetModels[1].weight", weighed(OLD, 1, weight)) for weight in (-1, MOST + 1)],
    ),
    "in v1alpha2 a weight is 1 to 1000000": Rule(
        [(weighed(NEW, 1, MOST),)],
        [
            no("E656", "spec.targetModels[0].weight", weighed(NEW, 0, 1)),
            no("E307", "spec.targetModels[1].weight", weighed(NEW, 1, -1)),
            no("E307", "spec.targetModels[1].weight", weighed(NEW, 1, MOST + 1)),
        ],
    ),
    "a weight is a whole number": Rule(
        [(weighed(OLD, 7),)],
        [
            no("E303", "spec.targetModels[0].weight", model(targetModels=[{"name": "base", "weight": weight}]))
            for weight in ("1", 0.5, True)
        ],
    ),
    "in v1alpha1 all weights 0 reserve a name, of targets that nobody need serve": Rule(
        [(weighed(OLD, 0),), (weighed(OLD, 0, 0),), (model(OLD, targetModels=[{"name": "later", "weight": 0}]),)],
        [
            no("E656", "spec.targetModels[0].weight", weighed(NEW, 0)),
            no("E656", "spec.targetModels[1].weight", weighed(NEW, 0, 0)),
        ],
    ),
    "a reserved name is nobody else's": Rule(
        [(weighed(OLD, 0), model(at="two", modelName="second"))],
        [
            no("E625", "spec.modelName", weighed(OLD, 0), model(at="two")),
            no("E625", "spec.modelName", model(), model(OLD, "two", targetModels=targets(0))),
        ],
    ),
    "poolRef is required": Rule(
        [(model(),)], [no("E302", "spec", model(version, without="poolRef")) for version in BOTH]
    ),
    "poolRef.name is required": Rule(
        [(pool(),)],
        [no("E302", "spec.poolRef", model(poolRef={})), no("E302", "spec.poolRef", model(poolRef={"kind": "P"}))],
    ),
    "poolRef.name has 1 to 253 characters": Rule(
        [(pool(name="declared"),)],
        [no("E307", "spec.poolRef.name", pool(name=name)) for name in ("", "p" * 254)]
        + [no("E658", "spec.poolRef.name", pool(name="p" * 253))],
    ),
    "poolRef.name is a pool that we render, one in the tree, or one declared external": Rule(
        [(pool(name=name),) for name in ("pool", "in-the-tree", "declared")],
        [
            no("E658", "spec.poolRef.name", pool(name="missing")),
            no("E661", "spec.poolRef.name", pool(name="of-old")),
            no("E643", "spec.poolRef.name", pool(name="closed")),
        ],
    ),
    "poolRef is in the same namespace": Rule(
        [(model(namespace="other", poolRef={"name": "other-pool"}),)],
        [
            no("E658", "spec.poolRef.name", model(namespace="other")),
            no("E658", "spec.poolRef.name", model(namespace="other", poolRef={"name": "in-the-tree"})),
            no("E658", "spec.poolRef.name", model(namespace="other", poolRef={"name": "declared"})),
            no("E301", "spec.poolRef.namespace", pool(namespace="other")),
        ],
    ),
    "poolRef.group is the alpha one, also where it is left out, that of v1, or empty": Rule(
        [(pool(group=group),) for group in (GROUP, "inference.networking.k8s.io", "")] + [(pool(),)],
        [no("E659", "spec.poolRef.group", pool(group=group)) for group in ("llmaz.io", "inference.networking")],
    ),
    "poolRef.group is a DNS subdomain of at most 253 characters": Rule(
        [(pool(group=GROUP),)],
        [
            no("E306", "spec.poolRef.group", pool(group="Inference_Networking")),
            no("E307", "spec.poolRef.group", pool(group="g" * 254)),
        ],
    ),
    "poolRef.kind is InferencePool": Rule(
        [(pool(kind="InferencePool"),), (pool(),)],
        [no("E659", "spec.poolRef.kind", pool(kind=kind)) for kind in ("Service", "Playground", "inferencepool")],
    ),
    "poolRef.kind has 1 to 63 letters, digits and '-', a letter first": Rule(
        [(pool(kind="InferencePool"),)],
        [
            no("E306", "spec.poolRef.kind", pool(kind="1Pool")),
            no("E306", "spec.poolRef.kind", pool(kind="Inference.Pool")),
            no("E307", "spec.poolRef.kind", pool(kind="")),
            no("E307", "spec.poolRef.kind", pool(kind="k" * 64)),
        ],
    ),
    "there are two versions": Rule(
        [(model(OLD),), (model(NEW),)],
        [no("E212", "apiVersion", model(version)) for version in ("v1", "v1alpha3", "v1beta1")],
    ),
    "the object's name is a label's value, and its own in a namespace": Rule(
        [
            (model(at="o" * 63),),
            (model(at="1-one"),),
            (model(), model(namespace="other", poolRef={"name": "other-pool"})),
        ],
        [no("E662", "metadata.name", model(at=name)) for name in ("o" * 64, "One", "one.two", "one-")]
        + [no("E201", "metadata.name", model(), model(modelName="second"))],
    ),
}
TAKEN = [
    pytest.param(bodies, id=f"{words}-{i}") for words, rule in RULES.items() for i, bodies in enumerate(rule.accepted)
]
REFUSED = [
    pytest.param(case, id=f"{words}-{i}") for words, rule in RULES.items() for i, case in enumerate(rule.refused)
]


@pytest.mark.parametrize("bodies", TAKEN)
def test_a_rule_takes(bodies: tuple[Body, ...], folder: Path, llmaz: Llmaz) -> None:
    done = render(folder, llmaz, *bodies)
    assert done.code == 0, done.err
    assert [line for line in done.warnings.splitlines() if line[:1] != " " and not line.endswith("[W270]")] == []


@pytest.mark.parametrize("case", REFUSED)
def test_a_rule_refuses(case: Refused, folder: Path, llmaz: Llmaz) -> None:
    done = render(folder, llmaz, *case.bodies)
    assert done.code == 2, done.err
    messages = [line for line in done.err.splitlines() if line.endswith(f"[{case.code}]")]
    line = 2 * len(case.bodies) - 1  # the last document, each in a line of its own
    assert [
        message for message in messages if message.startswith(f"models.yaml:{line}:") and f": {case.field}: " in message
    ], done.err
    assert not (folder / "rendered").exists()


def test_every_rule_has_both() -> None:
    assert [words for words, rule in RULES.items() if not rule.accepted or not rule.refused] == []


# --- what becomes of it

SAME = {
    "none": {"modelName": "lora-0", "targetModels": None},
    "one": {},
    "no weights": {"targetModels": targets(None, None)},
    "weights": {"targetModels": targets(90, 10)},
    "critical": {"criticality": "Critical"},
    "sheddable weights": {"criticality": "Sheddable", "targetModels": targets(1, 2, 3)},
}
SPLIT = [{"name": "chat"}, {"name": "next-1.5"}]
SAME_BEHIND = {
    "none": {"modelName": "chat", "targetModels": None},
    "one": {"targetModels": SPLIT[1:]},
    "no weights": {"targetModels": SPLIT},
    "weights": {"targetModels": [{**SPLIT[0], "weight": 90}, {**SPLIT[1], "weight": 10}]},
    "critical": {"criticality": "Critical", "targetModels": SPLIT},
}


@pytest.mark.parametrize(
    ("name", "spec"),
    [pytest.param("pool", spec, id=f"pool-{words}") for words, spec in SAME.items()]
    + [pytest.param("chat", spec, id=f"backend-{words}") for words, spec in SAME_BEHIND.items()],
)
def test_both_versions_render_alike(name: str, spec: Body, folder: Path, llmaz: Llmaz) -> None:
    fields = {key: value for key, value in spec.items() if value is not None}
    without = next((key for key, value in spec.items() if value is None), "")
    old, new = (model(version, poolRef={"name": name}, without=without, **fields) for version in BOTH)
    first = render(folder, llmaz, old)
    assert first.code == 0, first.err
    files = rendered(folder)
    assert "llm/one.route.yaml" in files
    assert GROUP not in files["llm/one.route.yaml"]
    again = render(folder, llmaz, new)
    assert again.warnings == first.warnings
    assert (again.counts["changed"], again.counts["new"], again.counts["gone"]) == (0, 0, 0)
    assert rendered(folder) == files


@pytest.mark.parametrize("version", BOTH)
@pytest.mark.parametrize(
    ("criticality", "priority"), [("Critical", 10), ("Standard", 0), (None, 0), ("Sheddable", -10)]
)
def test_criticality_becomes_a_priority(
    version: str, criticality: str | None, priority: int, folder: Path, llmaz: Llmaz
) -> None:
    fields = {"criticality": criticality} if criticality else {}
    assert render(folder, llmaz, model(version, **fields)).code == 0
    objectives = objects(folder, "InferenceObjective")
    assert list(objectives) == ["one"]
    assert objectives["one"]["apiVersion"] == "llm-d.ai/v1alpha2"
    assert objectives["one"]["metadata"]["namespace"] == "llm"
    reference = {"group": "inference.networking.k8s.io", "kind": "InferencePool", "name": "pool"}
    assert objectives["one"]["spec"] == {"poolRef": reference, "priority": priority}


def test_the_picker_says_in_which_group(folder: Path, llmaz: Llmaz) -> None:
    assert render(folder, llmaz, model(), gateway={"picker": "gaie-1.5"}).code == 0
    for kind in ("InferenceObjective", "InferenceModelRewrite"):
        (manifest,) = objects(folder, kind).values()
        assert manifest["apiVersion"] == f"{GROUP}/v1alpha2"


@pytest.mark.parametrize(
    ("version", "target_models", "expected"),
    [
        pytest.param(NEW, targets(90, 10), [("lora-0", 90), ("lora-1", 10)], id="weights"),
        pytest.param(NEW, targets(None, None), [("lora-0", None), ("lora-1", None)], id="no weights"),
        pytest.param(OLD, targets(5, 0, 1), [("lora-0", 5), ("lora-2", 1)], id="zero beside others"),
        pytest.param(NEW, targets(MOST), [("lora-0", MOST)], id="one"),
    ],
)
def test_targets_become_a_rewrite(
    version: str, target_models: list[Body], expected: list[tuple[str, int | None]], folder: Path, llmaz: Llmaz
) -> None:
    assert render(folder, llmaz, model(version, targetModels=target_models)).code == 0
    (rewrite,) = objects(folder, "InferenceModelRewrite").values()
    (rule,) = rewrite["spec"]["rules"]
    assert rule["matches"] == [{"model": {"type": "Exact", "value": "public"}}]
    assert [(target["modelRewrite"], target.get("weight")) for target in rule["targets"]] == expected


@pytest.mark.parametrize("arguments", [{"without": "targetModels"}, {"targetModels": []}])
def test_nothing_is_rewritten_without_targets(arguments: Body, folder: Path, llmaz: Llmaz) -> None:
    assert render(folder, llmaz, model(modelName="lora-0", **arguments)).code == 0
    assert list(objects(folder, "InferenceObjective")) == ["one"]
    assert objects(folder, "InferenceModelRewrite") == {}


def test_over_a_pool_the_name_leads_to_the_pool(folder: Path, llmaz: Llmaz) -> None:
    assert render(folder, llmaz, weighed(NEW, 90, 10)).code == 0
    (rule,) = objects(folder, "AIGatewayRoute")["one"]["spec"]["rules"]
    assert rule["matches"][0]["headers"][0]["value"] == "public"
    (reference,) = rule["backendRefs"]
    assert (reference["kind"], reference["name"]) == ("InferencePool", "pool")


@pytest.mark.parametrize(
    ("version", "weights", "expected"),
    [(NEW, (90, 10), [90, 10]), (OLD, (1, 0), [1, 0]), (NEW, (None, None), [1, 1])],
)
def test_over_workloads_the_weights_are_the_gateways(
    version: str, weights: tuple[int | None, ...], expected: list[int], folder: Path, llmaz: Llmaz
) -> None:
    target_models = [
        {**target, **({} if weight is None else {"weight": weight})}
        for target, weight in zip(SPLIT, weights, strict=True)
    ]
    done = render(folder, llmaz, model(version, poolRef={"name": "chat"}, targetModels=target_models))
    assert (done.code, done.warnings) == (0, "")
    (rule,) = objects(folder, "AIGatewayRoute")["one"]["spec"]["rules"]
    backends = [
        (reference["name"], reference["modelNameOverride"], reference["weight"]) for reference in rule["backendRefs"]
    ]
    assert backends == [("chat", "chat", expected[0]), ("next", "next-1.5", expected[1])]
    assert objects(folder, "InferenceObjective") == objects(folder, "InferenceModelRewrite") == {}


def test_criticality_does_nothing_over_workloads_and_says_so(folder: Path, llmaz: Llmaz) -> None:
    done = render(folder, llmaz, model(poolRef={"name": "chat"}, targetModels=SPLIT, criticality="Critical"))
    assert done.code == 0
    assert "spec.criticality: " in done.warnings
    assert "[W244]" in done.warnings
    assert objects(folder, "InferenceObjective") == {}


def test_a_reserved_name_has_nothing_behind_it(folder: Path, llmaz: Llmaz) -> None:
    assert render(folder, llmaz).code == 0
    before = rendered(folder)
    assert render(folder, llmaz, weighed(OLD, 0, 0)).code == 0
    assert rendered(folder) == before


@pytest.mark.parametrize(
    ("at", "served", "spec"),
    [
        ("pool", "base", {"criticality": "Critical"}),
        ("chat", "chat", {"targetModels": [{"name": "chat", "weight": 9}, {"name": "next-1.5", "weight": 1}]}),
    ],
)
def test_a_pools_own_name_has_one_route(at: str, served: str, spec: Body, folder: Path, llmaz: Llmaz) -> None:
    assert render(folder, llmaz).code == 0
    assert at in objects(folder, "AIGatewayRoute")
    assert render(folder, llmaz, model(modelName=served, poolRef={"name": at}, **spec)).code == 0
    routes = objects(folder, "AIGatewayRoute")
    assert at not in routes
    assert routes["one"]["spec"]["rules"][0]["matches"][0]["headers"][0]["value"] == served


def test_a_pool_of_somebody_elses_gets_its_names(folder: Path, llmaz: Llmaz) -> None:
    """Nobody knows what it serves, so any target is taken."""
    assert render(folder, llmaz, model(poolRef={"name": "declared"}, targetModels=[{"name": "theirs"}])).code == 0
    (rewrite,) = objects(folder, "InferenceModelRewrite").values()
    assert rewrite["spec"]["poolRef"]["name"] == "declared"
    (rule,) = objects(folder, "AIGatewayRoute")["one"]["spec"]["rules"]
    assert rule["backendRefs"][0]["name"] == "declared"
