"""Make `renderer/input_types.pyi`, the types of what users and presets write, from the input schemas.

    python scripts/make_input_types.py          # writes; the same bytes every run
    python scripts/make_input_types.py --check  # exit code 1 when the file differs

One TypedDict an object; objects of the same shape share one. No key is required: a layer may say any part, and the
schema has refused what lacks a key that a kind needs. Parts of Kubernetes are `Mapping[str, object]`.

Classes are named by key, so a new key may take the name of another's class. Where code imports that one, nothing is
written.
"""

from __future__ import annotations

import ast
import json
import keyword
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

Node: TypeAlias = Mapping[str, Any]

RENDERER = Path(__file__).resolve().parent.parent / "renderer"
TARGET = RENDERER / "input_types.pyi"
HEAD = '''"""What users and presets write, by kind. Made by `make schemas` from the input schemas; do not edit."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

'''
# The specs, and the schemas that each is made from. An app is a Playground or a Service, traffic a ModelRoute or an
# InferenceModel: their specs have the keys of both.
SPECS = {
    "OpenModelSpec": ["openmodel"],
    "BackendRuntimeSpec": ["backendruntime"],
    "AppSpec": ["playground", "service"],
    "TrafficSpec": ["modelroute", "inferencemodel"],
    "LoaderSpec": ["loader"],
    "PickerSpec": ["picker"],
    "RenderConfigSpec": ["renderconfig"],
    "RenderPolicySpec": ["renderpolicy"],
}
# Kubernetes describes these, and we hand them on.
KUBERNETES = {
    *("podTemplate", "leaderTemplate", "workerTemplate", "hpa", "behavior", "valueFrom", "labelSelector"),
    *("lifecycle", "livenessProbe", "readinessProbe", "startupProbe", "tolerations", "topologySpreadConstraints"),
    "volumeClaimTemplates",
}
# What a key alone does not say; `ParentSpec.key` for one of several such keys.
NAMES = {
    "envs": "EnvVar",
    "env": "EnvVar",
    "engines": "ModelEngineSpec",
    "ModelEngineSpec.versions": "ModelVersionSpec",
    "store": "StoreLoaderSpec",
    "hub": "HubLoaderSpec",
    "oci": "OCIVolumesSpec",
    "gcs": "GCSSecretSpec",
    "perNamespace": "NamespaceGatewaySpec",
    "perFlavor": "FlavorKarpenterSpec",
}
WHERE = "NAMES of scripts/make_input_types.py"
SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


class Types:
    """The classes met so far, by name and by shape; and the entry of NAMES that would call each otherwise."""

    def __init__(self) -> None:
        self.classes: dict[str, dict[str, str]] = {}
        self.names: dict[tuple[tuple[str, str], ...], str] = {}
        self.entries: dict[str, str] = {}

    def name(self, preferred: str, parent: str, entry: str, fields: dict[str, str]) -> str:
        """The class with these fields; made when there is none."""
        shape = tuple(sorted(fields.items()))
        if shape in self.names:
            return self.names[shape]
        name = preferred if preferred not in self.classes else parent.removesuffix("Spec") + preferred
        if name in self.classes:
            sys.exit(f"two classes would be called {name}: give `{entry}` a name of its own in {WHERE}")
        self.names[shape], self.classes[name], self.entries[name] = name, fields, entry
        return name

    def type_of(self, node: Node, root: Node, key: str, parent: str, many: bool = False) -> str:
        """The type of a value that the node describes. `many`: it is one of several below the key."""
        node = resolved(node, root)
        if "enum" in node or "const" in node:
            values = sorted(json.dumps(value) for value in node.get("enum", [node.get("const")]))
            if many:
                return "str"
            return f"Literal[{', '.join(values)}]"
        if "type" not in node and (choices := node.get("oneOf") or node.get("anyOf")):
            return " | ".join(dict.fromkeys(self.type_of(choice, root, key, parent, many) for choice in choices))
        kinds = node.get("type", "object" if "properties" in node else None)
        if kinds is None:
            return "object"
        if isinstance(kinds, list):
            return " | ".join(self.type_of({**node, "type": kind}, root, key, parent, many) for kind in kinds)
        if kinds == "array":
            return f"Sequence[{self.type_of(node.get('items', {}), root, key, parent, True)}]"
        if kinds != "object":
            return SCALARS[kinds]
        if key in KUBERNETES:
            return "Mapping[str, object]"
        if "properties" in node:
            entry = f"{parent}.{key}"
            return self.class_of([(node, root)], NAMES.get(entry) or class_name(key, many), parent, entry)
        if isinstance(more := node.get("additionalProperties"), dict):
            return f"Mapping[str, {self.type_of(more, root, key, parent, True)}]"
        return "Mapping[str, object]"

    def class_of(self, nodes: list[tuple[Node, Node]], preferred: str, parent: str = "", entry: str = "") -> str:
        """The class with the properties of all these objects; those of a key that several have become alternatives."""
        fields: dict[str, list[str]] = {}
        for node, root in nodes:
            for key, value in sorted(node.get("properties", {}).items()):
                kind = self.type_of(value, root, key, preferred)
                if kind not in fields.setdefault(key, []):
                    fields[key].append(kind)
        return self.name(preferred, parent, entry, {key: " | ".join(kinds) for key, kinds in sorted(fields.items())})


