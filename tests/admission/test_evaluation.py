"""What is judged about plain objects, without a server: verdicts, messages, and what is told as not judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
import yaml

from renderer import yamlio
from renderer.admission.judge import Judge
from renderer.admission.policy_files import AdmissionFiles, read_admission_files
from renderer.admission.programs import problems_of
from renderer.admission.records import AdmissionPolicy, KnownNamespace
from renderer.cel.compiler import CelEnvironment
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


def files_of(spec: Mapping[str, Any], binding: Mapping[str, Any] | None = None) -> AdmissionFiles:
    policy, bound = yaml.safe_load_all(POLICY)
    policy["spec"].update(spec)
    bound["spec"].update(binding or {})
    documents, problems = yamlio.parse("policy.yaml", yaml.dump_all([policy, bound], width=10**6).encode())
    files = read_admission_files(documents)
    assert not problems
    assert not files.problems
    return files


def policy_of(spec: Mapping[str, Any]) -> AdmissionPolicy:
    return files_of(spec).policies["p"]


def judge_of(
    spec: Mapping[str, Any],
    namespaces: Mapping[str, KnownNamespace] = NAMESPACES,
    binding: Mapping[str, Any] | None = None,
    bodies: Sequence[Any] = (),
) -> Judge:
    files = files_of(spec, binding)
    return Judge(files.policies, files.bindings, bodies, namespaces)


def judged_each(spec: Mapping[str, Any], bodies: Sequence[Any]) -> Iterator[list[str]]:
    """The messages about each object, by one judge."""
    judge = judge_of(spec)
    for body in bodies:
        yield [verdict.decision.message for verdict in judge.verdicts(Judged(body))]


def judged(
    spec: Mapping[str, Any],
    body: object = DEPLOYMENT,
    namespaces: Mapping[str, KnownNamespace] = NAMESPACES,
    binding: Mapping[str, Any] | None = None,
    bodies: Sequence[Any] = (),
) -> tuple[list[str], list[str]]:
    """The messages of denials, and the reasons why something is not judged."""
    judge = judge_of(spec, namespaces, binding, bodies)
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
        (of(".object.metadata.name + .request.name != 'webweb'", message="dotted"), "dotted"),
        (of("object.metadata.`name` != 'web'", message="quoted"), "quoted"),
        (of(r"r'\d' == object.kind || request.name != 'web'", message="raw"), "raw"),
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
        "object.spec.replicas == 3 || size(object.metadata) == 1",
        "!(object.spec.replicas == 4 && [object.metadata].exists(m, m.uid == ''))",
        "[1, 2].exists(i, i == 2 || object.metadata['uid'] == '')",
        "dyn(object).metadata.name == 'web' && object['metadata'].?name.orValue('') == 'web'",
        "object != null && oldObject == null && has(object.metadata) && request != null && namespaceObject != null",
        "object.spec.template.spec.containers.size() == 1 && object.all(k, k != 'a')",
        "optional.of(object.metadata).optMap(m, m.name).orValue('') == 'web'",
        "object.metadata.filter(k, true).size() > 0 || true",
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


UID = "object.metadata.uid (the server sets it)"
METADATA = "object.metadata as a whole"


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("object.metadata['uid'] == ''", UID),
        ("object['metadata'].uid == ''", UID),
        ("object.metadata.?uid.hasValue()", UID),
        ("object.metadata[?'uid'].orValue('') == ''", UID),
        ("has(object.metadata.uid)", UID),
        (".object.metadata.uid == ''", UID),
        ("dyn(object).metadata.uid == ''", UID),
        ("variables.metadata.uid == ''", UID),
        ("has(variables.metadata.uid)", UID),
        ("variables.either.uid == ''", UID),
        ("variables.object.metadata.uid == ''", UID),
        ("'uid' in object.metadata", UID),
        ("object.metadata[variables.key] == ''", "object.metadata.creationTimestamp (the server sets it)"),
        ("optional.of(object.metadata).optMap(m, m.uid).hasValue()", UID),
        ("[object.metadata].exists(m, m.uid == '')", METADATA),
        ("{'a': object.metadata}.a.uid == ''", METADATA),
        ("object.metadata.map(k, k).size() == 3", METADATA),
        ("object.metadata.all(k, k != 'uid')", METADATA),
        ("size(object.metadata) == 3", METADATA),
        ("object.metadata.size() == 3", METADATA),
        ("object.metadata == {'name': 'web'}", METADATA),
        ("string(object.metadata) == ''", METADATA),
        ("object == oldObject", "object as a whole"),
        ("variables.key in object.metadata", METADATA),
        ("request.?dryRun.orValue(false)", "request.dryRun (whether it is a dry run)"),
        (".request.options != null", "request.options (the options of the request)"),
        ("authorizer == null", "authorizer (who may do what)"),
        ("namespaceObject.metadata.?creationTimestamp.hasValue()",
         "namespaceObject.metadata.creationTimestamp (the server sets it)"),
        ("namespaceObject.status['conditions'] == []", "namespaceObject.status.conditions (the server sets it)"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["validations", "matchConditions", "auditAnnotations"])
def test_what_the_server_sets_by_detours(expression: str, reason: str, place: str) -> None:
    variables = {
        "object": "object",
        "metadata": "variables.object['metadata']",
        "either": "object.spec.replicas == 3 ? object.metadata : object.spec",
        "key": "'u' + 'id'",
    }
    spec: dict[str, Any] = of("true")
    spec["variables"] = [{"name": name, "expression": text} for name, text in variables.items()]
    if place == "validations":
        spec |= of(expression)
    elif place == "matchConditions":
        spec["matchConditions"] = [{"name": "a", "expression": expression}]
    else:
        spec["auditAnnotations"] = [{"key": "a", "valueExpression": f"string({expression})"}]
    assert judged(spec) == ([], [reason])


def test_a_message_does_not_tell_what_the_server_sets() -> None:
    spec = of("false", message="m", messageExpression="'the uid is ' + object.metadata['uid']")
    assert judged(spec) == (["m"], [])


def test_an_error_beside_what_is_not_known() -> None:
    variables = [{"name": "who", "expression": "request.userInfo.username"}]
    spec = {**of("object.nosuch == 1 || variables.who == 'a'"), "variables": variables}
    assert judged(spec) == ([], ["request.userInfo (who creates an object)"])


def test_fields_of_some_kinds_that_the_server_sets() -> None:
    ports = "object.spec.ports as a whole"
    assert judged(of("object.spec.ports.size() == 1 && object.spec.ports[0].port == 80"), SERVICE) == ([], [])
    assert judged(of("object.spec.ports == [{'port': 80}]"), SERVICE) == ([], [ports])
    chosen: Any = {**SERVICE, "spec": {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30080}]}}
    assert judged(of("object.spec.ports[0].nodePort == 30080"), chosen) == ([], [])
    group = "object.spec['clusterIPs'].size() == 1"
    assert judged(of(group), SERVICE) == ([], ["object.spec.clusterIPs (the server sets it)"])


def test_the_uid_of_a_param() -> None:
    spec = {**of("params.metadata.uid == ''"), "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}
    reference = {"name": "limits", "namespace": "rules", "parameterNotFoundAction": "Deny"}
    reason = "params.metadata.uid (the server sets it)"
    assert judged(spec, binding={"paramRef": reference}, bodies=[PARAM]) == ([], [reason])


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


def test_names_tell_objects_apart_however_they_are_spelled() -> None:
    names = ["aaa", "web", "zzz"]
    bodies = [{**DEPLOYMENT, "metadata": {"name": name, "namespace": "llm"}} for name in names]
    for name in (".request.name", "request . name", "dyn(request)['name']", ".object.metadata.name"):
        assert [*judged_each(of(f"{name} != 'zzz'", message="m"), bodies)] == [[], [], ["m"]], name


GATEWAYS = "gateway.example.com"
PARAMETERS: Any = {"apiVersion": f"{GATEWAYS}/v1", "kind": "GatewayParameters", "metadata": {"name": "a"}}


def definition(kind: str, plural: str, scope: str = "Namespaced") -> dict[str, Any]:
    spec = {"group": GATEWAYS, "names": {"kind": kind, "plural": plural}, "scope": scope}
    return {"kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{GATEWAYS}"}, "spec": spec}


def about(resource: str, group: str = GATEWAYS, **more: Any) -> dict[str, Any]:
    rule = {"apiGroups": [group], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": [resource]}
    return {**of("false", message="m"), "matchConstraints": {"resourceRules": [{**rule, **more}]}}


def test_the_plural_of_a_definition() -> None:
    known = [definition("GatewayParameters", "gatewayparameters")]
    assert judged(about("gatewayparameters"), PARAMETERS, bodies=known) == (["m"], [])
    assert judged(about("gatewayparameterses"), PARAMETERS, bodies=known) == ([], [])
    assert judged(about("gatewayparameters", scope="Cluster"), PARAMETERS, bodies=known) == ([], [])
    cluster = [definition("GatewayParameters", "gatewayparameters", "Cluster")]
    assert judged(about("gatewayparameters", scope="Cluster"), PARAMETERS, bodies=cluster) == (["m"], [])


NOT_IN_TREE = (
    f"the resource of the kind GatewayParameters of {GATEWAYS}, whose CustomResourceDefinition is not in the tree"
)


@pytest.mark.parametrize(
    ("spec", "bodies", "reasons"),
    [
        (about("gatewayparameters"), [], [NOT_IN_TREE]),
        (about("gatewayparameters", "*"), [], [NOT_IN_TREE]),
        (about("deployments", "*"), [], []),
        (about("gatewayparameters", "apps"), [], []),
        (about("gatewayparameters/status"), [], []),
        (about("listeners"), [definition("Listener", "listeners")], []),
        (about("listeners"), [], [NOT_IN_TREE]),
        (about("gatewayparameters", operations=["DELETE"]), [], []),
        (
            about("gatewayparameters"),
            [definition("GatewayParameters", "gatewayparameters"), definition("GatewayParameters", "aaa")],
            [NOT_IN_TREE],
        ),
    ],
)  # fmt: skip
def test_a_kind_without_a_definition(spec: dict[str, Any], bodies: list[Any], reasons: list[str]) -> None:
    assert judged(spec, PARAMETERS, bodies=bodies) == ([], reasons)


@pytest.mark.parametrize("group", ["Ex ample.com", "../x.com", "a\x00.com", "x.com\n"])
def test_a_group_that_is_none(group: str) -> None:
    body = {**PARAMETERS, "apiVersion": f"{group}/v1"}
    assert judged(about("gatewayparameters", group), body)[0] == []


def test_a_kind_that_may_be_excluded() -> None:
    spec = about("*")
    excluded = {**spec["matchConstraints"]["resourceRules"][0], "resources": ["gatewayparameters"]}
    spec["matchConstraints"]["excludeResourceRules"] = [excluded]
    assert judged(spec, PARAMETERS) == ([], [NOT_IN_TREE])
    assert judged(spec, PARAMETERS, bodies=[definition("GatewayParameters", "gatewayparameters")]) == ([], [])


ITEMS = 8_000
LONG: Any = {
    **DEPLOYMENT,
    "spec": {
        "template": {
            "spec": {"containers": [{"name": f"c{i}", "args": [str(i)]} for i in range(ITEMS)]},
            "metadata": {"annotations": {f"k{i}": "v" for i in range(ITEMS)}},
        }
    },
}
STEPS = ["more steps than llmaz runs"]
MEMORY = ["more memory than llmaz allows"]


@pytest.mark.parametrize(
    ("expression", "reasons"),
    [
        ("variables.c.distinct().size() == 8000", []),
        ("sets.contains(variables.c, variables.c) && sets.equivalent(variables.c, variables.c)", []),
        ("!sets.intersects(variables.c, [1])", []),
        ("variables.c.indexOf(1) == -1 && variables.c.lastIndexOf(1) == -1", []),
        ("variables.c.all(c, c.name.startsWith('c') && c.args == c.args && c.name.find('[0-9]+') != '')", []),
        ("variables.c.exists_one(c, c.name == 'c7')", []),
        ("variables.c.all(c, c in variables.c)", STEPS),
        ("variables.c.all(c, variables.c.indexOf(c) >= 0)", STEPS),
        ("variables.c.all(c, sets.contains(variables.c, [c]))", STEPS),
        ("variables.c.all(c, variables.c == variables.c)", STEPS),
        ("variables.c.all(c, (variables.c + [c]).size() > 1)", STEPS),
        ("lists.range(1000).map(i, variables.c).flatten().size() > 1", MEMORY),
        ("variables.k.all(k, object.spec.template.metadata.annotations.filter(a, a == k).size() == 1)", MEMORY),
        ("variables.k.map(k, k).join(',').split(',').all(k, k in variables.k)", MEMORY),
        ("optional.of(variables.c).optMap(l, l.all(c, c in l)).orValue(true)", MEMORY),
    ],
)  # fmt: skip
def test_long_lists(expression: str, reasons: list[str]) -> None:
    variables = [
        {"name": "c", "expression": "object.spec.template.spec.containers"},
        {"name": "k", "expression": "object.spec.template.metadata.annotations"},
    ]
    assert judged({**of(expression), "variables": variables}, LONG) == ([], reasons)


@pytest.mark.parametrize(
    ("first", "step", "last"),
    [
        ("object.spec.replicas", "variables.v{0} + 1", "variables.v{0} == 3 + {0}"),
        ("[1]", "variables.v{0} + [1]", "variables.v{0}.size() == 1 + {0}"),
        ("object.spec", "true ? variables.v{0} : object", "variables.v{0}.replicas == 3"),
        ("1", "string(variables.v{0}).size()", "variables.v{0} == 1"),
    ],
)
def test_a_long_chain_of_variables(first: str, step: str, last: str, monkeypatch: pytest.MonkeyPatch) -> None:
    environments: list[object] = []
    initialize = CelEnvironment.__init__

    def counted(self: CelEnvironment, *arguments: Any) -> None:
        environments.append(arguments)
        initialize(self, *arguments)

    monkeypatch.setattr(CelEnvironment, "__init__", counted)
    count = 600
    chain = [{"name": f"v{i + 1}", "expression": step.format(i)} for i in range(count)]
    spec = {**of(last.format(count)), "variables": [{"name": "v0", "expression": first}, *chain]}
    assert judged(spec) == ([], [])
    assert len(environments) <= 4


def test_types_of_variables_are_checked_however_long_their_chain_is() -> None:
    steps = [
        "1",
        "string(variables.v0)",
        "variables.v1.size()",
        "[variables.v2]",
        "variables.v3[0]",
        "variables.v4 > 1",
    ]
    variables = [{"name": f"v{i}", "expression": text} for i, text in enumerate(steps)]
    problems = {
        text: [problem.message for _, problem in problems_of(policy_of({**of(text), "variables": variables}))]
        for text in ("variables.v5", "variables.v5 == 1", "variables.v4 == 'a'", "variables.v1 == 'a'")
    }
    assert [bool(messages) for messages in problems.values()] == [False, True, True, False]
    late = {**of("true"), "variables": [{"name": "a", "expression": "variables.b"}, {"name": "b", "expression": "1"}]}
    assert [problem.message for _, problem in problems_of(policy_of(late))] == ["undeclared reference to 'variables.b'"]


def test_what_the_server_takes_is_no_error() -> None:
    for text in (r"r'\' == request.name", " + ".join(["object.spec.replicas"] * 40) + " == 1"):
        assert [*problems_of(policy_of(of(text)))] == []
        assert judged(of(text))[1] != []


def test_an_unknown_field_of_a_request_however_it_is_spelled() -> None:
    def places(text: str) -> list[tuple[int, int]]:
        return [(problem.line, problem.column) for _, problem in problems_of(policy_of(of(text)))]

    assert places("true && request.nosuch == 1") == [(1, 17)]
    assert places("true &&\n .request . nosuch == 1") == [(2, 13)]
    assert places("[{'nosuch': true}].all(request, request.nosuch) && object.?request.nosuch.orValue(true)") == []


def test_many_nulls() -> None:
    """The CEL library gives away references to None, without which the program ends."""
    import sys

    nulls = ", ".join(["null"] * 200)
    spec = {**of("variables.nulls.size() == 200"), "variables": [{"name": "nulls", "expression": f"[{nulls}]"}]}
    judged(spec)
    before = sys.getrefcount(None)
    for _ in range(20):
        judged(spec)
    assert sys.getrefcount(None) > before - 2000
