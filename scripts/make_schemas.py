"""Make the JSON Schemas of `renderer/schemas/` from Kubernetes, the CRDs that we emit, and llmaz's own CRDs.

    python scripts/make_schemas.py               # writes; the same bytes every run
    python scripts/make_schemas.py --check       # exit code 1 when a file differs
    python scripts/make_schemas.py --only input  # only those of the input kinds, without Go

Needs `go` and the Go module proxy: every source is a Go module of a fixed version, read from its zip. What the sources
leave open is in `additions.yaml` (rules of the API server), `extensions.yaml` (our fields and words for llmaz's kinds),
`since.yaml` (fields of versions that no module serves) and `input-crds/` (llmaz's own CRDs). What the input kinds have
of Kubernetes is stored in `kubernetes-types.json`, which a whole run makes anew, and `--only input` reads. Results:

    schemas/output/<group or core>/<kind>_<version>.json   strict; what we emit and what `llmaz check` reads
    schemas/cel/<group>/<kind>_<version>.json      the CEL rules of a kind, and what they can see of an object
    schemas/input/<kind>.json      strict; what users and presets write; editors read them too
    schemas/usual/<one of the above>   what is usual of it (`usual.py`); asked first

All are JSON Schema draft-07, which editors, jsonschema, jsonschema-rs and kubeconform read alike. None has a `format`,
since readers disagree about it: int32 and int64 became ranges, the others patterns or nothing. Annotations of ours:
`x-means` says a pattern in words; `x-kubernetes-list-map-keys` is Kubernetes'.
"""

from __future__ import annotations

import argparse
import copy
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import jsonschema
import yaml

if TYPE_CHECKING or __package__:
    from scripts.cel_reads import judged
    from scripts.usual import KINDS, usual
else:  # it runs as a script, with its folder on the path
    from cel_reads import judged
    from usual import KINDS, usual

Node: TypeAlias = dict[str, Any]

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "renderer" / "schemas"
TYPES = HERE / "kubernetes-types.json"
DIALECT = "http://json-schema.org/draft-07/schema#"

KUBERNETES = "k8s.io/kubernetes@v1.37.2"
OPENAPI = "api/openapi-spec/v3"
ENUMS = "pkg/generated/openapi/zz_generated.openapi.go"


class Source(NamedTuple):
    """CRDs in a folder of a Go module; without a module, of this folder. No `kinds`: all of them. Only versions that
    the API server serves are read.
    """

    module: str
    folder: str
    kinds: tuple[str, ...] = ()


CRDS = (
    Source("sigs.k8s.io/lws@v0.9.0", "config/crd/bases", ("LeaderWorkerSet", "DisaggregatedSet")),
    Source("github.com/envoyproxy/ai-gateway@v1.0.0", "manifests/charts/ai-gateway-crds-helm/templates"),
    Source("sigs.k8s.io/gateway-api@v1.7.0", "config/crd/standard"),
    Source("github.com/envoyproxy/gateway@v1.9.1", "charts/gateway-helm/charts/crds/crds/generated"),
    Source("sigs.k8s.io/gateway-api-inference-extension@v1.6.0", "config/crd/bases", ("InferencePool",)),
    Source(
        "sigs.k8s.io/gateway-api-inference-extension@v1.5.0",
        "config/crd/bases",
        ("InferenceObjective", "InferenceModelRewrite"),
    ),
    Source("", "output-crds"),
    Source(
        "github.com/kedacore/keda/v2@v2.21.0",
        "config/crd/bases",
        ("ScaledObject", "ScaledJob", "TriggerAuthentication", "ClusterTriggerAuthentication"),
    ),
    Source("github.com/kedacore/http-add-on@v0.15.0", "config/crd/bases", ("InterceptorRoute",)),
    Source(
        "github.com/prometheus-operator/prometheus-operator@v0.85.0",
        "example/prometheus-operator-crd",
        ("PodMonitor", "ServiceMonitor", "PrometheusRule"),
    ),
    # Its copy of NodePool has the rules about AWS's labels, which the one of sigs.k8s.io/karpenter lacks.
    Source("github.com/aws/karpenter-provider-aws@v1.15.0", "pkg/apis/crds", ("NodePool", "NodeClaim", "EC2NodeClass")),
)

BUILT_IN = {
    "admissionregistration.v1": ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"),
    "core.v1": (
        "ConfigMap",
        "LimitRange",
        "Namespace",
        "PersistentVolumeClaim",
        "Pod",
        "PodTemplate",
        "ResourceQuota",
        "Secret",
        "Service",
        "ServiceAccount",
    ),
    "apps.v1": ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"),
    "autoscaling.v2": ("HorizontalPodAutoscaler",),
    "batch.v1": ("CronJob", "Job"),
    "networking.v1": ("Ingress", "NetworkPolicy"),
    "policy.v1": ("PodDisruptionBudget",),
    "rbac.v1": ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    "resource.v1": ("ResourceClaimTemplate",),
    "scheduling.v1": ("PriorityClass",),
}
GROUPS = {
    "admissionregistration": "admissionregistration.k8s.io",
    "core": "",
    "networking": "networking.k8s.io",
    "rbac": "rbac.authorization.k8s.io",
    "resource": "resource.k8s.io",
    "scheduling": "scheduling.k8s.io",
}

