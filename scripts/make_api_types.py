"""Make `renderer/kubernetes/api_types.json`: how the API server's own types are written as JSON, their defaults and
merge keys.

    python scripts/make_api_types.py          # writes; the same bytes every run
    python scripts/make_api_types.py --check  # exit code 1 when the file differs

A policy sees an object as the server holds it, that is, as Go's types are written: `hostNetwork: false` is left out,
and `resources` of a container is always there. Needs `go` and the Go module proxy: the types are read from the source
of k8s.io/api and k8s.io/apimachinery, of the version of tests/apiserver/go.mod. The result has by kind, as
`apps/v1/Deployment`, the name of its type, and by type its fields: `"replicas": "?*int"`, where `?` says that an empty
value is left out (`?!`: an empty struct too), `*` a pointer, `[]` a list, `{}` a map. A type is one of `types`, or
string, int, float, bool, quantity, intOrString, time, any. `defaults` has by type what a comment `+default=` in the
source gives a field, as the OpenAPI document and CRDs that hold the type do. What other code of the server fills in
stands in renderer/kubernetes/server_defaults.py. `merge_keys` has by type the lists whose items a strategic merge
finds by keys: first the one that a patch goes by (`patchMergeKey`), behind it others of `+listMapKey=`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from scripts.make_schemas import BUILT_IN, GROUPS, files
else:  # it runs as a script, with its folder on the path
    from make_schemas import BUILT_IN, GROUPS, files

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "renderer" / "kubernetes" / "api_types.json"
# No policy judges objects of admissionregistration.k8s.io, and ReplicationControllers have no schema here.
KINDS = {group: names for group, names in BUILT_IN.items() if not group.startswith("admissionregistration.")}
KINDS["core.v1"] = (*BUILT_IN["core.v1"], "ReplicationController")
PLAIN = {
    "string": "string", "bool": "bool", "int": "int", "int32": "int", "int64": "int", "uint8": "int", "uint32": "int",
    "float64": "float", "byte": "int", "resource.Quantity": "quantity", "intstr.IntOrString": "intOrString",
    "metav1.Time": "time", "metav1.MicroTime": "time", "metav1.Duration": "string", "runtime.RawExtension": "any",
    "metav1.FieldsV1": "any", "types.UID": "string", "types.NodeName": "string",
}  # fmt: skip
PACKAGES = {
    "v1": "core/v1", "corev1": "core/v1", "apiv1": "core/v1", "autoscalingv1": "autoscaling/v1", "metav1": "meta/v1",
    "schedulingv1alpha3": "scheduling/v1alpha3",
}  # fmt: skip
STRUCT = re.compile(r"^type (\w+) struct \{$(.*?)^\}$", re.MULTILINE | re.DOTALL)
ALIAS = re.compile(r"^type (\w+) (=? ?[\w.\[\]*]+)$", re.MULTILINE)
FIELD = re.compile(r'^\s+(?:(\w+)\s+)?([\w.\[\]*]+)\s+`(?:.*?)json:"([^"]*)"(.*)', re.MULTILINE)
# No `+default=ref(…)`, which names a constant and is in no CRD.
DEFAULT = re.compile(r"//\s*\+default=(?!ref)(.*)")
MERGE_KEY = re.compile(r'patchStrategy:"merge.*patchMergeKey:"(\w+)"')
LIST_KEY = re.compile(r"//\s*\+listMapKey=(\w+)")


def version() -> str:
    """Of the modules, as v0.37.2."""
    text = (ROOT / "tests" / "apiserver" / "go.mod").read_text("utf-8")
    match = re.search(r"k8s\.io/api => k8s\.io/api (v[0-9.]+)", text)
    return match[1] if match else sys.exit("tests/apiserver/go.mod does not say which k8s.io/api")


class Package:
    """The types of a package, as `apps/v1`, by name."""

    def __init__(self, name: str) -> None:
        module, folder = f"k8s.io/api@{version()}", name
        if name == "meta/v1":
            module, folder = f"k8s.io/apimachinery@{version()}", "pkg/apis/meta/v1"
        text = "\n".join(part.decode() for part in files(module, folder, ".go"))
        text = re.sub(r"//(?!\s*\+(?:default|listMapKey)=).*", "", text)
        self.structs = {match[1]: match[2] for match in STRUCT.finditer(text)}
        self.aliases = {match[1]: match[2].lstrip("= ") for match in ALIAS.finditer(text)}


class Field(NamedTuple):
    """A field of a struct."""

    name: str  # in JSON
    shape: str
    default: str  # as JSON, '' without one
    merge_keys: list[str]


class Types:
    """All types that are asked for, and those in them."""

    def __init__(self) -> None:
        self.packages: dict[str, Package] = {}
        self.types: dict[str, dict[str, str]] = {}
        self.defaults: dict[str, dict[str, Any]] = {}  # by type and field
        self.merge_keys: dict[str, dict[str, list[str]]] = {}  # by type and field

    def shape(self, package: str, written: str) -> str:
        """How a type is written in the result."""
        for prefix, mark in (("*", "*"), ("[]", "[]"), ("map[", "{}")):
            if written == "[]byte":
                return "string"
            if written.startswith(prefix):
                rest = written[len(prefix) :]
                return mark + self.shape(package, rest.partition("]")[2] if mark == "{}" else rest)
        if written in PLAIN:
            return PLAIN[written]
        if "." in written:
            name, _, written = written.partition(".")
            package = PACKAGES[name]
        elif package == "meta/v1" and f"metav1.{written}" in PLAIN:
            return PLAIN[f"metav1.{written}"]
        known = self.package(package)
        if written in known.aliases:
            return self.shape(package, known.aliases[written])
        return self.struct(package, written)

    def package(self, name: str) -> Package:
        if name not in self.packages:
            self.packages[name] = Package(name)
        return self.packages[name]

    def struct(self, package: str, name: str) -> str:
        """The name of a struct in the result, which has it from now on."""
        full = f"{package.removesuffix('/v1')}.{name}"
        if full not in self.types:
            self.types[full] = {}
            fields = sorted(self.fields(package, name))
            self.types[full] = {field.name: field.shape for field in fields}
            if defaults := {field.name: json.loads(field.default) for field in fields if field.default}:
                self.defaults[full] = defaults
            if merge_keys := {field.name: field.merge_keys for field in fields if field.merge_keys}:
                self.merge_keys[full] = merge_keys
        return full

    def fields(self, package: str, name: str) -> Iterator[Field]:
        """The fields of a struct, those of embedded structs too."""
        body, end = self.package(package).structs[name], 0
        for match in FIELD.finditer(body):
            default, list_keys = DEFAULT.search(body, end, match.start()), LIST_KEY.findall(body, end, match.start())
            merge_key = MERGE_KEY.findall(match[4])
            end = match.end()
            label, *options = match[3].split(",")
            if "inline" in options or not label:
                yield from self.embedded(package, match[2])
            elif label != "-":
                omitted = "?" if {"omitempty", "omitzero"} & {*options} else ""
                shape = omitted + ("!" if "omitzero" in options else "") + self.shape(package, match[2])
                keys = [*dict.fromkeys((*merge_key, *list_keys))] if merge_key else []
                yield Field(label, shape, default[1] if default else "", keys)

    def embedded(self, package: str, written: str) -> Iterator[Field]:
        if "." in written:
            prefix, _, written = written.partition(".")
            package = PACKAGES[prefix]
        yield from self.fields(package, written)


def make_text() -> str:
    """The file."""
    types = Types()
    kinds = {}
    for group, names in KINDS.items():
        folder, _, number = group.partition(".")
        for name in names:
            api = f"{GROUPS.get(folder, folder)}/{number}".lstrip("/")
            kinds[f"{api}/{name}"] = types.struct(f"{folder}/{number}", name)
    result: dict[str, Any] = {"kinds": kinds, "types": dict(sorted(types.types.items()))}
    lines = [f"{json.dumps(name)}: {json.dumps(fields)}" for name, fields in result["types"].items()]
    kinds_text = json.dumps(kinds, sort_keys=True)
    defaults, keys = (json.dumps(table, sort_keys=True) for table in (types.defaults, types.merge_keys))
    head = f'{{"defaults": {defaults},\n"kinds": {kinds_text},\n"merge_keys": {keys},\n"types": {{\n'
    return head + ",\n".join(lines) + "\n}}\n"


def main() -> int:
    """The exit status."""
    text = make_text()
    if "--check" in sys.argv[1:]:
        return 0 if TARGET.exists() and TARGET.read_text("utf-8") == text else 1
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
