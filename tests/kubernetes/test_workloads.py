"""The one table of kinds that run pods, and that nobody keeps a second one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import pytest

from renderer.kubernetes import workloads
from renderer.kubernetes.workloads import (
    WORKLOADS,
    api_version,
    containers,
    made_pods,
    maps_in,
    pod_selector,
    pod_templates,
    replicas,
    selects,
    stays,
)
from tests.test_house import SOURCES, inside

HOME = "renderer/kubernetes/workloads.py"
KINDS = {name for _, name in WORKLOADS}
CONSTANTS = {"LEADER_WORKER_SET": "LeaderWorkerSet", "DEPLOYMENT": "Deployment", "KIND": "DisaggregatedSet"}
LISTS = {  # of kinds, for what is no fact about their pods
    HOME: "the table",
    "renderer/kubernetes/wellknown.py": "the words for the kinds that a Playground becomes",
    "renderer/kubernetes/immutable_fields.py": "the fields of each kind that nobody can change",
    "renderer/adopt/takeover_choice.py": "the kinds whose controller makes objects of their own name",
    "renderer/check/kinds/keda.py": "targets that KEDA's webhook looks into, whatever others it scales",
    "renderer/diff/live/comparison.py": "objects of a dump that nobody writes by hand",
    "renderer/explain/question.py": "how kubectl calls the kinds that are rendered",
    "renderer/explain/reasons.py": "rendered objects whose text somebody wrote as it is",
    "renderer/explain/field_descriptions.py": "sentences about fields of rendered objects, by kind",
    "renderer/resolve/autoscaling/keda_triggers.py": "how names of pods end, in a query",
}
FIELDS = {  # of a LeaderWorkerSet itself or, as llmaz's own key, of a Service
    HOME: "the table",
    "renderer/adopt/comparison.py": "makes a LeaderWorkerSet of what a chart or KServe runs",
    "renderer/adopt/former_fields.py": "the llmaz Service's own key",
    "renderer/adopt/llmaz_kinds.py": "the llmaz Service's own key",
    "renderer/adopt/serving_group.py": "the llmaz Service's own key",
    "renderer/build/lws.py": "builds the set",
    "renderer/check/kinds/lws.py": "size, restart policy and subgroups of the set",
    "renderer/cutover/rollout.py": "what of a live set its controller makes pods of",
    "renderer/diff/live/added_fields.py": "a set has the field, and a Deployment has not",
    "renderer/diff/live/server_fields.py": "a set of one pod with a leader's template alone",
    "renderer/diff/risks/rollout.py": "short names of fields of the set",
    "renderer/explain/field_descriptions.py": "sentences about fields of the set",
    "renderer/kubernetes/immutable_fields.py": "fields of the set that nobody can change",
    "renderer/kubernetes/server_defaults.py": "what LeaderWorkerSet's webhook fills in",
    "renderer/resolve/apps/leader_spread.py": "keys of what explain says of the set's templates",
    "renderer/resolve/apps/service.py": "the llmaz Service's own key",
    "renderer/resolve/workload/field_origins.py": "the llmaz Service's own key",
    "renderer/resolve/workload/handwritten_pod.py": "the llmaz Service's own key",
    "renderer/upgrade/version_places.py": "the llmaz Service's own key",
}
TEMPLATES = {  # paths of pod templates elsewhere
    "renderer/admission/unknowns.py": "labels that the API server gives the pods of a Job",
    "renderer/build/model_cache.py": "builds the Job that fills a cache",
    "renderer/build/pool.py": "builds the Deployment of a picker",
    "renderer/check/graph/pod_references.py": "a NodePool's template is one of nodes",
    "renderer/check/kinds/karpenter.py": "a NodePool's template is one of nodes",
    "renderer/check/sync_sources.py": "an ApplicationSet's template is one of Applications",
    "renderer/check/graph/secret_keys.py": "a SealedSecret's template is one of a Secret",
    "renderer/kubernetes/secret_makers.py": "a SealedSecret's template is one of a Secret",
    "renderer/nodes/manifests.py": "a NodePool's template is one of nodes",
}


def kind_named(node: ast.expr) -> str:
    """The workload kind that an expression names, by its word or by a constant; '' for another one."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) and node.value in KINDS else ""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return CONSTANTS.get(name, "")


def kind_lists(text: str) -> Iterator[int]:
    """The lines of tuples, lists, sets, keys of dicts and texts that name two kinds of workloads or more."""
    for node in ast.walk(ast.parse(text)):
        items: list[ast.expr] = []
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            items = [item.value if isinstance(item, ast.Starred) else item for item in node.elts]
        elif isinstance(node, ast.Dict):
            items = [key for key in node.keys if key]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and {*node.value.split()} & KINDS:
            words = node.value.split()
            is_list = all(word.isalpha() and word[0].isupper() for word in words)
            items = [ast.Constant(word) for word in words] if is_list else []
        elif isinstance(node, ast.BoolOp):  # kind == "A" or kind == "B"
            items = [side for value in node.values if isinstance(value, ast.Compare) for side in value.comparators]
        if isinstance(node, ast.expr) and len({kind_named(item) for item in items} - {""}) > 1:
            yield node.lineno


