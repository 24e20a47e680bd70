"""What is judged about plain objects, without a server: verdicts, messages, and what is told as not judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import yaml

from renderer import yamlio
from renderer.admission.judge import Judge
from renderer.admission.policy_files import read_admission_files
from renderer.admission.records import KnownNamespace
from tests.admission.policies import Judged

POLICY = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules:
      - {apiGroups: [apps, ""], apiVersions: [v1], operations: [CREATE], resources: [deployments, services, namespaces]}
  validations: []
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, validationActions: [Deny]}
"""
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "llm", "labels": {"team": "a"}},
    "spec": {"replicas": 3, "template": {"spec": {"containers": [{"name": "web", "image": "nginx"}]}}},
}
SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web", "namespace": "llm"},
    "spec": {"type": "NodePort", "ports": [{"port": 80}]},
}
NAMESPACES = {"llm": KnownNamespace({"env": "prod"})}


def judged(
    spec: Mapping[str, Any],
    body: object = DEPLOYMENT,
    namespaces: Mapping[str, KnownNamespace] = NAMESPACES,
    binding: Mapping[str, Any] | None = None,
    bodies: Sequence[Any] = (),
) -> tuple[list[str], list[str]]:
    """The messages of denials, and the reasons why something is not judged."""
    policy, bound = yaml.safe_load_all(POLICY)
    policy["spec"].update(spec)
    bound["spec"].update(binding or {})
    documents, problems = yamlio.parse("policy.yaml", yaml.dump_all([policy, bound]).encode())
    files = read_admission_files(documents)
    assert not problems
    assert not files.problems
    judge = Judge(files.policies, files.bindings, bodies, namespaces)
    verdicts = [verdict.decision.message for verdict in judge.verdicts(Judged(body))]
    return verdicts, [item.reason for item in judge.take_unjudged()]


def of(expression: str, **more: Any) -> dict[str, Any]:
    return {"validations": [{"expression": expression, **more}]}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (of("object.spec.replicas == 3"), None),
        (of("object.spec.replicas < 3"), "failed expression: object.spec.replicas < 3"),
        (of("object.spec.replicas < 3", message=" few "), "few"),
        (of("false", message="m", messageExpression="'at most ' + string(object.spec.replicas)"), "at most 3"),
        (of("false", message="m", messageExpression="' '"), "m"),
        (of("false", message="m", messageExpression="'a\\nb'"), "m"),
        (of("false", message="m", messageExpression="string(object.nosuch)"), "m"),
        (of("false", messageExpression="request.userInfo.username"), "failed expression: false"),
        (of("object.nosuch == 1"), "expression 'object.nosuch == 1' resulted in error: no such key: nosuch"),
        ({**of("object.nosuch == 1"), "failurePolicy": "Ignore"}, None),
        (of("namespaceObject.metadata.labels.env == 'dev'", message="not dev"), "not dev"),
        (of("request.operation != 'CREATE' || oldObject != null", message="created"), "created"),
        (of("request.resource.resource + request.kind.kind != 'deploymentsDeployment'", message="r"), "r"),
        ({**of("false"), "matchConditions": [{"name": "a", "expression": "object.metadata.name != 'web'"}]}, None),
        (
            {**of("true"), "matchConditions": [{"name": "a", "expression": "object.nosuch == 1"}]},
            "expression 'object.nosuch == 1' resulted in error: no such key: nosuch",
        ),
        (
            {
                **of("variables.b == 4"),
                "variables": [
                    {"name": "a", "expression": "object.spec.replicas"},
                    {"name": "b", "expression": "variables.a * 2"},
                ],
            },
            "failed expression: variables.b == 4",
        ),
        (
            {**of("variables.a == 4"), "variables": [{"name": "a", "expression": "object.nosuch"}]},
            "expression 'variables.a == 4' resulted in error: "
            'composited variable "a" fails to evaluate: no such key: nosuch',
        ),
        ({**of("true || variables.a"), "variables": [{"name": "a", "expression": "object.nosuch == 1"}]}, None),
        (
            {**of("true"), "auditAnnotations": [{"key": "k", "valueExpression": "string(object.nosuch)"}]},
            "expression 'string(object.nosuch)' resulted in error: no such key: nosuch",
        ),
        (of("object.spec.template.spec.containers[0].imagePullPolicy != 'Always'", message="defaulted"), "defaulted"),
    ],
)  # fmt: skip
def test_verdicts(spec: dict[str, Any], message: str | None) -> None:
    assert judged(spec) == ([message] if message else [], [])


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("request.userInfo.username == 'a'", "request.userInfo (who creates an object)"),
        ("has(request.userInfo.extra)", "request.userInfo (who creates an object)"),
        ("request.?userInfo.?username.orValue('a') == 'a'", "request.userInfo (who creates an object)"),
        ("request['userInfo'] == null", "request.userInfo (who creates an object)"),
        ("authorizer.group('').resource('pods').check('get').allowed()", "who may do what (authorizer)"),
        ("object.metadata.labels.all(k, v, k != v)", "the macro 'all' with two variables"),
        ("object.metadata.name.nosuch()", "the function 'nosuch'"),
        ("has(object.metadata.uid)", "object.metadata.uid (the server sets it)"),
        (
            "namespaceObject.metadata.annotations.a == 'b'",
            "namespaceObject.metadata.annotations (only the labels of the namespace are known)",
        ),
        ("lists.range(1000).all(a, lists.range(1000).all(b, a + b >= 0))", "more steps than llmaz runs"),
    ],
)
def test_what_is_not_judged(expression: str, reason: str) -> None:
    assert judged(of(expression)) == ([], [reason])


