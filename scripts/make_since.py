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

if TYPE_CHECKING:
    from scripts import make_schemas as made
else:  # it runs as a script, with its folder on the path
    import make_schemas as made

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
    modules = [made.KUBERNETES, *(source.module for source in made.CRDS)]
    named = [each for each in modules if each.rpartition("@")[0] == component.module]
    return max(named, key=lambda each: [int(part) for part in minor(each).split(".")])


def modules(component: Component) -> list[str]:
    """All versions of a component that are read, oldest first."""
    rest = [f"{component.module}@{version}" for version in component.older]
    return [each for each in rest if minor(each) != minor(pinned(component))] + [pinned(component)]


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
    found: dict[str, Node] = {}
    for data in made.files(module, made.OPENAPI, "_openapi.json"):
        for name, value in json.loads(data).get("components", {}).get("schemas", {}).items():
            found[made.short(name)] = value
    return found


@cache
def allowed(module: str) -> dict[tuple[str, str], list[str]]:
    """(definition, field) → values, of a version of Kubernetes."""
    return made.enumerated(made.archive(module).read(f"{module}/{made.ENUMS}").decode())


@cache
def gates() -> dict[str, set[str]]:
    """`core.v1.Volume.image` → the feature gates that let it through."""
    found: dict[str, set[str]] = {name: {gate} for name, gate in facts()["gates"].items()}
    for version in (each.rpartition("@v1.")[2] for each in modules(COMPONENTS["kubernetes"])):
        module = f"k8s.io/api@v0.{version}"
        for name in made.archive(module).namelist():
            if name.endswith("/types.go"):
                package = ".".join(name.split("/")[-3:-1])
                for field, gate in tagged(made.archive(module).read(name).decode()):
                    found.setdefault(f"{package}.{field}", set()).add(facts()["renamed"].get(gate, gate))
    return found


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
    found: dict[str, list[str]] = {}
    for key in gates():
        if match := re.fullmatch(r"(.+?)(=.+|\[\]\..+)", key):
            found.setdefault(match[1], []).append(match[2])
    return found


@cache
def switches(module: str) -> dict[str, bool]:
    """The feature gates of a version of Kubernetes: whether each is on by default."""
    found: dict[str, bool] = {}
    here = numbers(minor(module))
    for path in FEATURES:
        if f"{module}/{path}" not in made.archive(module).namelist():
            continue
        gate = ""
        for line in made.archive(module).read(f"{module}/{path}").decode().splitlines():
            if match := re.match(r"\t(?:\w+\.)?(\w+): +\{Default: (true|false)", line):
                found[match[1]] = match[2] == "true"
            elif match := re.match(r"\t(?:\w+\.)?(\w+): +\{$", line):
                gate = match[1]
            elif (match := re.match(_SPEC, line)) and numbers(match[1]) <= here:
                found[gate] = match[2] == "true"
    return found


def on(gate: str) -> list[bool]:
    """Whether a gate is on by default, by version of Kubernetes; one that is gone again was on for good."""
    said = [switches(module).get(gate) for module in modules(COMPONENTS["kubernetes"])]
    if not any(each is not None for each in said):
        sys.exit(f"no version of Kubernetes has a feature gate {gate}")
    known = [i for i, each in enumerate(said) if each is not None]
    return [bool(each) if each is not None else i > known[-1] for i, each in enumerate(said)]


def kubernetes(definition: str) -> Node:
    """What is newer in a type of Kubernetes, and in all that it refers to; of a kind that is new itself, only that."""
    versions = modules(COMPONENTS["kubernetes"])
    if said := let([definition in definitions(each) for each in versions], ()):
        return {"!": said}
    return typed([definition for _ in versions], ())