def template_paths(text: str) -> Iterator[int]:
    """The lines of tuples and calls with the path of a pod in a template."""
    for node in ast.walk(ast.parse(text)):
        items = node.elts if isinstance(node, ast.Tuple) else node.args if isinstance(node, ast.Call) else []
        words = [item.value if isinstance(item, ast.Constant) else None for item in items]
        if isinstance(node, ast.expr) and any(words[i : i + 2] == ["spec", "template"] for i in range(len(words))):
            yield node.lineno


def test_no_second_table_of_kinds() -> None:
    lists = {inside(path): [*kind_lists(path.read_text("utf-8"))] for path in SOURCES}
    assert {path: lines for path, lines in lists.items() if lines and path not in LISTS} == {}
    assert [path for path in LISTS if not lists[path]] == []


@pytest.mark.parametrize(
    "text",
    [
        '_TEMPLATED = ("Deployment", "StatefulSet")',
        '_TEMPLATED = frozenset({"Job", *("CronJob", "DaemonSet")})',
        'if kind in (wellknown.LEADER_WORKER_SET, "Job"): pass',
        '_PATHS = {"Deployment": 1, LEADER_WORKER_SET: 2}',
        '_KINDS = {"apps": "Deployment StatefulSet"}',
        'if kind == "Job" or kind == "CronJob": pass',
        '_SCALED = ["Deployment", disaggregated_sets.KIND]',
    ],
)
def test_a_second_table_is_found(text: str) -> None:
    assert [*kind_lists(text)] != []


@pytest.mark.parametrize("text", ['x = ("Service", "Deployment")', '"""A Deployment or a StatefulSet."""', "a = 1"])
def test_one_kind_and_sentences_are_no_table(text: str) -> None:
    assert [*kind_lists(text)] == []


def test_paths_of_pods_stand_in_the_table() -> None:
    paths = {inside(path): [*template_paths(path.read_text("utf-8"))] for path in SOURCES}
    assert {path: lines for path, lines in paths.items() if lines and path not in TEMPLATES} == {}
    assert [path for path in TEMPLATES if not paths[path]] == []


@pytest.mark.parametrize("text", ['P = ("spec", "template")', 'maps_at(body, "spec", "template", "spec", "volumes")'])
def test_a_path_of_pods_is_found(text: str) -> None:
    assert [*template_paths(text)] != []


@pytest.mark.parametrize(("word", "most"), [("workerTemplate", 13), ("leaderWorkerTemplate", 17)])
def test_the_words_of_groups_are_for_fields_of_the_set(word: str, most: int) -> None:
    files = [inside(path) for path in SOURCES if word in path.read_text("utf-8")]
    assert [file for file in files if file not in FIELDS] == []
    assert len(files) <= most


def test_each_reason_is_for_a_file_that_says_a_word() -> None:
    texts = {inside(path): path.read_text("utf-8") for path in SOURCES}
    words = ("workerTemplate", "leaderWorkerTemplate")
    assert [path for path in FIELDS if not any(word in texts[path] for word in words)] == []


TEMPLATE: dict[str, Any] = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "main"}]}}
WORKER: dict[str, Any] = {"metadata": {"labels": {"a": "c"}}, "spec": {"containers": [{"name": "worker"}]}}


def body_of(kind: tuple[str, str]) -> dict[str, Any]:
    """An object with a template at each place that its kind has."""
    body: dict[str, Any] = {"apiVersion": api_version(kind), "kind": kind[1], "metadata": {"name": "x"}}
    for pattern in WORKLOADS[kind].templates:
        if not pattern:
            return {**body, **TEMPLATE}
        place: Any = body
        parts = pattern.split(".")
        for part, after in zip(parts, [*parts[1:], ""], strict=True):
            if part == "*":
                place = place[0]
            elif after == "*":
                place = place.setdefault(part, [{"name": "role"}])
            else:
                place = place.setdefault(part, {})
        place |= TEMPLATE
    return body


@pytest.mark.parametrize("kind", WORKLOADS, ids="/".join)
def test_each_kind_has_its_templates(kind: tuple[str, str]) -> None:
    body = body_of(kind)
    templates = [*pod_templates(body)]
    assert len(templates) == len(WORKLOADS[kind].templates)
    assert [template.spec for template in templates] == [TEMPLATE["spec"]] * len(templates)
    assert [template.role for template in templates] == [*WORKLOADS[kind].templates.values()]
    assert all(selects({"matchLabels": {"a": "b"}}, pods.labels) for pods in made_pods(body))


def lws(**group: Any) -> dict[str, Any]:
    body = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": "x"}}
    return {**body, "spec": {"leaderWorkerTemplate": group}}