def resolved(node: Node, root: Node) -> Node:
    """What the node refers to."""
    while "$ref" in node:
        node = root["$defs"][node["$ref"].removeprefix("#/$defs/")]
    return node


def class_name(key: str, many: bool) -> str:
    """What the class of a key's objects is called: each of `flavors` is a FlavorSpec."""
    if key in NAMES:
        return NAMES[key]
    if many and key.endswith("s"):
        key = key[:-3] + "y" if key.endswith("ies") else key[:-1]
    return key[0].upper() + key[1:] + "Spec"


def source(name: str, fields: Mapping[str, str]) -> Iterator[str]:
    """The lines of a class."""
    if any(keyword.iskeyword(key) or not key.isidentifier() for key in fields):
        yield f"{name} = TypedDict("
        yield f'    "{name}",'
        yield "    {"
        yield from (f"        {json.dumps(key)}: {kind}," for key, kind in fields.items())
        yield "    },"
        yield "    total=False,"
        yield ")"
    else:
        yield f"class {name}(TypedDict, total=False):"
        yield from (f"    {key}: {kind}" for key, kind in fields.items())
    yield ""


def read_types() -> Types:
    """All classes, from the schemas."""
    types = Types()
    for name, kinds in SPECS.items():
        nodes = []
        for kind in kinds:
            root = json.loads((RENDERER / "schemas" / "input" / f"{kind}.json").read_text("utf-8"))
            nodes.append((resolved(root["properties"]["spec"], root), root))
        types.class_of(nodes, name)
    return types


def text() -> str:
    """The whole file."""
    return text_of(read_types())


def text_of(types: Types) -> str:
    """The file with these classes."""
    return HEAD + "\n".join(line for name, fields in types.classes.items() for line in source(name, fields))


# ---- no class that code imports is renamed in silence ----


def imported() -> set[str]:
    """The classes that code imports."""
    names = set()
    for folder in (RENDERER, RENDERER.parent / "scripts", RENDERER.parent / "tests"):
        for path in sorted(folder.rglob("*.py")):
            code = path.read_text("utf-8")
            if "input_types" in code:
                for node in ast.walk(ast.parse(code)):
                    if isinstance(node, ast.ImportFrom) and node.module == "renderer.input_types":
                        names |= {alias.name for alias in node.names}
    return names


def classes_of(stub: str) -> dict[str, dict[str, str]]:
    """The classes of such a file: their keys, and the type of each."""
    classes: dict[str, dict[str, str]] = {}
    for statement in ast.parse(stub).body:
        if isinstance(statement, ast.ClassDef):
            entries = [entry for entry in statement.body if isinstance(entry, ast.AnnAssign)]
            classes[statement.name] = {ast.unparse(entry.target): ast.unparse(entry.annotation) for entry in entries}
        elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            (name, entries_of) = statement.value.args
            if isinstance(name, ast.Constant) and isinstance(entries_of, ast.Dict):
                keys = [ast.literal_eval(key) for key in entries_of.keys if key]
                types = [ast.unparse(value) for value in entries_of.values]
                classes[str(name.value)] = dict(zip(keys, types, strict=True))
    return classes


def places_of(classes: Mapping[str, Mapping[str, str]]) -> dict[str, set[str]]:
    """Where the classes of objects stand, as `RenderConfigSpec.gateway.auth`: a place has several where a value may be
    of several shapes."""
    places: dict[str, set[str]] = {}

    def walk(name: str, place: str, above: tuple[str, ...]) -> None:
        places.setdefault(place, set()).add(name)
        if name not in above:
            for key, kind in classes[name].items():
                for inner in re.findall(r"\w+", kind):
                    if inner in classes:
                        walk(inner, f"{place}.{key}", (*above, name))

    for name in SPECS:
        if name in classes:
            walk(name, name, ())
    return places


def renames(before: Mapping[str, Mapping[str, str]], types: Types, names: set[str]) -> Iterator[str]:
    """Each class of these names that was somewhere before and is nowhere of that any more: its old and its new name,
    and what to do.
    """
    old_places, new_places = places_of(before), places_of(types.classes)
    for name in sorted(names & before.keys()):
        places = [place for place, at in old_places.items() if name in at]
        left = {place: at for place in places if (at := new_places.get(place))}
        if any(name in at for at in left.values()):
            continue
        if not left:
            yield f"{name}, the class of {' and '.join(places)}, would be gone: take it out of the code that imports it"
            continue
        place, at = min(left.items())
        new = " | ".join(sorted(at))
        if name in types.classes:  # somebody else's now
            advice = f"give `{types.entries[name]}`, which would be {name}, a name of its own"
        else:  # one of the same shape comes first, and has named it
            advice = f'say "{types.entries[min(at)]}": "{name}"'
        yield (
            f"the class of {place} is {name}, which code imports, and would be {new}: {advice} in {WHERE}; or, where "
            f"{new} is meant, let the code import that first"
        )


def main() -> None:
    """Write the file, or compare it."""
    types = read_types()
    before = TARGET.read_text("utf-8") if TARGET.exists() else ""
    if "--check" in sys.argv[1:]:
        if before != text_of(types):
            sys.exit("renderer/input_types.pyi is not what the input schemas say: run `make schemas`")
        return
    if faults := list(renames(classes_of(before), types, imported())):
        sys.exit("\n".join(["renderer/input_types.pyi is left as it is:", *faults]))
    TARGET.write_text(text_of(types), "utf-8")


if __name__ == "__main__":
    main()
