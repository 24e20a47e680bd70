"""Make `renderer/input_types.pyi`, the types of what users and presets write, from the input schemas.

    python scripts/make_input_types.py          # writes; the same bytes every run
    python scripts/make_input_types.py --check  # exit code 1 when the file differs

One TypedDict an object; objects of the same shape share one. No key is required: a layer may say any part, and the
schema has refused what lacks a key that a kind needs. Parts of Kubernetes are `Mapping[str, object]`.
"""

from __future__ import annotations

import json
import keyword
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
# What a key alone does not say.
NAMES = {
    "envs": "EnvVar",
    "env": "EnvVar",
    "engines": "ModelEngineSpec",
    "store": "StoreLoaderSpec",
    "hub": "HubLoaderSpec",
    "oci": "OCIVolumesSpec",
    "gcs": "GCSSecretSpec",
    "perNamespace": "NamespaceGatewaySpec",
    "perFlavor": "FlavorKarpenterSpec",
}
SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


class Types:
    """The classes met so far, by name and by shape."""

    def __init__(self) -> None:
        self.classes: dict[str, dict[str, str]] = {}
        self.names: dict[tuple[tuple[str, str], ...], str] = {}

    def name(self, preferred: str, parent: str, fields: dict[str, str]) -> str:
        """The class with these fields; made when there is none."""
        shape = tuple(sorted(fields.items()))
        if shape in self.names:
            return self.names[shape]
        name = preferred if preferred not in self.classes else parent.removesuffix("Spec") + preferred
        if name in self.classes:
            raise ValueError(f"two classes would be called {name}")
        self.names[shape], self.classes[name] = name, fields
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
            return self.class_of([(node, root)], class_name(key, many), parent)
        if isinstance(more := node.get("additionalProperties"), dict):
            return f"Mapping[str, {self.type_of(more, root, key, parent, True)}]"
        return "Mapping[str, object]"

    def class_of(self, nodes: list[tuple[Node, Node]], preferred: str, parent: str = "") -> str:
        """The class with the properties of all these objects; those of a key that several have become alternatives."""
        fields: dict[str, list[str]] = {}
        for node, root in nodes:
            for key, value in sorted(node.get("properties", {}).items()):
                kind = self.type_of(value, root, key, preferred)
                if kind not in fields.setdefault(key, []):
                    fields[key].append(kind)
        return self.name(preferred, parent, {key: " | ".join(kinds) for key, kinds in sorted(fields.items())})


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


def text() -> str:
    """The whole file."""
    types = Types()
    for name, kinds in SPECS.items():
        nodes = []
        for kind in kinds:
            root = json.loads((RENDERER / "schemas" / "input" / f"{kind}.json").read_text("utf-8"))
            nodes.append((resolved(root["properties"]["spec"], root), root))
        types.class_of(nodes, name)
    return HEAD + "\n".join(line for name, fields in types.classes.items() for line in source(name, fields))


def main() -> None:
    """Write the file, or compare it."""
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(text(), "utf-8")
    elif not TARGET.exists() or TARGET.read_text("utf-8") != text():
        sys.exit("renderer/input_types.pyi is not what the input schemas say: run `make schemas`")


if __name__ == "__main__":
    main()