INPUT_CRDS = {
    "OpenModel": "llmaz.io_openmodels.yaml",
    "Playground": "inference.llmaz.io_playgrounds.yaml",
    "Service": "inference.llmaz.io_services.yaml",
    "BackendRuntime": "inference.llmaz.io_backendruntimes.yaml",
    "InferenceModel": "inference.networking.x-k8s.io_inferencemodels.yaml",
}

# Where schemas stand inside a schema: under names, alone, in a list.
NAMED = ("properties", "patternProperties")
SINGLE = ("additionalProperties", "if", "items", "not", "propertyNames", "then")
LISTED = ("allOf", "anyOf", "oneOf")
# Keywords that say something about a value and mean the same in a CRD, in OpenAPI and in JSON Schema.
PLAIN = (
    "default",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "required",
    "type",
    "uniqueItems",
    "x-kubernetes-list-map-keys",
)
RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
PATTERNS = {
    "date-time": (
        r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$",
        "a time such as 2026-01-31T12:00:00Z",
    ),
}
# Patterns of CRDs that only Go reads as they were meant, and what says the same everywhere.
PORTABLE = {"^(?i)(abort|warn)?$": "^([aA][bB][oO][rR][tT]|[wW][aA][rR][nN])?$"}
ARGUMENTS = ("args", "command", "env", "envs")
NAME = "\0name"  # what a part is called when it is shared; never written
SMALL = 60  # bytes; smaller parts are repeated instead of shared


# ---- sources ----


@cache
def archive(module: str) -> zipfile.ZipFile:
    """The module's zip, from the module cache or downloaded."""
    run = subprocess.run(["go", "mod", "download", "-json", module], capture_output=True, text=True, check=False)
    if not run.stdout.strip():
        sys.exit(f"go mod download {module}: {run.stderr.strip()}")
    answer = json.loads(run.stdout)
    if "Zip" not in answer:
        sys.exit(f"go mod download {module}: {answer.get('Error', 'no zip')}")
    return zipfile.ZipFile(answer["Zip"])


def files(module: str, folder: str, suffix: str) -> Iterator[bytes]:
    """The files of that ending directly in a folder of a module, by name."""
    start = f"{module}/{folder}/"
    for name in sorted(archive(module).namelist()):
        if name.startswith(start) and name.endswith(suffix) and "/" not in name[len(start) :]:
            yield archive(module).read(name)


@cache
def additions() -> Node:
    """additions.yaml with every `form` filled in."""
    raw = yaml.safe_load((HERE / "additions.yaml").read_text(encoding="utf-8"))
    forms: Node = raw["forms"]

    def filled(value: Any) -> Any:
        if isinstance(value, list):
            return [filled(item) for item in value]
        if not isinstance(value, dict):
            return value
        rest = {key: filled(item) for key, item in value.items() if key != "form"}
        return merged(filled(forms[value["form"]]), rest) if isinstance(value.get("form"), str) else rest

    result = {key: value if key == "forms" else filled(value) for key, value in raw.items()}
    result["forms"] = {key: filled(value) for key, value in forms.items()}
    return result


@cache
def by_hand() -> dict[str, dict[str, dict[str, Node]]]:
    """`byHand` of since.yaml: what CRDs that no module serves add, by component, version and `group/kind_version`."""
    read: dict[str, dict[str, dict[str, Node]]] = yaml.safe_load((HERE / "since.yaml").read_text("utf-8"))["byHand"]
    return read


def extended(name: str, raw: Node) -> Node:
    """The schema of a CRD, `group/kind_version`, with the fields and values of versions that no module serves."""
    news = [kinds[name] for versions in by_hand().values() for kinds in versions.values() if name in kinds]
    for new in news:
        for path, field in new.get("fields", {}).items():
            parent, _, key = path.rpartition(".")
            more = {"properties": {key: field}}
            raw = changed(raw, parent, lambda node, more=more: merged(node, more))
        for path, values in new.get("values", {}).items():
            raw = changed(raw, path, lambda node, values=values: {**node, "enum": [*node["enum"], *values]})
        for path, rules in new.get("rules", {}).items():
            raw = changed(raw, path, lambda node, rules=rules: {**node, "x-kubernetes-validations": rules})
    return raw


def form(name: str) -> Node:
    """A copy of one of the forms of additions.yaml."""
    return copy.deepcopy(additions()["forms"][name])


@cache
def definitions() -> dict[str, Node]:
    """Kubernetes' OpenAPI definitions under short names: `core.v1.Container`, `util.intstr.IntOrString`."""
    if _STORED:
        return StoredDefinitions(_STORED["definitions"])
    by_name: dict[str, Node] = {}
    for data in files(KUBERNETES, OPENAPI, "_openapi.json"):
        for name, value in json.loads(data).get("components", {}).get("schemas", {}).items():
            by_name[short(name)] = value
    return by_name


