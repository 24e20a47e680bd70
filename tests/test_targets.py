"""`targets`: every field that is rendered is known to its oldest version, and what a target lacks is an error, or
rendered in another form.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from renderer import schema_validation, yamlio
from renderer.diagnostics.wordings import WORDINGS
from renderer.kubernetes import component_versions
from scripts import make_compatibility
from tests.inputs import CONFIG, error_case

if TYPE_CHECKING:
    from tests.conftest import Llmaz

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CASES = sorted(path.parent.name for path in HERE.glob("cases/*/expected"))
DEFAULTS = {key: component.default for key, component in component_versions.components().items() if component.default}
MODEL = """
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: qwen}
spec:
  familyName: qwen2.5
  source: {modelHub: {modelID: Qwen/Qwen2.5-0.5B-Instruct-GGUF, filename: qwen2.5-0.5b-instruct-q4_k_m.gguf}}
"""
CHAT = (
    MODEL
    + """---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat, namespace: demo}
spec:
  modelClaim: {modelName: qwen}
  backendRuntimeConfig: {backendName: llamacpp}
"""
)
GROUP = (
    MODEL
    + """---
apiVersion: inference.llmaz.io/v1alpha1
kind: Service
metadata: {name: group, namespace: demo}
spec:
  modelClaims: {models: [{name: qwen}]}
  workloadTemplate:
    size: 4
    subGroupPolicy: POLICY
    workerTemplate:
      spec: {containers: [{name: model-runner, image: "registry.example/engine:1"}]}
"""
)
# Kinds whose versions nobody compared, and why.
APART = {
    "output/llm-d.ai/inferencemodelrewrite_v1alpha2": "llm-d-router is no module that is served: one version is known",
    "output/llm-d.ai/inferenceobjective_v1alpha2": "the same",
    "output/llmaz.io/openmodel_v1alpha1": "llmaz's own",
    "output/keda.sh/scaledobject_v1alpha1": "no target: docs/autoscaling.md says which KEDA is needed",
    "output/http.keda.sh/interceptorroute_v1beta1": "the same",
    "output/admissionregistration.k8s.io/validatingadmissionpolicy_v1": "read, never rendered; Kubernetes 1.30 has it",
    "output/kustomize.config.k8s.io/kustomization_v1beta1": "a file for kustomize, in no cluster",
}


def bodies(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every object below a folder."""
    for path in sorted(folder.rglob("*.yaml")):
        documents, problems = yamlio.parse(str(path), path.read_bytes())
        assert problems == []
        yield from ((path, document.value) for document in documents)


def read_targets(case: str) -> dict[str, str]:
    """The targets that a case names, in its llmaz.yaml, its environments or its command line."""
    targets: dict[str, str] = {}
    examples = (ROOT / "examples").glob(f"{case.removeprefix('example-')}/llmaz.yaml")
    for path in (*HERE.glob(f"cases/{case}/input/**/llmaz.yaml"), *examples):
        for document in yaml.safe_load_all(path.read_text("utf-8")):
            spec = (document or {}).get("spec") or {}
            targets |= spec.get("targets") or {}
            for environment in (spec.get("environments") or {}).values():
                targets |= ((environment or {}).get("config") or {}).get("targets") or {}
    arguments = HERE / "cases" / case / "args.txt"
    for word in shlex.split(arguments.read_text("utf-8")) if arguments.exists() else ():
        if match := re.fullmatch(r"targets\.(\w+)=(.*)", word):
            targets[match[1]] = match[2]
    return targets


# ---- the data ----


def test_defaults_are_those_of_the_schema() -> None:
    keys = schema_validation.read_schema("input/renderconfig")["properties"]["spec"]["properties"]["targets"][
        "properties"
    ]
    defaults = {key: node["default"] for key, node in keys.items()}
    assert defaults == {**DEFAULTS, "gatewayAPIChannel": "standard"}  # which is not a version