@pytest.mark.parametrize(
    ("group", "roles", "pods"),
    [
        ({"workerTemplate": TEMPLATE}, ["leader"], [("leader", "0", "b")]),
        ({"size": 4, "workerTemplate": TEMPLATE}, ["leader"], [("leader", "0", "b"), ("worker", "1", "b")]),
        (
            {"size": 4, "leaderTemplate": TEMPLATE, "workerTemplate": WORKER},
            ["leader", "worker"],
            [("leader", "0", "b"), ("worker", "1", "c")],
        ),
        ({"leaderTemplate": TEMPLATE, "workerTemplate": WORKER}, ["leader", "worker"], [("leader", "0", "b")]),
        ({}, [], []),
    ],
)
def test_the_pods_of_a_group(group: dict[str, Any], roles: list[str], pods: list[tuple[str, str, str]]) -> None:
    body = lws(**group)
    index = "leaderworkerset.sigs.k8s.io/worker-index"
    assert [template.role for template in pod_templates(body)] == roles
    assert [
        (group_pods.role, group_pods.labels[index], group_pods.labels["a"]) for group_pods in made_pods(body)
    ] == pods
    assert [pod_selector(body, replica) for replica in replicas(body)] == [
        {"leaderworkerset.sigs.k8s.io/name": "x"} for _ in roles[:1]
    ]


def test_the_pods_of_each_template_add_up() -> None:
    (replica,) = replicas(lws(size=4, leaderTemplate=TEMPLATE, workerTemplate=WORKER))
    assert [replica.pods(template) for template in replica.templates] == [1, 3]
    (replica,) = replicas(lws(size=4, workerTemplate=WORKER))
    assert [replica.pods(template) for template in replica.templates] == [4]


def test_roles_of_a_set_have_labels_for_each_slice() -> None:
    group = {"leaderWorkerTemplate": {"workerTemplate": TEMPLATE}}
    kind = workloads.DISAGGREGATED_SET
    body = {
        "apiVersion": api_version(kind),
        "kind": kind[1],
        "metadata": {"name": "x"},
        "spec": {"slices": 2, "roles": [None, {"name": "decode", "spec": group}]},
    }
    pods = [*made_pods(body)]
    assert [role_pods.labels["app"] for role_pods in pods] == ["x-decode", "x-0-decode", "x-1-decode"]
    assert pods[0].template.path == ("spec", "roles", 1, "spec", "leaderWorkerTemplate", "workerTemplate")
    assert [role_pods.labels["app"] for role_pods in made_pods(body, numbers_slices=(True,))] == [
        "x-0-decode",
        "x-1-decode",
    ]


@pytest.mark.parametrize("value", [None, 3, "text", [], {}, {"spec": 3}, {"spec": {"template": [1]}}])
@pytest.mark.parametrize("kind", WORKLOADS, ids="/".join)
def test_any_value_may_stand_in_an_object(kind: tuple[str, str], value: object) -> None:
    for body in ({"spec": value}, {"template": value}, {"spec": {"roles": value}}, {"spec": {"template": value}}):
        identity = {"apiVersion": api_version(kind), "kind": kind[1], "metadata": value}
        for template in pod_templates({**identity, **body}):
            assert [*containers(template.spec)] == []


def test_containers_with_their_paths() -> None:
    spec = {
        "containers": [{"name": "a"}, None],
        "initContainers": [{"name": "b"}, {"name": "c", "restartPolicy": "Always"}],
        "ephemeralContainers": [{"name": "d"}],
    }
    listed = [*containers(spec)]
    assert [(path, container["name"]) for path, container in listed] == [
        (("initContainers", 0), "b"),
        (("initContainers", 1), "c"),
        (("containers", 0), "a"),
        (("ephemeralContainers", 0), "d"),
    ]
    assert [container["name"] for path, container in listed if stays(path, container)] == ["c", "a", "d"]


def test_maps_anywhere() -> None:
    value = {"a": [{"b": {}}, 1], "c": "d"}
    assert [path for path, _ in maps_in(value)] == [(), ("a", 0), ("a", 0, "b")]


@pytest.mark.parametrize(
    ("selector", "is_selected"),
    [
        ({}, True),
        ({"matchLabels": {"a": "b"}}, True),
        ({"matchLabels": {"a": "c"}}, False),
        ({"matchLabels": {"b": "b"}}, False),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}, True),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["c"]}]}, False),
        ({"matchExpressions": [{"key": "b", "operator": "In", "values": ["c"]}]}, False),
        ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["b"]}]}, False),
        ({"matchExpressions": [{"key": "b", "operator": "NotIn", "values": ["b"]}]}, True),
        ({"matchExpressions": [{"key": "a", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "b", "operator": "Exists"}]}, False),
        ({"matchExpressions": [{"key": "b", "operator": "DoesNotExist"}]}, True),
        ({"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}, False),
    ],
)
def test_a_selector_selects(selector: dict[str, Any], is_selected: bool) -> None:
    assert selects(selector, {"a": "b"}) is is_selected