def short(name: str) -> str:
    """`io.k8s.api.core.v1.Container` → `core.v1.Container`."""
    return ".".join(name.rsplit(".", 3)[1:])


@cache
def enums() -> dict[tuple[str, str], list[str]]:
    """(definition, property) → values. The published OpenAPI lacks them, the Go code it is made from has them."""
    if _STORED:
        return {(name, field): values for name, of in _STORED["enums"].items() for field, values in of.items()}
    return enumerated(archive(KUBERNETES).read(f"{KUBERNETES}/{ENUMS}").decode())


def enumerated(code: str) -> dict[tuple[str, str], list[str]]:
    """(definition, property) → values, in that Go code."""
    values: dict[tuple[str, str], list[str]] = {}
    definition = field = ""
    for line in code.splitlines():
        if match := re.match(r"func schema_k8sio_(?:api|apimachinery_pkg_apis)_([a-z]+)_(v[a-z0-9]+)_(\w+)\(", line):
            definition = ".".join(match.groups())
        elif line.startswith("func "):
            definition = ""
        elif match := re.match(r'\t{5}"([\w$-]+)": \{$', line):
            field = match[1]
        elif definition and (match := re.search(r"Enum:\s+\[\]interface\{\}\{(.*)\},$", line)):
            values[definition, field] = json.loads(f"[{match[1]}]")
    return values


# ---- Kubernetes' types without Go ----


_STORED: Node = {}  # what kubernetes-types.json has; empty where the modules are read


class StoredDefinitions(dict[str, Node]):
    """Those of kubernetes-types.json."""

    def __missing__(self, name: str) -> Node:
        sys.exit(f"{TYPES.name} has no {name}, which input kinds use for the first time: run `make schemas`")


def read_stored() -> None:
    """Lets this run read kubernetes-types.json in place of the modules."""
    _STORED.update(json.loads(TYPES.read_text("utf-8")))
    if _STORED["module"] != KUBERNETES:
        sys.exit(f"{TYPES.name} is of {_STORED['module']}, not of {KUBERNETES}: run `make schemas`")


def stored() -> bytes:
    """kubernetes-types.json: `module`; `definitions`, as the OpenAPI has them but without words; their `enums`, by
    definition and field. One definition a line.
    """
    extensions = yaml.safe_load((HERE / "extensions.yaml").read_text(encoding="utf-8"))
    names = {definition_name(name) for name in core_types(extensions)}
    for file in INPUT_CRDS.values():
        for crd in yaml.safe_load_all((HERE / "input-crds" / file).read_text(encoding="utf-8")):
            names |= {definition_name(name) for name in core_types(crd)}
    by_name: dict[str, Node] = {}
    while missing := sorted(names & definitions().keys() - by_name.keys()):
        for name in missing:
            by_name[name] = wordless(definitions()[name])
            names |= set(references(by_name[name]))
    values: dict[str, Node] = {}
    for (name, field), words in sorted(enums().items()):
        if name in by_name:
            values.setdefault(name, {})[field] = words
    lines = ",\n".join(f"{json.dumps(name)}: {written(node).decode()}" for name, node in sorted(by_name.items()))
    head = f'"module": {json.dumps(KUBERNETES)},\n"enums": {written(values).decode()},\n'
    return f'{{{head}"definitions": {{\n{lines}\n}}}}\n'.encode()


def core_types(node: Any) -> Iterator[str]:
    """The types of Kubernetes that extensions.yaml or a CRD names, such as `v1/EnvVar`."""
    for key, child in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        if key in ("core", "patch", "x-core-type") and isinstance(child, str):
            yield child
        else:
            yield from core_types(child)


def references(node: Any) -> Iterator[str]:
    """The definitions that a part of the OpenAPI refers to."""
    for key, child in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        if key == "$ref":
            yield short(child.rsplit("/", 1)[1])
        else:
            yield from references(child)