def test_the_data_is_of_the_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new version of a CRD in make_schemas.py needs `make schemas`, which compares it too."""
    text = (ROOT / "scripts" / "make_schemas.py").read_text("utf-8")
    pinned: dict[str, set[tuple[int, ...]]] = {}
    for module, version in re.findall(r'"([\w./-]+)@v([0-9.]+)"', text):
        pinned.setdefault(module, set()).add(component_versions.version_numbers(version)[:2])
    monkeypatch.syspath_prepend(ROOT / "scripts")
    from scripts.make_since import COMPONENTS  # not above: its neighbours are on the path only now

    assert set(COMPONENTS) == set(component_versions.components())
    for key, component in COMPONENTS.items():
        assert component_versions.version_numbers(component_versions.components()[key].tested) == max(
            pinned[component.module]
        ), key


def test_defaults_are_tested() -> None:
    """What is rendered by default is held against the schemas of these very versions; Kubernetes has a floor, and Envoy
    Gateway's own Gateway API is older than that of our schemas.
    """
    for key, component in component_versions.components().items():
        if component.default:
            oldest, default, tested, newest = map(
                component_versions.version_numbers,
                (component.oldest, component.default, component.tested, component.newest),
            )
            assert oldest <= default <= tested <= newest, key
            assert default == tested or key in ("kubernetes", "gatewayAPI")
    assert component_versions.components()["kubernetes"].default in WORDINGS["E133"].message


def test_every_schema_is_known() -> None:
    """A kind of ours without a component would slip past: one must be found for it, or said why not."""
    groups = {name.split("/")[1] for name in APART}
    for path in (ROOT / "renderer" / "schemas" / "output").glob("*/*.json"):
        name = f"output/{path.parent.name}/{path.stem}"
        version = path.stem.rpartition("_")[2]
        # The AI gateway's older API version is not rendered, and neither are these two of its kinds.
        if path.parent.name in groups or (path.parent.name, version) == ("aigateway.envoyproxy.io", "v1alpha1"):
            continue
        if path.stem != "mcproute_v1beta1":
            assert component_versions.serving_component(name), name


@pytest.mark.parametrize(
    ("name", "path", "needs"),
    [
        ("core/pod_v1", "spec.volumes[].image", {"kubernetes": "1.35"}),
        ("core/pod_v1", "spec.containers[].lifecycle.preStop.sleep", {"kubernetes": "1.30"}),
        ("core/pod_v1", "spec.resources", {"kubernetes": "1.34"}),
        ("core/pod_v1", "spec.hostUsers", {"kubernetes": "1.33"}),
        ("core/pod_v1", "spec.initContainers[].restartPolicy", {"kubernetes": "1.29"}),
        ("core/pod_v1", "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[].matchLabelKeys",
         {"kubernetes": "1.31"}),
        ("core/pod_v1", "spec.containers[].lifecycle.stopSignal", {"kubernetes": "1.33", "?": "ContainerStopSignals"}),
        ("apps/deployment_v1", "spec.template.spec.volumes[].image", {"kubernetes": "1.35"}),
        ("core/service_v1", "spec.trafficDistribution", {"kubernetes": "1.31"}),
        ("autoscaling/horizontalpodautoscaler_v2", "spec.behavior.scaleUp.tolerance", {"kubernetes": "1.35"}),
        ("leaderworkerset.x-k8s.io/leaderworkerset_v1",
         "spec.leaderWorkerTemplate.leaderTemplate.spec.hostnameOverride",
         {"kubernetes": "1.35", "leaderWorkerSet": "0.8"}),
        ("leaderworkerset.x-k8s.io/leaderworkerset_v1", "spec.leaderWorkerTemplate.volumeClaimTemplates",
         {"leaderWorkerSet": "0.8"}),
        ("aigateway.envoyproxy.io/aigatewayroute_v1beta1", "spec.hostnames", {"aiGateway": "0.7"}),
        ("core/pod_v1", "spec.evictionResponders", {"kubernetes": "1.37", "?": "EvictionRequestAPI"}),
        ("core/pod_v1", "spec.volumes[].projected.sources[].clusterTrustBundle", {"kubernetes": "1.37"}),
        ("leaderworkerset.x-k8s.io/leaderworkerset_v1", "spec.groupIdentity", {"leaderWorkerSet": "0.11"}),
        ("leaderworkerset.x-k8s.io/leaderworkerset_v1", "spec.scheduling",
         {"kubernetes": "1.37", "leaderWorkerSet": "0.11", "?": "GenericWorkload"}),
        ("aigateway.envoyproxy.io/aigatewayroute_v1beta1", "spec.rules[].excludeFromModelsEndpoint",
         {"aiGateway": "1.2"}),
        ("karpenter.k8s.aws/ec2nodeclass_v1", "spec.enclaveOptions", {"karpenter": "1.15"}),
        ("gateway.networking.k8s.io/referencegrant_v1", "", {"gatewayAPI": "1.5"}),
        ("gateway.networking.k8s.io/backendtlspolicy_v1", "", {"gatewayAPI": "1.4"}),
    ],
)  # fmt: skip
def test_facts(name: str, path: str, needs: dict[str, str]) -> None:
    """What release notes say, and a list of the fields that are newest everywhere else."""
    late = component_versions.TargetVersions(dict.fromkeys(component_versions.components(), "0.0")).too_new_schema(
        f"output/{name}"
    )
    assert late
    node = late.node
    for word in path.replace("[]", ".[]").split(".") if path else ():
        node = node[word]
    # A gate that is off for good only counts once the version is there.
    assert {**node["!"]} == {key: value for key, value in needs.items() if key != "?"}
    newest = component_versions.TargetVersions(
        {key: component.newest for key, component in component_versions.components().items()}
    ).too_new_schema(f"output/{name}")
    entries = list(make_compatibility.walked(newest.node)) if newest else []
    assert [entry[2]["?"] for entry in entries if entry[0] == path] == [
        value for key, value in needs.items() if key == "?"
    ]


def test_what_no_leaderworkerset_passes_on() -> None:
    """A field of pods that none of its CRDs has is unknown in its templates, not new."""
    targets = component_versions.TargetVersions(dict.fromkeys(component_versions.components(), "0.0"))
    pod, workload = (
        targets.too_new_schema(f"output/{name}")
        for name in ("core/pod_v1", "leaderworkerset.x-k8s.io/leaderworkerset_v1")
    )
    assert pod
    assert workload
    template = workload.node["spec"]["leaderWorkerTemplate"]["workerTemplate"]
    assert "evictionResponders" in pod.node["spec"]
    assert "evictionResponders" not in template["spec"]
    assert "projected" in template["spec"]["volumes"]["[]"]


def test_values() -> None:
    """A value counts as a field does, whether it is text or a number."""
    late = component_versions.TargetVersions({"leaderWorkerSet": "0.8", "gatewayAPI": "1.4"})
    workload = late.too_new_schema("output/leaderworkerset.x-k8s.io/leaderworkerset_v1")
    assert workload
    body = {"spec": {"leaderWorkerTemplate": {"restartPolicy": "RecreateGroupAfterStart"}}}
    assert [(finding.value, finding.needs) for finding in component_versions.too_new(workload.node, body)] == [
        ("RecreateGroupAfterStart", {"leaderWorkerSet": "0.9"})
    ]
    assert (
        list(component_versions.too_new(workload.node, {"spec": {"leaderWorkerTemplate": {"restartPolicy": "None"}}}))
        == []
    )


@pytest.mark.parametrize(
    "name", sorted(json.loads((ROOT / "renderer" / "kubernetes" / "component_versions.json").read_bytes())["kinds"])
)
def test_schemas_of_what_is_too_new(name: str) -> None:
    """The refusing schema and the walk agree: each single thing that is too new is refused, and the rest is not."""
    import jsonschema_rs

    late = component_versions.TargetVersions(dict.fromkeys(component_versions.components(), "0.0")).too_new_schema(name)
    assert "allOf" not in schema_validation.read_schema(name), "its place is taken by what is too new"
    if not late:
        return
    refusing = jsonschema_rs.Draft7Validator(late.schema)
    assert refusing.is_valid({}) or late.node.get("!")
    for path, value, needs in make_compatibility.walked(late.node):
        body: Any = (int(value) if value.isdecimal() else value) or {}
        for word in reversed(path.replace("[]", ".[]").replace("{}", ".{}").strip(".").split(".") if path else ()):
            body = [body] if word == "[]" else {"any" if word == "{}" else word: body}
        assert not refusing.is_valid(body), path
        assert needs in [finding.needs for finding in component_versions.too_new(late.node, body)], path


def test_the_newest_of_everything(folder: Path, llmaz: Llmaz) -> None:
    """What is too new for older targets is fine there, but for gates; what was written by hand is in the schema."""
    manifests = (error_case("targets-before-the-newest") / "manifests.yaml").read_text("utf-8")
    (folder / "manifests.yaml").write_text(manifests)
    newest = {key: component.newest for key, component in component_versions.components().items() if component.default}
    elsewhere = "  external: [Gateway/gateway, Backend/chat]\n"
    (folder / "llmaz.yaml").write_text(f"{CONFIG}\n  targets: {json.dumps(newest)}\n{elsewhere}")
    done = llmaz("check", "manifests.yaml")
    assert done.code == 0, done.err
    gates = re.findall(r"'(\w+)' needs the feature gate (\w+), .* Kubernetes 1.37 \[W700\]", done.err)
    assert gates == [("scheduling", "GenericWorkload"), ("protocol", "H2CContainerProbe")]
    assert done.err.count("warning") == 2
    (folder / "manifests.yaml").write_text(manifests.replace("groupIdentity: Hash", "groupIdentity: Random"))
    assert "[E304]" in llmaz("check", "manifests.yaml").err


@pytest.mark.parametrize(
    ("key", "versions", "expected"),
    [
        ("leaderWorkerSet", {"leaderWorkerSet": "0.11", "kubernetes": "1.33"}, [("kubernetes", "1.34")]),
        ("leaderWorkerSet", {"leaderWorkerSet": "0.11", "kubernetes": "1.34"}, []),
        ("leaderWorkerSet", {"leaderWorkerSet": "0.10", "kubernetes": "1.30"}, []),
        ("aiGateway", {"aiGateway": "0.7", "envoyGateway": "1.4"}, []),
        ("aiGateway", {"aiGateway": "1.1", "envoyGateway": "1.7"}, [("envoyGateway", "1.8")]),
        ("aiGateway", {"aiGateway": "1.3", "envoyGateway": "1.9"}, [("envoyGateway", "1.10")]),
        ("aiGateway", {"aiGateway": "1.3", "envoyGateway": "1.10"}, []),
        ("gatewayAPI", {"gatewayAPI": "1.7", "envoyGateway": "1.4"}, []),
    ],
)
def test_what_works_together(key: str, versions: dict[str, str], expected: list[tuple[str, str]]) -> None:
    assert list(component_versions.unmet_dependencies(key, DEFAULTS | versions)) == expected


def test_the_defaults_work_together() -> None:
    assert [unmet for key in DEFAULTS for unmet in component_versions.unmet_dependencies(key, DEFAULTS)] == []


# ---- what is rendered ----


@pytest.mark.parametrize("case", CASES)
def test_goldens_need_no_more_than_their_targets(case: str) -> None:
    """Every field of every golden is known, and as old as the targets of the case: a field that a builder begins to
    write, or a CRD that has a new one, is found here.
    """
    for path, body in bodies(HERE / "cases" / case / "expected"):
        name = make_compatibility.schema_of(body)
        assert name in APART or component_versions.serving_component(name), (
            f"{path}: nobody knows since when there is {name}"
        )
        assert asks_too_much(body, DEFAULTS | read_targets(case)) == [], path


def asks_too_much(body: dict[str, Any], targets: dict[str, str]) -> list[component_versions.TooNew]:
    """What of an object the targets do not have. Where there is no target it must have been there always."""
    return [
        finding
        for finding in make_compatibility.new(body)
        if any(
            key not in targets
            or component_versions.version_numbers(version) > component_versions.version_numbers(targets[key])
            for key, version in finding.needs.items()
            if key != component_versions.GATE
        )
    ]


def test_the_platform_needs_no_more_than_the_defaults() -> None:
    """What charts/llmaz and `llmaz nodepools` make, as far as it is of kinds that we compare. Karpenter is no target:
    the chart's is the one that counts.
    """
    targets = DEFAULTS | {"karpenter": make_compatibility.minor(make_compatibility.pins()["karpenter"])}
    seen = set()
    for folder in (HERE / "platform", HERE / "data" / "nodepools"):
        for path, body in bodies(folder):
            if "kind" in body and component_versions.serving_component(make_compatibility.schema_of(body)):
                seen.add(body["kind"])
                assert asks_too_much(body, targets) == [], path
    assert {"NodePool", "EC2NodeClass", "Gateway", "EnvoyProxy", "Deployment", "Job"} <= seen


def test_goldens_are_compared_at_all() -> None:
    """The search finds what is there."""
    needed = {
        (key, version)
        for case in CASES
        for _, body in bodies(HERE / "cases" / case / "expected")
        for finding in make_compatibility.new(body)
        for key, version in finding.needs.items()
    }
    assert {("kubernetes", "1.30"), ("kubernetes", "1.35"), ("leaderWorkerSet", "0.7"), ("aiGateway", "0.7")} <= needed


@pytest.mark.parametrize(
    ("targets", "needed"),
    [
        ("kubernetes: '1.30'", True),
        ("leaderWorkerSet: '0.7'", True),
        ("leaderWorkerSet: '0.10'", True),
        ("leaderWorkerSet: '0.6'", False),
    ],
)
def test_a_partition_where_there_is_one(folder: Path, llmaz: Llmaz, targets: str, needed: bool) -> None:
    (folder / "llmaz.yaml").write_text(f"{CONFIG}\n  targets: {{{targets}}}\n")
    (folder / "chat.yaml").write_text(CHAT)
    assert llmaz("render").code == 0
    assert ("partition: 0" in (folder / "rendered/demo/chat.yaml").read_text()) is needed


@pytest.mark.parametrize(
    ("version", "policy", "code", "written"),
    [
        ("0.6", "{subGroupSize: 2}", 0, True),
        ("0.5", "{subGroupSize: 2}", 0, False),
        ("0.5", "{subGroupSize: 2, subGroupPolicyType: LeaderWorker}", 2, False),
    ],
)
def test_a_type_of_subgroups(folder: Path, llmaz: Llmaz, version: str, policy: str, code: int, written: bool) -> None:
    """The default goes where it is not known; what somebody writes does not go in silence."""
    (folder / "group.yaml").write_text(GROUP.replace("POLICY", policy))
    done = llmaz("render", "--set", f"targets.leaderWorkerSet={version}")
    assert done.code == code, done.err
    assert ("[E700]" in done.err) is bool(code)
    file = folder / "rendered/demo/group.yaml"
    assert (file.exists() and "subGroupPolicyType" in file.read_text()) is written


# ---- what is said ----


@pytest.mark.parametrize("key", sorted(DEFAULTS))
@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("0.0", "E701"),
        ("99.0", "E702"),
        ("v1.30", "E306"),
        ("1.30.1", "E306"),
        (f"'1.{'9' * 5000}'", "E306"),
        ("latest", "E306"),
        ("''", "E306"),
        ("[1.30]", "E303"),
        ("-1", "E303"),
        ("1e3", "E303"),
    ],
)
def test_versions_that_are_none(folder: Path, llmaz: Llmaz, key: str, value: str, code: str) -> None:
    """Whatever the version is that nobody knows: one error at its place, and nothing is written."""
    (folder / "chat.yaml").write_text(CHAT)
    (folder / "llmaz.yaml").write_text(f"{CONFIG}\n  targets: {{{key}: {value}}}\n")
    done = llmaz("render")
    if key == "kubernetes":
        code = {"E701": "E306", "E702": "E306"}.get(code, code)  # it begins with 1, whatever happens
    # Unquoted numbers are no text; in quotes they are versions.
    expected = "E303" if re.fullmatch(r"[0-9.]+", value) and value.count(".") == 1 else code
    assert (done.code, done.out) == (2, "")
    assert f"llmaz.yaml:5:{15 + len(key)}: spec.targets.{key}: " in done.err
    assert f"[{expected}]" in done.err
    if expected != code:
        (folder / "llmaz.yaml").write_text(f"{CONFIG}\n  targets: {{{key}: '{value}'}}\n")
        done = llmaz("render")
        assert done.code == 2
        assert f"[{code}]" in done.err
    assert not (folder / "rendered").exists()


def test_no_targets_are_the_defaults(folder: Path, llmaz: Llmaz) -> None:
    (folder / "chat.yaml").write_text(CHAT)
    assert llmaz("render", "-o", "one").code == 0
    (folder / "llmaz.yaml").write_text(
        f"{CONFIG}\n  targets: {{leaderWorkerSet: '0.6'}}\n"
        "  environments: {dev: {config: {targets: {leaderWorkerSet: null}}}, prod: {config: {targets: {}}}}\n"
    )
    done = llmaz("render", "-o", "two")
    assert done.code == 0, done.err
    assert (folder / "one/demo/chat.yaml").read_text() == (folder / "two/dev/demo/chat.yaml").read_text()
    assert "partition" not in (folder / "two/prod/demo/chat.yaml").read_text()


def test_shared_objects_are_judged_too(folder: Path, llmaz: Llmaz) -> None:
    """A Gateway belongs to no app."""
    (folder / "chat.yaml").write_text(CHAT)
    config = "  targets: {envoyGateway: '1.4'}\n  gateway: {create: true, auth: {apiKeys: {secretName: a}}}\n"
    (folder / "llmaz.yaml").write_text(f"{CONFIG}\n{config}")
    done = llmaz("render")
    assert done.code == 2
    assert "llmaz.yaml:6:43: spec.gateway.auth.apiKeys: in SecurityPolicy spec.apiKeyAuth.sanitize: " in done.err


def test_packed_routes_are_judged_too(folder: Path, llmaz: Llmaz) -> None:
    (folder / "chat.yaml").write_text(CHAT)
    config = "  targets: {aiGateway: '0.6'}\n  gateway: {routeLayout: packed, hostnames: [a.example.com]}\n"
    (folder / "llmaz.yaml").write_text(f"{CONFIG}\n{config}")
    done = llmaz("render")
    assert done.code == 2
    assert "'hostnames' needs Agent Router (Envoy AI Gateway) 0.7, but the target is 0.6 [E700]" in done.err


def test_check_asks_for_what_is_said_only(folder: Path, llmaz: Llmaz) -> None:
    """The defaults are about what we render."""
    manifest = (error_case("targets-of-a-check") / "by-hand.yaml").read_text()
    (folder / "by-hand.yaml").write_text(manifest)
    assert llmaz("check", "by-hand.yaml").code == 0
    (folder / "llmaz.yaml").write_text(f"{CONFIG}\n  targets: {{aiGateway: '1.0'}}\n")
    assert llmaz("check", "by-hand.yaml").code == 0
    (folder / "llmaz.yaml").write_text(f"{CONFIG}\n  targets: {{kubernetes: '1.34'}}\n")
    done = llmaz("check", "by-hand.yaml")
    assert done.code == 2
    assert done.err.count("[E700]") == 1
    done = llmaz("check", "--strict", "by-hand.yaml")
    assert done.err.count("[E700]") == 1
    assert done.err.count("[W700]") == 1


def test_check_names_other_mistakes_too(folder: Path, llmaz: Llmaz) -> None:
    """What is too new does not hide what is wrong."""
    (folder / "llmaz.yaml").write_text(f"{CONFIG}\n  targets: {{kubernetes: '1.33'}}\n")
    spec = {"resources": {}, "containers": [{"name": "a", "image": "b", "imag": "c"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}
    (folder / "pod.yaml").write_text(json.dumps(pod))
    done = llmaz("check", "pod.yaml")
    assert done.code == 2
    assert "[E700]" in done.err
    assert "[E301]" in done.err


# ---- the page, and the chart ----


def test_page_is_fresh() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "make_compatibility.py"), "--check"],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}: run PYTHONPATH=. scripts/make_compatibility.py"


def test_the_chart_installs_this_profile() -> None:
    """charts/llmaz is one set of versions: that which is rendered for by default, in the versions of our schemas."""
    pins = make_compatibility.pins()
    components = component_versions.components()
    assert {key: make_compatibility.minor(version) for key, version in pins.items() if components[key].default} == {
        key: version for key, version in DEFAULTS.items() if key != "kubernetes"
    }
    for key, version in pins.items():
        installed = component_versions.version_numbers(make_compatibility.minor(version))
        assert installed <= component_versions.version_numbers(components[key].newest), key
        # Karpenter's schemas are of a newer one: what the chart makes is held against the facts of its own, above.
        assert component_versions.version_numbers(components[key].tested) <= installed or key in (
            "gatewayAPI",
            "karpenter",
        ), key
