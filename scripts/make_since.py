"""Make `renderer/kubernetes/component_versions.json`: the first version of a component that has a field.

    python scripts/make_since.py          # writes; the same bytes every run
    python scripts/make_since.py --check  # exit code 1 when the file differs

Needs `go` and the Go module proxy, as make_schemas.py does: the CRDs and the OpenAPI of several versions of each
component are read and compared. A field of Kubernetes counts from the version on whose feature gate is on by default:
before, the API server drops it. What no module says is in `since.yaml`, with who says it.

    components   by key of RenderConfig's `targets`, or a name of its own for what has none there: what it is called,
                 the oldest version that was looked at and the newest that we know, that of our schemas, the default;
                 `asks`: by version, the oldest version of another component that it works with
    kinds        by schema, the component that serves it; where parts of it are newer than that component's oldest
                 version, the number of a node
    nodes        parts of an object: `!` since when (component → version; `?` → a feature gate that is off by default
                 in all versions), `=` by value the same, `~` the same for values that a pattern does not fit, `[]` the
                 items, `{}` the values, else fields by name; children are numbers of nodes
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

if TYPE_CHECKING or __package__:
    from scripts import make_schemas
else:  # it runs as a script, with its folder on the path
    import make_schemas

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "renderer" / "kubernetes" / "component_versions.json"
FACTS = HERE / "since.yaml"

Node = dict[str, Any]
GATE = "?"
_SPEC = r'\t\t\{Version: version\.MustParse\("([0-9.]+)"\), Default: (true|false)'
FEATURES = ("pkg/features/kube_features.go", "pkg/features/versioned_kube_features.go")


class Component(NamedTuple):
    """Something with versions. `older`: modules before that of our schemas, oldest first; `folders`: where their CRDs
    are, each version has one of them.
    """

    title: str
    module: str
    older: tuple[str, ...]
    folders: tuple[str, ...] = ()


COMPONENTS = {
    "kubernetes": Component(
        "Kubernetes",
        "k8s.io/kubernetes",
        ("v1.28.0", "v1.29.0", "v1.30.0", "v1.31.0", "v1.32.0", "v1.33.0", "v1.34.0", "v1.35.0", "v1.36.0"),
    ),
    "leaderWorkerSet": Component(
        "LeaderWorkerSet",
        "sigs.k8s.io/lws",
        ("v0.5.0", "v0.6.0", "v0.7.0", "v0.8.0"),
        ("config/crd/bases",),
    ),
    "aiGateway": Component(
        "Agent Router (Envoy AI Gateway)",
        "github.com/envoyproxy/ai-gateway",
        (),
        ("manifests/charts/ai-gateway-crds-helm/templates",),
    ),
    "envoyGateway": Component(
        "Envoy Gateway",
        "github.com/envoyproxy/gateway",
        ("v1.4.0", "v1.5.0", "v1.6.0", "v1.7.0", "v1.8.0"),
        ("charts/gateway-helm/charts/crds/crds/generated", "charts/gateway-helm/crds/generated"),
    ),
    "gatewayAPI": Component(
        "Gateway API",
        "sigs.k8s.io/gateway-api",
        ("v1.2.0", "v1.3.0", "v1.4.0", "v1.5.0", "v1.6.0"),
        ("config/crd/standard",),
    ),
    "inferenceExtension": Component(
        "Gateway API Inference Extension",
        "sigs.k8s.io/gateway-api-inference-extension",
        ("v1.0.0", "v1.1.0", "v1.2.0", "v1.3.0", "v1.4.0", "v1.5.0"),
        ("config/crd/bases",),
    ),
    "prometheusOperator": Component(
        "Prometheus Operator",
        "github.com/prometheus-operator/prometheus-operator",
        ("v0.70.0", "v0.75.0"),
        ("example/prometheus-operator-crd",),
    ),
    "karpenter": Component(
        "Karpenter",
        "github.com/aws/karpenter-provider-aws",
        ("v1.0.0", "v1.14.1"),
        ("pkg/apis/crds",),
    ),
}


def minor(module: str) -> str:
    """`k8s.io/kubernetes@v1.36.3` → `1.36`."""
    return ".".join(module.rpartition("@v")[2].split(".")[:2])


def pinned(component: Component) -> str:
    """The version of a component that our schemas are of: the newest."""
    modules = [make_schemas.KUBERNETES, *(source.module for source in make_schemas.CRDS)]
    named = [module for module in modules if module.rpartition("@")[0] == component.module]
    return max(named, key=lambda module: [int(part) for part in minor(module).split(".")])


def modules(component: Component) -> list[str]:
    """All versions of a component that are read, oldest first."""
    rest = [f"{component.module}@{version}" for version in component.older]
    return [module for module in rest if minor(module) != minor(pinned(component))] + [pinned(component)]


@cache
def facts() -> Node:
    """since.yaml."""
    read: Node = yaml.safe_load(FACTS.read_text(encoding="utf-8"))
    return read


def first(there: Sequence[bool]) -> int:
    """From which one on all are there; as many as there are, when the last is not."""
    length = len(there)
    while length and there[length - 1]:
        length -= 1
    return length


def below(node: Node, key: str, child: Node) -> None:
    """Puts a child into a node, unless it says nothing."""
    if child:
        node[key] = child


# ---- Kubernetes ----


@cache
def definitions(module: str) -> dict[str, Node]:
    """The OpenAPI definitions of a version of Kubernetes."""
    by_name: dict[str, Node] = {}
    for data in make_schemas.files(module, make_schemas.OPENAPI, "_openapi.json"):
        for name, value in json.loads(data).get("components", {}).get("schemas", {}).items():
            by_name[make_schemas.short(name)] = value
    return by_name


@cache
def allowed(module: str) -> dict[tuple[str, str], list[str]]:
    """(definition, field) → values, of a version of Kubernetes."""
    return make_schemas.enumerated(make_schemas.archive(module).read(f"{module}/{make_schemas.ENUMS}").decode())


@cache
def gates() -> dict[str, set[str]]:
    """`core.v1.Volume.image` → the feature gates that let it through."""
    by_field: dict[str, set[str]] = {name: {gate} for name, gate in facts()["gates"].items()}
    for version in (release.rpartition("@v1.")[2] for release in modules(COMPONENTS["kubernetes"])):
        module = f"k8s.io/api@v0.{version}"
        for name in make_schemas.archive(module).namelist():
            if name.endswith("/types.go"):
                package = ".".join(name.split("/")[-3:-1])
                for field, gate in tagged(make_schemas.archive(module).read(name).decode()):
                    by_field.setdefault(f"{package}.{field}", set()).add(facts()["renamed"].get(gate, gate))
    return by_field


def tagged(text: str) -> Iterator[tuple[str, str]]:
    """The fields of Go types that name a feature gate: type and field, and the gate."""
    struct = ""
    named: list[str] = []
    for line in text.splitlines():
        if match := re.match(r"type (\w+) struct", line):
            struct, named = match[1], []
        elif match := re.match(r"\s*// ?\+featureGate=(\w+)", line):
            named.append(match[1])
        elif match := re.search(r'json:"(\w+)[,"]', line):
            yield from ((f"{struct}.{match[1]}", gate) for gate in named)
            named = []


@cache
def gated() -> dict[str, list[str]]:
    """What gates let through below a field: of `core.v1.SleepAction.seconds` the value 0, as `=0`; of
    `core.v1.PodSpec.containers` a field of its items, as `[].restartPolicy`.
    """
    by_field: dict[str, list[str]] = {}
    for key in gates():
        if match := re.fullmatch(r"(.+?)(=.+|\[\]\..+)", key):
            by_field.setdefault(match[1], []).append(match[2])
    return by_field


@cache
def switches(module: str) -> dict[str, bool]:
    """The feature gates of a version of Kubernetes: whether each is on by default."""
    defaults: dict[str, bool] = {}
    current = numbers(minor(module))
    for path in FEATURES:
        if f"{module}/{path}" not in make_schemas.archive(module).namelist():
            continue
        gate = ""
        for line in make_schemas.archive(module).read(f"{module}/{path}").decode().splitlines():
            if match := re.match(r"\t(?:\w+\.)?(\w+): +\{Default: (true|false)", line):
                defaults[match[1]] = match[2] == "true"
            elif match := re.match(r"\t(?:\w+\.)?(\w+): +\{$", line):
                gate = match[1]
            elif (match := re.match(_SPEC, line)) and numbers(match[1]) <= current:
                defaults[gate] = match[2] == "true"
    return defaults


def on(gate: str) -> list[bool]:
    """Whether a gate is on by default, by version of Kubernetes; one that is gone again was on for good."""
    states = [switches(module).get(gate) for module in modules(COMPONENTS["kubernetes"])]
    if not any(state is not None for state in states):
        sys.exit(f"no version of Kubernetes has a feature gate {gate}")
    known = [i for i, state in enumerate(states) if state is not None]
    return [bool(state) if state is not None else i > known[-1] for i, state in enumerate(states)]


def kubernetes(definition: str) -> Node:
    """What is newer in a type of Kubernetes, and in all that it refers to; of a kind that is new itself, only that."""
    versions = modules(COMPONENTS["kubernetes"])
    if needs := let([definition in definitions(module) for module in versions], ()):
        return {"!": needs}
    return typed([definition for _ in versions], ())


def typed(names: Sequence[str], path: tuple[str, ...]) -> Node:
    """The same of what a type was called in each version, '' where it was not: some got other names."""
    versions = modules(COMPONENTS["kubernetes"])
    node: Node = {}
    name = names[-1]
    if name in path:
        return node
    versions_fields = [
        definitions(module).get(was, {}).get("properties", {}) for module, was in zip(versions, names, strict=True)
    ]
    for field, raw in versions_fields[-1].items():
        if field == "status" and "kind" in versions_fields[-1]:
            continue
        child = inner([fields.get(field) for fields in versions_fields], (*path, name))
        below_it = gated().get(f"{name}.{field}", ())
        for word in (entry for entry in below_it if entry.startswith("[].")):
            needs = let([True for _ in versions], gates()[f"{name}.{field}{word}"])
            child.setdefault("[]", {}).setdefault(word[3:], {})["!"] = needs
        if needs := let([field in fields for fields in versions_fields], gates().get(f"{name}.{field}", ())):
            child = {"!": needs} if GATE in needs else {**child, "!": needs}
        if old := facts()["patterns"].get(f"{name}.{field}"):
            below(child, "~", {old["pattern"]: let([True for _ in versions], [old["gate"]])})
        values: Node = {}
        named = [entry[1:] for entry in below_it if entry.startswith("=")]
        for value in dict.fromkeys([*allowed(versions[-1]).get((name, field), ()), *named]):
            have = [
                value in allowed(module).get((was, field), [value]) for module, was in zip(versions, names, strict=True)
            ]
            if needs := let(have, gates().get(f"{name}.{field}={value}", ())):
                values[value] = needs
        place = child
        for word in ("[]", "{}") if values else ():
            if ("items" if word == "[]" else "additionalProperties") in raw:
                place = child.setdefault(word, {})
        below(place, "=", values)
        below(node, field, child)
    return node


def let(have: Sequence[bool], through: Iterable[str]) -> Node:
    """Since when something is there and let through by its gates; since when it is there, and the gate, where that is
    off by default in all versions; nothing, where it always was.
    """
    versions = modules(COMPONENTS["kubernetes"])
    off = [gate for gate in sorted(through) if not on(gate)[-1]]
    if not off:
        have = [all(states) for states in zip(have, *map(on, through), strict=True)]
    since = first(have)
    needs = {"kubernetes": minor(versions[since])} if since else {}
    return {**needs, GATE: off[0]} if off else needs


def inner(raws: Sequence[Node | None], path: tuple[str, ...]) -> Node:
    """What is newer below a property, as it is in each version."""
    plain = [raw["allOf"][0] if raw and "allOf" in raw else raw or {} for raw in raws]
    last = plain[-1]
    if "$ref" in last:
        names = [make_schemas.short(raw.get("$ref", "").rpartition("/")[2]) for raw in plain]
        return typed(names, path)
    node: Node = {}
    for key, word in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(last.get(key), dict):
            below(node, word, inner([part(raw, key) for raw in plain], path))
    return node


# ---- CRDs ----


@cache
def bodies(module: str, folders: tuple[str, ...]) -> dict[str, Node]:
    """The schemas of the CRDs of a module, by the name of ours: `group/kind_version`."""
    schemas: dict[str, Node] = {}
    sources = [source for source in make_schemas.CRDS if source.module.rpartition("@")[0] == module.rpartition("@")[0]]
    kind_names = (
        () if any(not source.kinds for source in sources) else [kind for source in sources for kind in source.kinds]
    )
    for folder in folders:
        for crd in make_schemas.crds(make_schemas.Source(module, folder, tuple(kind_names))):
            group, kind = crd["spec"]["group"], crd["spec"]["names"]["kind"].lower()
            for version in crd["spec"]["versions"]:
                if version["served"]:
                    schemas[f"{group}/{kind}_{version['name']}"] = version["schema"]["openAPIV3Schema"]
        if schemas:
            break
    return schemas


def compared(raws: Sequence[Node | None], since: Callable[[int], Node]) -> Node:
    """What is newer in a part of a CRD. `raws`: the part in each version, oldest first, None where it is not there."""
    node: Node = {}
    have = [raw is not None for raw in raws]
    index = first(have)
    if index == len(raws):
        return node
    if index:
        node["!"] = since(index)
    last = raws[-1] or {}
    versions = [raw or {} for raw in raws]
    for field in last.get("properties", {}):
        below(node, field, compared([part(raw, "properties", field) for raw in raws], since))
    for key, word in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(last.get(key), dict):
            below(node, word, compared([part(raw, key) for raw in raws], since))
    values = {
        str(value): since(newer)
        for value in last.get("enum", ())
        if (newer := first([not raw.get("enum") or value in raw["enum"] for raw in versions])) > index
    }
    return {**node, "=": values} if values else node


def part(raw: Node | None, key: str, field: str = "") -> Node | None:
    """A part of a part; {} where anything may stand."""
    if raw is None or raw.get("x-kubernetes-preserve-unknown-fields"):
        return raw and {}
    value = raw.get(key)
    if field:
        value = value.get(field) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else None


def custom(key: str, component: Component) -> Iterator[tuple[str, Node]]:
    """The kinds of a component that we have schemas of, and what is newer in each."""
    versions = modules(component)
    read = [bodies(module, component.folders) for module in versions]
    for name in dict.fromkeys(name for schemas in read for name in schemas):
        if not (make_schemas.TARGET / "output" / f"{name}.json").exists():
            continue
        # A kind that is gone again is compared up to the last version that has it.
        length = max(i for i, schemas in enumerate(read) if name in schemas) + 1
        raws = [schemas.get(name) for schemas in read[:length]]
        fields = {k: v for k, v in (raws[-1] or {})["properties"].items() if k != "status"}
        raws[-1] = {**(raws[-1] or {}), "properties": fields}
        yield name, compared(raws, lambda index: {key: minor(versions[index])})


def gateway_facts() -> Iterator[tuple[str, Node]]:
    """The kinds of Agent Router, as its release notes tell."""
    oldest = facts()["aiGateway"]["versions"][0]
    for name, entry in facts()["aiGateway"]["kinds"].items():
        node: Node = {} if entry["since"] == oldest else {"!": {"aiGateway": entry["since"]}}
        for path, version in entry.get("fields", {}).items():
            part_of(node, path)["!"] = {"aiGateway": version}
        yield f"aigateway.envoyproxy.io/{name}", node


def part_of(node: Node, path: str) -> Node:
    """The part of an account at a path such as `spec.rules[].name`, made where it is not there."""
    for word in path.replace("[]", ".[]").split("."):
        node = node.setdefault(word, {})
    return node


def hand_facts(key: str, name: str) -> Node:
    """What since.yaml says by hand of newer versions of a kind."""
    node: Node = {}
    for version, kinds_of in make_schemas.by_hand().get(key, {}).items():
        new = kinds_of.get(name, {})
        for path in new.get("fields", {}):
            part_of(node, path)["!"] = {key: version, **new.get("needs", {}).get(path, {})}
        for path, values in new.get("values", {}).items():
            part_of(node, path)["="] = {value: {key: version} for value in values}
    return node


# ---- all together ----


def joined(one: Node, other: Node) -> Node:
    """Two accounts of the same part."""
    return {
        key: joined(one[key], other[key]) if key in one and key in other else one.get(key, other.get(key))
        for key in [*one, *(key for key in other if key not in one)]
    }


def embedded(kind: str, node: Node, raw: Node) -> Node:
    """A CRD's account with that of the Kubernetes types that stand in it (additions.yaml says where). `raw`: its newest
    schema that was read.
    """
    account: Node = {}
    for path, definition in make_schemas.additions()["crds"].get(kind, {}).get("types", {}).items():
        part_of(account, path).update(kubernetes(definition))
    return joined(node, passed(account, raw))


def passed(account: Node, raw: Node) -> Node:
    """The account of Kubernetes types without the fields that a CRD's copy of them lacks: no version of it passes them
    on, so that they are unknown there rather than new.
    """
    node: Node = {}
    for key, child in account.items():
        if key in ("!", "=", "~"):
            node[key] = child
            continue
        where = {"[]": ("items",), "{}": ("additionalProperties",)}.get(key, ("properties", key))
        if (inside := part(raw, *where)) is not None:
            below(node, key, passed(child, inside))
    return node


def newer(needs: Mapping[str, str], have: Mapping[str, str]) -> Node:
    """What of these needs is not met by others."""
    return {
        key: version
        for key, version in sorted(needs.items())
        if key == GATE or numbers(version) > numbers(have.get(key, "0"))
    }


def numbers(version: str) -> tuple[int, ...]:
    """`1.30` → (1, 30)."""
    return tuple(int(part) for part in version.split("."))


def pruned(node: Node, have: Mapping[str, str]) -> Node:
    """The account without what its parents need too. `have`: what they need."""
    result: Node = {}
    needs = newer(node.get("!", {}), have)
    below(result, "!", needs)
    inherited = {**have, **needs}
    for key, value in sorted(node.items()):
        if key in ("=", "~"):
            values = {word: newer(needed, inherited) for word, needed in sorted(value.items())}
            below(result, key, {word: remaining for word, remaining in values.items() if remaining})
        elif key != "!":
            below(result, key, pruned(value, inherited))
    return result


class Pool:
    """Every different node once, children before parents."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.numbers: dict[str, int] = {}

    def add(self, node: Node) -> int:
        """The node's number."""
        flat = {key: value if key in ("!", "=", "~") else self.add(value) for key, value in node.items()}
        text = json.dumps(flat, sort_keys=True)
        if text not in self.numbers:
            self.numbers[text] = len(self.nodes)
            self.nodes.append(flat)
        return self.numbers[text]