def typed(names: Sequence[str], path: tuple[str, ...]) -> Node:
    """The same of what a type was called in each version, '' where it was not: some got other names."""
    versions = modules(COMPONENTS["kubernetes"])
    node: Node = {}
    name = names[-1]
    if name in path:
        return node
    told = [definitions(each).get(was, {}).get("properties", {}) for each, was in zip(versions, names, strict=True)]
    for field, raw in told[-1].items():
        if field == "status" and "kind" in told[-1]:
            continue
        child = inner([each.get(field) for each in told], (*path, name))
        below_it = gated().get(f"{name}.{field}", ())
        for word in (each for each in below_it if each.startswith("[].")):
            said = let([True for _ in versions], gates()[f"{name}.{field}{word}"])
            child.setdefault("[]", {}).setdefault(word[3:], {})["!"] = said
        if said := let([field in each for each in told], gates().get(f"{name}.{field}", ())):
            child = {"!": said} if GATE in said else {**child, "!": said}
        if old := facts()["patterns"].get(f"{name}.{field}"):
            below(child, "~", {old["pattern"]: let([True for _ in versions], [old["gate"]])})
        values: Node = {}
        named = [each[1:] for each in below_it if each.startswith("=")]
        for value in dict.fromkeys([*allowed(versions[-1]).get((name, field), ()), *named]):
            have = [
                value in allowed(each).get((was, field), [value]) for each, was in zip(versions, names, strict=True)
            ]
            if said := let(have, gates().get(f"{name}.{field}={value}", ())):
                values[value] = said
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
        have = [all(each) for each in zip(have, *map(on, through), strict=True)]
    since = first(have)
    said = {"kubernetes": minor(versions[since])} if since else {}
    return {**said, GATE: off[0]} if off else said


def inner(raws: Sequence[Node | None], path: tuple[str, ...]) -> Node:
    """What is newer below a property, as it is in each version."""
    plain = [each["allOf"][0] if each and "allOf" in each else each or {} for each in raws]
    last = plain[-1]
    if "$ref" in last:
        names = [made.short(each.get("$ref", "").rpartition("/")[2]) for each in plain]
        return typed(names, path)
    node: Node = {}
    for key, word in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(last.get(key), dict):
            below(node, word, inner([part(each, key) for each in plain], path))
    return node


# ---- CRDs ----


@cache
def bodies(module: str, folders: tuple[str, ...]) -> dict[str, Node]:
    """The schemas of the CRDs of a module, by the name of ours: `group/kind_version`."""
    found: dict[str, Node] = {}
    sources = [each for each in made.CRDS if each.module.rpartition("@")[0] == module.rpartition("@")[0]]
    wanted = () if any(not each.kinds for each in sources) else [kind for each in sources for kind in each.kinds]
    for folder in folders:
        for crd in made.crds(made.Source(module, folder, tuple(wanted))):
            group, kind = crd["spec"]["group"], crd["spec"]["names"]["kind"].lower()
            for version in crd["spec"]["versions"]:
                if version["served"]:
                    found[f"{group}/{kind}_{version['name']}"] = version["schema"]["openAPIV3Schema"]
        if found:
            break
    return found


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
    read = [bodies(each, component.folders) for each in versions]
    for name in dict.fromkeys(name for each in read for name in each):
        if not (made.TARGET / "output" / f"{name}.json").exists():
            continue
        # A kind that is gone again is compared up to the last version that has it.
        length = max(i for i, each in enumerate(read) if name in each) + 1
        raws = [each.get(name) for each in read[:length]]
        fields = {k: v for k, v in (raws[-1] or {})["properties"].items() if k != "status"}
        raws[-1] = {**(raws[-1] or {}), "properties": fields}
        yield name, compared(raws, lambda index: {key: minor(versions[index])})


def gateway_facts() -> Iterator[tuple[str, Node]]:
    """The kinds of Agent Router, as its release notes tell."""
    oldest = facts()["aiGateway"]["versions"][0]
    for name, said in facts()["aiGateway"]["kinds"].items():
        node: Node = {} if said["since"] == oldest else {"!": {"aiGateway": said["since"]}}
        for path, version in said.get("fields", {}).items():
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
    for version, kinds_of in made.by_hand().get(key, {}).items():
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
    told: Node = {}
    for path, definition in made.additions()["crds"].get(kind, {}).get("types", {}).items():
        part_of(told, path).update(kubernetes(definition))
    return joined(node, passed(told, raw))