@pytest.mark.parametrize(
    "expression",
    [
        "object.spec.replicas == 3 || request.userInfo.username == 'a'",
        "!(object.spec.replicas == 4 && request.userInfo.username == 'a')",
        "'request.userInfo' != object.metadata.name",
    ],
)
def test_what_is_not_known_matters_only_where_it_decides(expression: str) -> None:
    assert judged(of(expression)) == ([], [])


def test_variables_without_a_value_are_not_judged_either() -> None:
    spec = {**of("variables.who == 'a'"), "variables": [{"name": "who", "expression": "request.userInfo.username"}]}
    assert judged(spec) == ([], ["request.userInfo (who creates an object)"])


def test_what_the_server_chooses() -> None:
    chosen = "object.spec.ports[].nodePort (the server sets it)"
    assert judged(of("object.spec.ports.all(p, p.nodePort > 1)"), SERVICE) == ([], [chosen])
    assert judged(of("has(object.spec.clusterIP)"), SERVICE) == ([], ["object.spec.clusterIP (the server sets it)"])
    body = {**SERVICE, "spec": {**SERVICE["spec"], "clusterIP": "None"}}  # type: ignore[dict-item]
    assert judged(of("object.spec.clusterIP == 'None'"), body) == ([], [])


def test_a_namespace_that_nobody_knows() -> None:
    reason = "the labels of namespace 'llm', which the tree does not define"
    spec = of("namespaceObject.metadata.labels.env == 'dev'")
    assert judged(spec, namespaces={}) == ([], [f"namespaceObject ({reason})"])
    assert judged(of("false", message="m"), namespaces={}) == (["m"], [])
    selected = {"matchResources": {"namespaceSelector": {"matchLabels": {"env": "dev"}}}}
    assert judged(of("false"), namespaces={}, binding=selected) == ([], [reason])
    assert judged(of("false"), binding=selected) == ([], [])


def test_an_object_that_names_no_namespace() -> None:
    body = {**DEPLOYMENT, "metadata": {"name": "web"}}
    name = "object.metadata.namespace (the object names no namespace)"
    assert judged(of("object.metadata.namespace == 'a'"), body) == ([], [name])
    assert judged(of("has(object.metadata.namespace)"), body) == ([], [name])
    assert judged(of("object.metadata.name == 'web'"), body) == ([], [])