def kinds() -> Iterator[tuple[str, str, Node]]:
    """Each schema, its component, and what is newer in it."""
    for where, names in make_schemas.BUILT_IN.items():
        api, version = where.split(".")
        for kind in names:
            name = f"{make_schemas.GROUPS.get(api, api) or 'core'}/{kind.lower()}_{version}"
            yield name, "kubernetes", kubernetes(f"{where}.{kind}")
    for key, component in COMPONENTS.items():
        accounts = gateway_facts() if key == "aiGateway" else custom(key, component) if component.folders else ()
        for name, node in accounts:
            crd = next(
                (
                    crd_kind
                    for crd_kind in make_schemas.additions()["crds"]
                    if name.split("/")[1].startswith(crd_kind.lower())
                ),
                "",
            )
            raw = bodies(pinned(component), component.folders).get(name, {}) if crd else {}
            yield name, key, joined(embedded(crd, node, raw), hand_facts(key, name))


def result() -> Node:
    """The whole file."""
    targets = yaml.safe_load((HERE / "extensions.yaml").read_text())["kinds"]["RenderConfig"]["spec"]["keys"]["targets"]
    pool, by_schema = Pool(), {}
    for name, component, node in kinds():
        node = pruned(node, {})
        by_schema[f"output/{name}"] = [component, pool.add(node)] if node else [component]
    components = {}
    for key, entry in COMPONENTS.items():
        versions = facts().get(key, {}).get("versions") or [minor(module) for module in modules(entry)]
        components[key] = {
            "title": entry.title,
            "oldest": versions[0],
            "newest": facts()["later"].get(key) or [*versions, *make_schemas.by_hand().get(key, {})][-1],
            "tested": minor(pinned(entry)),
        }
        if key in facts()["asks"]:
            components[key]["asks"] = facts()["asks"][key]
        if key in targets["keys"]:
            components[key]["default"] = targets["keys"][key]["default"]
    return {"components": components, "kinds": by_schema, "nodes": pool.nodes}


def main() -> None:
    data = json.dumps(result(), sort_keys=True, separators=(",", ":")).encode() + b"\n"
    check = sys.argv[1:] == ["--check"]
    if check and (not TARGET.exists() or TARGET.read_bytes() != data):
        sys.exit(f"{TARGET}: stale, run scripts/make_since.py")
    if not check:
        TARGET.write_bytes(data)


if __name__ == "__main__":
    main()
