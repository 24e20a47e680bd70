"""Which value a rule judges: what Kubernetes makes of old names, empty values, null and a missing field."""

from __future__ import annotations

from typing import Any

import pytest

from renderer import yamlio
from renderer.api import RenderPolicy
from renderer.policy.loose_values import is_true, is_zero
from renderer.policy.objects import judged_object
from renderer.policy.rules import judge_objects
from tests.apiserver import policy_spellings

# What k8s.io/kubernetes v1.36.3 converts in pkg/apis/core/v1/conversion.go (PodSpec in both directions,
# dropInitContainerAnnotations), fills in by pkg/apis/core/v1/defaults.go (SetDefaults_PodSpec, SetDefaults_Volume), and
# has in no other generated conversion of pods. v1.37.2 has moved the first into defaults.go.
CONVERTED: dict[str, tuple[dict[str, Any], str]] = {
    "serviceAccount is used where serviceAccountName is ''": (
        {"serviceAccountName": "", "serviceAccount": "x"},
        "E819",
    ),
    "... or null": ({"serviceAccountName": None, "serviceAccount": "x"}, "E819"),
    "... or missing": ({"serviceAccount": "x"}, "E819"),
    "serviceAccountName wins": ({"serviceAccountName": "team-a", "serviceAccount": "x"}, ""),
    "an empty name is default": ({"serviceAccountName": "", "serviceAccount": ""}, ""),
    "hostNetwork is no field of a security context": ({"securityContext": {"hostNetwork": True}}, ""),
    "hostPID is no field of a security context": ({"securityContext": {"hostPID": True}}, ""),
    "hostNetwork null is false": ({"hostNetwork": None, "hostPID": None}, ""),
    "a class that is '' is none": ({"priorityClassName": ""}, ""),
    "a volume of null is an emptyDir": ({"volumes": [{"name": "a", "hostPath": None}]}, ""),
    "a user that is null is the image's": ({"securityContext": {"runAsUser": None}}, ""),
}
DROPPED = (  # annotations that older versions read: dropped or left alone since 1.8 and 1.16
    "pod.alpha.kubernetes.io/init-containers",
    "pod.beta.kubernetes.io/init-containers",
    "scheduler.alpha.kubernetes.io/critical-pod",
)


def codes(body: dict[str, Any]) -> list[str]:
    """What the policy of the made-up objects denies of an object."""
    document = yamlio.parse("a.yaml", yamlio.dump(body).encode())[0][0]
    return [denial.code for denial in judge_objects(policy(), [document], None, namespaces=False)]


def policy() -> RenderPolicy:
    return policy_spellings.policy()


def pod(**spec: object) -> dict[str, Any]:
    containers = [{"name": "a", "image": "ghcr.io/org/a"}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": containers, **spec}}


@pytest.mark.parametrize("name", CONVERTED)
def test_what_kubernetes_converts(name: str) -> None:
    spec, code = CONVERTED[name]
    assert codes(pod(**spec)) == ([code] if code else [])


@pytest.mark.parametrize("name", DROPPED)
def test_annotations_that_nothing_reads(name: str) -> None:
    body = pod()
    body["metadata"]["annotations"] = {name: '[{"name": "b", "image": "evil.example/x"}]', "image": "evil.example/x"}
    assert codes(body) == []


@pytest.mark.parametrize("kind", ["Agent", "Pod"])
def test_text_counts_as_what_it_says(kind: str) -> None:
    spec = {"hostNetwork": "true", "containers": [{"name": "a", "securityContext": {"runAsUser": "0"}}]}
    version = "v1" if kind == "Pod" else "example.com/v1"
    assert codes({"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, "spec": spec}) == ["E824", "E821"]


def test_each_name_counts_in_other_kinds() -> None:
    spec = {"serviceAccountName": "team-a", "serviceAccount": "admin", "volumes": []}
    body = {"apiVersion": "example.com/v1", "kind": "Agent", "metadata": {"name": "a"}, "spec": spec}
    assert codes(body) == ["E819"]
    del spec["volumes"]
    assert codes(body) == []  # nothing says that this is a pod


@pytest.mark.parametrize("value", [True, 1, "true", "True", " yes", "ON", "1", "y", "t"])
def test_yes(value: object) -> None:
    assert is_true(value)


@pytest.mark.parametrize("value", [False, 0, None, "", "false", "no", "0", "{{x}}", [], {}, 2])
def test_no(value: object) -> None:
    assert not is_true(value)


@pytest.mark.parametrize("value", [0, 0.0, -0.0, "0", "00", "-0", "+0", "0x0", "0.0", "0e3", " 0 "])
def test_zero(value: object) -> None:
    assert is_zero(value)


@pytest.mark.parametrize("value", [False, None, "", 1, "1000", ">0", "x", "0 0", "0" * 100, [], {}, "nan"])
def test_not_zero(value: object) -> None:
    assert not is_zero(value)


def test_the_verdict_does_not_depend_on_the_order_of_keys() -> None:
    subjects = [*policy_spellings.made_up(200)]
    assert [subject.text for subject in subjects] == [subject.text for subject in policy_spellings.made_up(200)]
    assert (
        len({subject.spelling for subject in policy_spellings.made_up(1000)}) == len(policy_spellings.SPELLINGS) == 40
    )
    denied = sum(bool(policy_spellings.verdict(policy(), subject.text)) for subject in subjects)
    assert 20 < denied < 200  # some are allowed


def test_an_old_account_is_located_at_its_name() -> None:
    document = yamlio.parse(
        "a.yaml", b"apiVersion: v1\nkind: Pod\nspec:\n  serviceAccount: x\n  containers: [{name: a}]\n"
    )[0][0]
    assert judged_object(document, None).pods[0].accounts() == [(("spec", "serviceAccount"), "x")]


@pytest.mark.parametrize(
    ("image", "is_judged"),
    [
        ({"repository": "evil.example/x", "tag": "v1"}, True),
        ({"repository": "x/y", "registry": "evil.example"}, True),
        ({"name": "x/y", "registry": "evil.example"}, True),
        ({"repository": "evil.example", "tag": "5000/x"}, True),
        ({"repository": "docker.io/x/y"}, True),
        ({"repository": "ghcr.io/org/app", "tag": 1, "digest": f"sha256:{'0' * 64}"}, False),
        ({"repository": "x/y", "tag": "v1"}, False),  # of a registry that only the chart knows
        ({"name": "evil.example/x"}, False),
        ({"repository": "", "tag": ""}, False),
    ],
)
def test_images_in_parts_of_other_kinds(image: dict[str, Any], is_judged: bool) -> None:
    body = {"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "metadata": {}, "spec": {"image": image}}
    assert codes(body) == (["E815"] if is_judged else [])


def test_a_definition_has_no_pods() -> None:
    fields = {"containers": {"type": "array"}, "image": {"type": "string"}, "hostNetwork": {"type": "boolean"}}
    body = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {"properties": fields}}
    document = yamlio.parse("a.yaml", yamlio.dump(body).encode())[0][0]
    assert judged_object(document, None).pods == []