def passed(told: Node, raw: Node) -> Node:
    """The account of Kubernetes types without the fields that a CRD's copy of them lacks: no version of it passes them
    on, so that they are unknown there rather than new.
    """
    node: Node = {}
    for key, child in told.items():
        if key in ("!", "=", "~"):
            node[key] = child
            continue
        where = {"[]": ("items",), "{}": ("additionalProperties",)}.get(key, ("properties", key))
        if (inside := part(raw, *where)) is not None:
            below(node, key, passed(child, inside))
    return node


def newer(said: Mapping[str, str], have: Mapping[str, str]) -> Node:
    """What of these needs is not met by others."""
    return {
        key: each for key, each in sorted(said.items()) if key == GATE or numbers(each) > numbers(have.get(key, "0"))
    }


def numbers(version: str) -> tuple[int, ...]:
    """`1.30` → (1, 30)."""
    return tuple(int(part) for part in version.split("."))


def pruned(node: Node, have: Mapping[str, str]) -> Node:
    """The account without what its parents need too. `have`: what they need."""
    result: Node = {}
    needs = newer(node.get("!", {}), have)
    below(result, "!", needs)
    here = {**have, **needs}
    for key, value in sorted(node.items()):
        if key in ("=", "~"):
            values = {word: newer(said, here) for word, said in sorted(value.items())}
            below(result, key, {word: said for word, said in values.items() if said})
        elif key != "!":
            below(result, key, pruned(value, here))
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
    for where, names in made.BUILT_IN.items():
        api, version = where.split(".")
        for kind in names:
            name = f"{made.GROUPS.get(api, api) or 'core'}/{kind.lower()}_{version}"
            yield name, "kubernetes", kubernetes(f"{where}.{kind}")
    for key, component in COMPONENTS.items():
        told = gateway_facts() if key == "aiGateway" else custom(key, component) if component.folders else ()
        for name, node in told:
            crd = next((each for each in made.additions()["crds"] if name.split("/")[1].startswith(each.lower())), "")
            raw = bodies(pinned(component), component.folders).get(name, {}) if crd else {}
            yield name, key, joined(embedded(crd, node, raw), hand_facts(key, name))


def result() -> Node:
    """The whole file."""
    targets = yaml.safe_load((HERE / "extensions.yaml").read_text())["kinds"]["RenderConfig"]["spec"]["keys"]["targets"]
    pool, told = Pool(), {}
    for name, component, node in kinds():
        node = pruned(node, {})
        told[f"output/{name}"] = [component, pool.add(node)] if node else [component]
    components = {}
    for key, each in COMPONENTS.items():
        versions = facts().get(key, {}).get("versions") or [minor(module) for module in modules(each)]
        components[key] = {
            "title": each.title,
            "oldest": versions[0],
            "newest": facts()["later"].get(key) or [*versions, *made.by_hand().get(key, {})][-1],
            "tested": minor(pinned(each)),
        }
        if key in facts()["asks"]:
            components[key]["asks"] = facts()["asks"][key]
        if key in targets["keys"]:
            components[key]["default"] = targets["keys"][key]["default"]
    return {"components": components, "kinds": told, "nodes": pool.nodes}


def main() -> None:
    data = json.dumps(result(), sort_keys=True, separators=(",", ":")).encode() + b"\n"
    check = sys.argv[1:] == ["--check"]
    if check and (not TARGET.exists() or TARGET.read_bytes() != data):
        sys.exit(f"{TARGET}: stale, run scripts/make_since.py")
    if not check:
        TARGET.write_bytes(data)


if __name__ == "__main__":
    main()