def test_a_namespace_itself() -> None:
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "llm", "labels": {"env": "dev"}}}
    spec = {
        **of("object.metadata.labels['kubernetes.io/metadata.name'] != 'llm'", message="m"),
        "matchConstraints": {
            "resourceRules": yaml.safe_load(POLICY.partition("---")[0])["spec"]["matchConstraints"]["resourceRules"],
            "namespaceSelector": {"matchLabels": {"env": "dev"}},
        },
    }
    assert judged(spec, body) == (["m"], [])


PARAM = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "limits", "namespace": "rules"},
    "data": {"n": "2"},
}


def test_params() -> None:
    spec = {
        **of("object.spec.replicas <= int(params.data.n)", message="m"),
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
    }
    reference = {"name": "limits", "namespace": "rules", "parameterNotFoundAction": "Deny"}
    assert judged(spec, binding={"paramRef": reference}, bodies=[PARAM]) == (["m"], [])
    missing = "the param ConfigMap 'limits' in namespace 'rules', which is not in the tree"
    assert judged(spec, binding={"paramRef": reference}) == ([], [missing])
    own = {"name": "limits", "parameterNotFoundAction": "Allow"}
    assert judged(spec, binding={"paramRef": own}, bodies=[PARAM]) == ([], [missing.replace("rules", "llm")])
    several = [
        PARAM,
        {**PARAM, "metadata": {"name": "b", "namespace": "rules", "labels": {"a": "b"}}, "data": {"n": "9"}},
    ]
    selected = {"selector": {"matchLabels": {"a": "b"}}, "namespace": "rules", "parameterNotFoundAction": "Deny"}
    assert judged(spec, binding={"paramRef": selected}, bodies=several) == ([], [])


def test_other_versions_of_a_resource() -> None:
    body = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "a", "namespace": "llm"},
    }
    rule = {
        "apiGroups": ["autoscaling"],
        "apiVersions": ["v1"],
        "operations": ["*"],
        "resources": ["horizontalpodautoscalers"],
    }
    spec = {**of("false"), "matchConstraints": {"resourceRules": [rule]}}
    reason = "horizontalpodautoscalers in another version, to which the server converts them"
    assert judged(spec, body) == ([], [reason])
    assert judged({**spec, "matchConstraints": {"resourceRules": [rule], "matchPolicy": "Exact"}}, body) == ([], [])


def test_pods_of_controllers() -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    spec = {**of("false"), "matchConstraints": {"resourceRules": [rule]}}
    assert judged(spec) == ([], ["pods that controllers make of workloads"])
    assert judged(spec, SERVICE) == ([], [])


def test_policies_do_not_judge_policies() -> None:
    body = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "p"},
    }
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}
    assert judged({**of("false"), "matchConstraints": {"resourceRules": [rule]}}, body) == ([], [])


@pytest.mark.parametrize(
    "expression",
    [
        "[object.metadata.name]" + ".map(x, x + x)" * 20 + "[0] == ''",
        "optional.of(object.metadata.name)" + ".optMap(x, x + x + x + x + x)" * 8 + ".orValue('') == ''",
        "object.metadata.name" + ".replace('', 'aaaaaaaaaaaaaaaa')" * 20 + " == ''",
        "variables.v29 == ''",
    ],
    ids=["lists", "optional values", "texts", "variables"],
)
def test_a_value_that_grows_without_bounds(expression: str) -> None:
    variables = [{"name": f"v{i + 1}", "expression": f"variables.v{i} + variables.v{i}"} for i in range(40)]
    spec = {**of(expression), "variables": [{"name": "v0", "expression": "object.metadata.name"}, *variables]}
    denials, reasons = judged(spec)
    assert denials == []
    assert reasons[0] in ("more memory than llmaz allows", "a value that is too large here")