def wordless(node: Any) -> Any:
    """A part of the OpenAPI without descriptions; a field may be called so."""
    if isinstance(node, list):
        return [wordless(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {key: wordless(child) for key, child in node.items() if key != "description" or isinstance(child, dict)}


def crds(source: Source) -> Iterator[Node]:
    """The CustomResourceDefinitions of a source."""
    local = () if source.module else sorted((HERE / source.folder).glob("*.yaml"))
    for data in [path.read_bytes() for path in local] or files(source.module, source.folder, ".yaml"):
        if source.kinds and not any(f"kind: {kind}\n".encode() in data for kind in source.kinds):
            continue
        for document in yaml.load_all(data, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if not document or document.get("kind") != "CustomResourceDefinition":
                continue
            if not source.kinds or document["spec"]["names"]["kind"] in source.kinds:
                yield document


# ---- schemas ----


def merged(base: Any, more: Any) -> Any:
    """`base` with `more` in it: mappings key by key, `required` and lists of schemas joined, anything else replaced."""
    if not isinstance(base, dict) or not isinstance(more, dict):
        return copy.deepcopy(more)
    if "replace" in more:
        return copy.deepcopy(more["replace"])
    result = dict(base)
    for key, value in more.items():
        if key == "required" and key in base and isinstance(value, list):
            result[key] = sorted({*base[key], *value})
        elif key in LISTED and isinstance(base.get(key), list):
            result[key] = [*base[key], *copy.deepcopy(value)]
        else:
            result[key] = merged(base.get(key), value)
    return result


def limited(node: Node, kind: str) -> None:
    """Puts what a `format` means in its place."""
    if kind in RANGES and node.get("type") == "integer":
        low, high = RANGES[kind]
        node["minimum"] = max(node.get("minimum", low), low)
        node["maximum"] = min(node.get("maximum", high), high)
    elif kind in PATTERNS and "pattern" not in node:
        node["pattern"], node["x-means"] = PATTERNS[kind]


def strict(node: Node) -> Node:
    """Refuses unknown keys wherever a node names the keys that it has."""
    if "properties" in node and "additionalProperties" not in node:
        node["additionalProperties"] = False
    return node


# -- Kubernetes' own types --


@cache
def built_in(name: str) -> Node:
    """A definition of Kubernetes with everything that it refers to in place, and our additions. Not to be changed."""
    extra = additions()["definitions"].get(name, {})
    if name in ("api.resource.Quantity", "util.intstr.IntOrString"):
        return {**extra["."], NAME: name.rsplit(".", 1)[1]}
    node = openapi(definitions()[name])
    for field, value in node.get("properties", {}).items():
        if values := enums().get((name, field)):
            enumerate_values(value, values)
    if unknown := set(extra) - {"."} - set(node.get("properties", {})):
        sys.exit(f"additions.yaml: {name} has no {', '.join(sorted(unknown))}")
    fields = {field: value for field, value in extra.items() if field != "."}
    result: Node = merged(node, {**extra.get(".", {}), **({"properties": fields} if fields else {})})
    return {**result, NAME: name.rsplit(".", 1)[1]}


def enumerate_values(node: Node, values: list[str]) -> None:
    """Limits a string, or the strings in a list or map."""
    inner = node.get("items") or node.get("additionalProperties") or node
    inner["enum"] = values


def openapi(raw: Node) -> Node:
    """A schema of the OpenAPI as strict JSON Schema."""
    if "$ref" in raw:
        return built_in(short(raw["$ref"].rsplit("/", 1)[1]))
    if "allOf" in raw:
        return openapi(raw["allOf"][0])  # always one $ref, wrapped to carry a description
    node: Node = {key: raw[key] for key in PLAIN if key in raw}
    if not node.get("default", True):
        del node["default"]  # Go's zero values, which are no defaults
    if "format" in raw:
        limited(node, raw["format"])
    if raw.get("format") == "byte":
        node.update(form("base64"))
    if "properties" in raw:
        node["properties"] = {key: openapi(value) for key, value in raw["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(raw.get(key), dict):
            node[key] = openapi(raw[key])
    return strict(node)


# -- CRDs --


def structural(raw: Node, *, number: bool = False) -> Node:
    """A schema of a CRD as strict JSON Schema. `number`: quantities may be written as any number."""
    if "x-core-type" in raw:
        return core_type(raw["x-core-type"])
    node: Node = {key: raw[key] for key in PLAIN if key in raw}
    if "pattern" in node:
        node["pattern"] = PORTABLE.get(node["pattern"], node["pattern"])
    for key in ("items", "additionalProperties"):
        if isinstance(raw.get(key), dict):
            node[key] = structural(raw[key], number=number)
        elif key in raw:
            node[key] = raw[key]
    if "properties" in raw:
        node["properties"] = {key: structural(value, number=number) for key, value in raw["properties"].items()}
    for key in (*LISTED, "not"):
        if key in raw:
            node[key] = [defaulted(condition(part), raw) for part in raw[key]] if key != "not" else condition(raw[key])
    if raw.get("x-kubernetes-int-or-string"):
        integer_or_string(node)
        if number and "pattern" in node:
            node = {**form("quantity"), **({"default": node["default"]} if "default" in node else {})}
    if raw.get("x-kubernetes-list-type") == "set":
        node["uniqueItems"] = True
    if raw.get("nullable"):
        node["type"] = [node["type"], "null"] if isinstance(node["type"], str) else [*node["type"], "null"]
        if "enum" in node:
            node["enum"] = [*node["enum"], None]
    if "format" in raw:
        limited(node, raw["format"])
    if "required" in node:  # the API server sets defaults before it looks
        node["required"] = [key for key in node["required"] if "default" not in node.get("properties", {}).get(key, {})]
        if not node["required"]:
            del node["required"]
    for flag, other in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if node.pop(flag, False):
            node[flag] = node.pop(other)
    is_open = raw.get("x-kubernetes-preserve-unknown-fields") or raw.get("x-kubernetes-embedded-resource")
    if raw.get("type") == "object" and "additionalProperties" not in node and not is_open:
        node["additionalProperties"] = False
    return node


def condition(raw: Node) -> Node:
    """A schema inside anyOf, oneOf, allOf or not: it only tests, so it forbids no keys."""
    node: Node = {key: raw[key] for key in PLAIN if key in raw}
    for key in ("items", "additionalProperties", "not"):
        if isinstance(raw.get(key), dict):
            node[key] = condition(raw[key])
    if "properties" in raw:
        node["properties"] = {key: condition(value) for key, value in raw["properties"].items()}
    for key in LISTED:
        if key in raw:
            node[key] = [condition(part) for part in raw[key]]
    return node


def defaulted(condition: Node, raw: Node) -> Node:
    """The condition for an API server, which sets defaults before it asks: a field whose default does not meet it must
    be there.
    """
    properties = raw.get("properties", {})
    needed = [
        field
        for field, subschema in condition.get("properties", {}).items()
        if "default" in properties.get(field, {})
        and not jsonschema.Draft7Validator(subschema).is_valid(properties[field]["default"])
    ]
    return {**condition, "required": sorted({*condition.get("required", ()), *needed})} if needed else condition


def integer_or_string(node: Node) -> None:
    """Turns the usual `anyOf: [integer, string]` into one `type`."""
    either = [{"type": "integer"}, {"type": "string"}]
    node["type"] = ["integer", "string"]
    if node.get("anyOf") == either:
        del node["anyOf"]
    if "allOf" in node:
        node["allOf"] = [part for part in node["allOf"] if part != {"anyOf": either}]
        if not node["allOf"]:
            del node["allOf"]


def core_type(name: str) -> Node:
    """`v1/EnvVar`, `autoscaling/v2/MetricSpec`; `v1/ResourceList` and `quantity`, which the OpenAPI does not name."""
    if name == "v1/ResourceList":
        named: Node = merged(resource_list(), {"propertyNames": form("resourceName")})
        return named
    if name == "v1/NodeResourceList":  # Karpenter's limits: any resource of a node
        return resource_list()
    return built_in(definition_name(name))


def resource_list() -> Node:
    """Amounts of resources by their names."""
    amounts: Node = merged(
        {"type": "object", "additionalProperties": built_in("api.resource.Quantity")}, form("amounts")
    )
    return amounts


def definition_name(name: str) -> str:
    """`v1/EnvVar` → `core.v1.EnvVar`."""
    if name == "quantity":
        return "api.resource.Quantity"
    group, _, rest = f"core/{name}".rpartition("core/")[2].rpartition("/")
    return f"{group.replace('/', '.') if '/' in group else 'core.' + group}.{rest}"


def merge_keys(raw: Node) -> list[str]:
    """The keys by which a strategic merge finds the items of a list, the needed one first; none: it is replaced
    whole."""
    if "merge" not in raw.get("x-kubernetes-patch-strategy", "") or "x-kubernetes-patch-merge-key" not in raw:
        return []
    first = raw["x-kubernetes-patch-merge-key"]
    return [first, *(key for key in raw.get("x-kubernetes-list-map-keys", ()) if key != first)]


def referred(raw: Node) -> str:
    """The definition that a property, or the items of its list, refer to; '' when none."""
    inner = raw.get("items", raw)
    inner = inner["allOf"][0] if "allOf" in inner else inner
    name = short(inner["$ref"].rsplit("/", 1)[1]) if "$ref" in inner else ""
    return "" if name in ("api.resource.Quantity", "util.intstr.IntOrString") else name


def patch(definition: str, keys: list[str] | None = None) -> Node:
    """A Kubernetes type as a strategic merge patch of it: nothing is needed but the key that finds an item of a list,
    and any map may hold `$patch`. A list without such a key is replaced whole, so its items stay as they are; only
    tolerations, which are added to the accelerator's, take an item `$patch: replace`.
    """
    whole, raw = built_in(definition), definitions()[definition].get("properties", {})
    properties = {field: patched(value, raw[field]) for field, value in whole.get("properties", {}).items()}
    properties["$patch"] = directive("delete") if keys else directive("delete", "replace")
    node = {"type": "object", "properties": properties, "additionalProperties": False, NAME: f"{whole[NAME]}Patch"}
    return {**node, "required": keys[:1]} if keys else node


def patched(node: Node, raw: Node) -> Node:
    """`patch` of a property."""
    inner, keys = referred(raw), merge_keys(raw)
    if keys and "items" in node:
        return {"type": "array", "items": patch(inner, keys)}
    if inner == "core.v1.Toleration" and "items" in node:
        item = dict(node["items"])
        item["properties"] = {**item["properties"], "$patch": directive("replace")}
        rules = {"allOf": item.pop("allOf")}  # of a toleration, which the directive is none
        return {**node, "items": {**item, "if": {"not": {"required": ["$patch"]}}, "then": rules}}
    if "properties" in node and inner and inner != "core.v1.EnvVarSource":  # an environment entry is replaced whole
        return patch(inner)
    if isinstance(node.get("additionalProperties"), dict):  # a map with keys of the user's own
        names = dict(node.get("propertyNames", {}))
        if "pattern" in names:
            names["pattern"] = rf"^\$patch$|{names['pattern']}"
        with_directive = {**node, "properties": {"$patch": directive("delete", "replace")}}
        return {**with_directive, "propertyNames": names} if names else with_directive
    return node


def directive(*words: str) -> Node:
    """What `$patch` may say."""
    return {"enum": list(words), "type": "string"}


def constrained(node: Node, definition: str) -> Node:
    """A CRD's copy of a Kubernetes type with our additions to that type, as far as the copy has the fields."""
    raw = definitions()[definition]
    extra = additions()["definitions"].get(definition, {})
    result = dict(node)
    result[NAME] = definition.rsplit(".", 1)[1]
    if "properties" in node:
        properties = dict(node["properties"])
        for field, value in properties.items():
            theirs = raw.get("properties", {}).get(field, {})
            value = below(value, theirs)
            if values := enums().get((definition, field)):
                value = copy.deepcopy(value)
                enumerate_values(value, values)
            properties[field] = merged(value, extra[field]) if field in extra else value
        result["properties"] = properties
    more = dict(extra.get(".", {}))
    if "required" in more:
        more["required"] = [key for key in more["required"] if key in result["properties"]]
    closed: Node = merged(result, more)
    return closed


def below(node: Node, raw: Node) -> Node:
    """`constrained` for whatever definition a property, its items or its values refer to."""
    if "allOf" in raw:
        raw = raw["allOf"][0]
    if "$ref" in raw:
        name = short(raw["$ref"].rsplit("/", 1)[1])
        return node if name in ("api.resource.Quantity", "util.intstr.IntOrString") else constrained(node, name)
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict) and isinstance(raw.get(key), dict):
            return {**node, key: below(node[key], raw[key])}
    return node


def changed(node: Node, path: str, change: Any) -> Node:
    """A copy of `node` where the part at `path` (`spec.list[].field`) is what `change` makes of it."""
    if not path:
        return change(node)  # type: ignore[no-any-return]
    head, _, rest = path.partition(".")
    field, _, brackets = head.partition("[")
    if field not in node.get("properties", {}):
        sys.exit(f"no field {field!r} (rest of the path: {path})")
    inner = node["properties"][field]
    inner = {**inner, "items": changed(inner["items"], rest, change)} if brackets else changed(inner, rest, change)
    return {**node, "properties": {**node["properties"], field: inner}}


# -- whole kinds --


def metadata(kind: str) -> Node:
    """metadata of an object that we emit."""
    rules = additions()
    name = form(rules["names"].get(kind, "subdomain"))
    node = merged(built_in("meta.v1.ObjectMeta"), {"properties": {"name": name}})
    node[NAME] = "Metadata"
    if kind in rules["generated"]:
        return {**node, "anyOf": [{"required": ["name"]}, {"required": ["generateName"]}]}
    return {**node, "required": ["name"]}


def output(group: str, version: str, kind: str, body: Node) -> Node:
    """The schema of a whole object from that of its fields."""
    properties = dict(body["properties"])
    properties["apiVersion"] = {"const": f"{group}/{version}".lstrip("/")}
    properties["kind"] = {"const": kind}
    properties["metadata"] = metadata(kind)
    if "status" in properties:
        properties["status"] = {"type": "object"}
    required = {"apiVersion", "kind", "metadata", *body.get("required", ())}
    if "spec" in properties and kind != "Namespace":
        required.add("spec")
    return {**body, "properties": properties, "required": sorted(required), "additionalProperties": False}


def built_in_kinds() -> Iterator[tuple[str, Node]]:
    for where, kinds in BUILT_IN.items():
        api, version = where.split(".")
        group = GROUPS.get(api, api)
        for kind in kinds:
            schema = output(group, version, kind, built_in(f"{where}.{kind}"))
            yield f"output/{group or 'core'}/{kind.lower()}_{version}.json", packed(schema)


def custom_kinds() -> Iterator[tuple[str, Node]]:
    for source in CRDS:
        for crd in crds(source):
            group, kind = crd["spec"]["group"], crd["spec"]["names"]["kind"]
            rules = additions()["crds"].get(kind, {})
            for version in crd["spec"]["versions"]:
                if not version["served"]:
                    continue
                raw = extended(f"{group}/{kind.lower()}_{version['name']}", version["schema"]["openAPIV3Schema"])
                if rules_of := judged(raw):
                    yield f"cel/{group}/{kind.lower()}_{version['name']}.json", rules_of
                body = structural(raw)
                for path, definition in rules.get("types", {}).items():
                    body = changed(body, path, lambda node, name=definition: constrained(node, name))
                for path, more in rules.get("add", {}).items():
                    body = changed(body, path, lambda node, more=more: merged(node, more))
                schema = packed(output(group, version["name"], kind, body))
                yield f"output/{group}/{kind.lower()}_{version['name']}.json", schema


def model_kind() -> Iterator[tuple[str, Node]]:
    """llmaz's OpenModel as its own CRD has it: InftyAI's scheduler reads it in the cluster."""
    crd = yaml.safe_load((HERE / "input-crds" / INPUT_CRDS["OpenModel"]).read_text(encoding="utf-8"))
    group, version = crd["spec"]["group"], crd["spec"]["versions"][0]
    schema = output(group, version["name"], "OpenModel", structural(version["schema"]["openAPIV3Schema"]))
    yield f"output/{group}/openmodel_{version['name']}.json", packed(schema)


# -- llmaz's kinds and ours --


def input_kinds() -> Iterator[tuple[str, Node]]:
    extensions = yaml.safe_load((HERE / "extensions.yaml").read_text(encoding="utf-8"))
    for kind, file in INPUT_CRDS.items():
        read = list(yaml.safe_load_all((HERE / "input-crds" / file).read_text(encoding="utf-8")))
        versions = [version for crd in read for version in crd["spec"]["versions"]]  # the first is the widest
        group = read[0]["spec"]["group"]
        body = structural(versions[0]["schema"]["openAPIV3Schema"], number=True)
        yield from own_kind(kind, [f"{group}/{version['name']}" for version in versions], body, extensions)
    for kind, rules in extensions["kinds"].items():
        if kind not in INPUT_CRDS:
            body = {"type": "object", "properties": {"spec": bounded(shorthand(rules["spec"]), extensions["lists"])}}
            yield from own_kind(kind, ["renderer.llmaz.io/v1alpha1"], body, extensions)


def own_kind(kind: str, versions: list[str], body: Node, extensions: Node) -> Iterator[tuple[str, Node]]:
    rules = extensions["kinds"][kind]
    for path, more in rules.get("fields", {}).items():
        parent, _, field = path.rpartition(".")
        more = shorthand({"description": more} if isinstance(more, str) else more)

        def added(node: Node, field: str = field, more: Node = more) -> Node:
            properties = node.get("properties", {})
            own = (
                more if field in properties else bounded(more, extensions["lists"], field)
            )  # what llmaz's CRD takes stays without a bound
            return {**node, "properties": {**properties, field: merged(properties.get(field, {}), own)}}

        body = changed(body, parent, added)
    spec = body["properties"]["spec"]
    for path in undescribed(spec, "spec"):
        sys.exit(f"extensions.yaml: {kind}: {path} has no description")
    schema = {
        "title": kind,
        "description": rules["description"],
        "type": "object",
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "additionalProperties": False,
        "properties": {
            "apiVersion": {
                **({"const": versions[0]} if len(versions) == 1 else {"enum": versions}),
                "description": "API group and version.",
            },
            "kind": {"const": kind, "description": "The kind."},
            "metadata": shorthand(extensions["metadata"]),
            "spec": {**spec, "description": "What is wanted."},
            "status": {"description": "Written by a cluster; ignored."},
        },
    }
    yield f"input/{kind.lower()}.json", packed(schema)


def shorthand(node: Node) -> Node:
    """A schema of extensions.yaml as strict JSON Schema: `core: v1/EnvVar` stands for that type, `patch: v1/PodSpec`
    for a strategic merge patch of it, `keys` for the properties of an object, `list` for an array of, `map` for an
    object of; a bare type name for a schema."""
    result = dict(node)
    if core := result.pop("core", None):
        result = {**core_type(core), **result}
    if name := result.pop("patch", None):
        whole = patch(f"core.{name.replace('/', '.')}")
        del whole["properties"]["$patch"]  # the whole of it is neither deleted nor replaced
        result = {**whole, **result}
    if word := result.pop("form", None):
        result = {**form(word), **result}
    for word, key, kind in (("list", "items", "array"), ("map", "additionalProperties", "object")):
        if word in result:
            inner = result.pop(word)
            result[key] = shorthand({"type": inner} if isinstance(inner, str) else inner)
            result["type"] = kind
    if "propertyNames" in result:
        result["propertyNames"] = shorthand(result["propertyNames"])
    if "keys" in result:
        result["properties"] = {key: shorthand(value) for key, value in result.pop("keys").items()}
        result.setdefault("type", "object")
        if result.pop("open", False):
            result["additionalProperties"] = True
    return strict(result)


def bounded(node: Node, bounds: Node, field: str = "") -> Node:
    """A schema of ours where each list has a bound: its own, else one of `lists` of extensions.yaml. The insides of
    Kubernetes' types have none.
    """
    if NAME in node:
        return node
    result = dict(node)
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            result[key] = bounded(node[key], bounds, field)
    if "array" in node.get("type", ()):
        result.setdefault("maxItems", bounds["arguments" if field in ARGUMENTS else "others"])
    if "properties" in node:
        result["properties"] = {key: bounded(value, bounds, key) for key, value in node["properties"].items()}
    return result


def undescribed(node: Node, path: str) -> Iterator[str]:
    """Fields of ours without words; the insides of Kubernetes' types need none."""
    if NAME in node:
        return
    for field, value in node.get("properties", {}).items():
        if "description" not in value:
            yield f"{path}.{field}"
        yield from undescribed(value, f"{path}.{field}")
    if isinstance(node.get("items"), dict):
        yield from undescribed(node["items"], f"{path}[]")
    if isinstance(node.get("additionalProperties"), dict):
        yield from undescribed(node["additionalProperties"], f"{path}{{}}")


# ---- packing ----


class Pool:
    """Every different part of a schema once, children before parents."""

    def __init__(self) -> None:
        self.parts: list[Node] = []  # children stand there as Part(number)
        self.names: list[str] = []
        self.numbers: dict[str, int] = {}

    def add(self, node: Node, name: str) -> Part:
        name = node.get(NAME, name)
        part: Node = {}
        for key, value in node.items():
            if key == NAME:
                continue
            part[key] = around(key, value, lambda inner, word: self.add(inner, word), name)
        text = json.dumps(part, sort_keys=True, default=lambda child: {"": child.number})
        number = self.numbers.setdefault(text, len(self.parts))
        if number == len(self.parts):
            self.parts.append(part)
            self.names.append(name)
        return Part(number)


class Part:
    """A part of a schema, by its number in the pool."""

    def __init__(self, number: int) -> None:
        self.number = number


def around(key: str, value: Any, change: Any, name: str) -> Any:
    """The value of a keyword with each schema in it replaced by `change(schema, name)`."""
    if key in NAMED:
        return {field: change(inner, field) for field, inner in value.items()}
    if key in SINGLE and isinstance(value, (dict, Part)):
        return change(value, name)
    if key in LISTED:
        return [change(inner, name) for inner in value]
    return value


def packed(schema: Node) -> Node:
    """The schema with parts that occur more than once under `$defs`. No `$ref` has a neighbour (draft-07)."""
    pool = Pool()
    root = pool.add(schema, "root")
    uses = [0] * len(pool.parts)
    for part in pool.parts:
        for key, value in part.items():
            around(key, value, lambda child, _: uses.__setitem__(child.number, uses[child.number] + 1), "")
    texts: list[Node] = []
    shared: set[int] = set()
    for number, part in enumerate(pool.parts):
        texts.append(
            {key: around(key, value, lambda child, _: stub(child, texts, shared), "") for key, value in part.items()}
        )
        if uses[number] > 1 and len(written(texts[number])) > SMALL:
            shared.add(number)
    names: dict[int, str] = {}
    defs: Node = {}

    def final(child: Part, _: str = "") -> Node:
        part = pool.parts[child.number]
        if child.number not in shared:
            return {key: around(key, part[key], final, "") for key in sorted(part)}
        if child.number not in names:
            word = pool.names[child.number]
            word = word[:1].upper() + word[1:]
            same = sum(1 for other in names.values() if re.fullmatch(re.escape(word) + r"\d*", other))
            names[child.number] = name = word if not same else f"{word}{same + 1}"
            defs[name] = {key: around(key, part[key], final, "") for key in sorted(part)}
        return {"$ref": f"#/$defs/{names[child.number]}"}

    result = {"$schema": DIALECT, **final(root)}
    if defs:
        result["$defs"] = defs
    return result


def stub(child: Part, texts: list[Node], shared: set[int]) -> Node:
    return {"$ref": "#/$defs/Something"} if child.number in shared else texts[child.number]


def written(schema: Node) -> bytes:
    """Compact JSON with sorted keys."""
    return json.dumps(schema, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 when a file differs")
    parser.add_argument("--only", choices=["input"], help="only the schemas of these kinds, without Go")
    options = parser.parse_args()
    if options.only:
        read_stored()
    makers = (input_kinds,) if options.only else (built_in_kinds, custom_kinds, model_kind, input_kinds)
    schemas = {path: schema for kinds in makers for path, schema in kinds()}
    usuals = [name for name in KINDS if not options.only or name.startswith(f"{options.only}/")]
    schemas.update({f"usual/{name}.json": usual(schemas[f"{name}.json"], name) for name in usuals})
    results = {TARGET / path: written(schema) + b"\n" for path, schema in schemas.items()}
    folders = [TARGET / options.only, TARGET / "usual" / options.only] if options.only else [TARGET]
    gone = [path for folder in folders for path in folder.rglob("*.json") if path not in results]
    if not options.only:
        results[TYPES] = stored()
    stale = [path for path, data in results.items() if not path.exists() or path.read_bytes() != data]
    for path in sorted([*stale, *gone]):
        name = path.relative_to(HERE.parent)
        print(("differs: " if options.check else "wrote: " if path in results else "removed: ") + str(name))
    if options.check:
        return 1 if stale or gone else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(results[path])
    for path in gone:
        path.unlink()
    print(f"{len(results)} files, {sum(map(len, results.values())):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
