"""What we render has, field by field, what makes the samples route that were tried with real controllers.

tests/data/chain/samples/ holds them; tests/data/samples/ the same models and settings as input. Each difference stands
here and, with its reason, in the table of a page: those of every sample in docs/routing.md, those of pools in
docs/pools.md, and those of splits and providers in docs/traffic.md.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import pytest
import yaml

if TYPE_CHECKING:
    from tests.conftest import Llmaz

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
Leaves: TypeAlias = dict[str, Any]
LABEL = "metadata.labels.app.kubernetes.io/"
GONE = None  # the side has no such field, or object


class Difference(NamedTuple):
    """One field, or a whole object where `field` is empty, in the words of both sides. The object's name is empty where
    all of the kind differ alike.
    """

    kind: str
    name: str
    field: str
    sample: Any
    ours: Any


SELECTOR = "spec.listeners.0.allowedRoutes.namespaces.selector."
EXPRESSION = f"{SELECTOR}matchExpressions.0."
REMOVED = "spec.headers.earlyRequestHeaders.remove"
SERVICE = "spec.provider.kubernetes.envoyService.name"
ALL = [
    Difference("EnvoyProxy", "llmaz-gateway", SERVICE, GONE, "llmaz-system-llmaz-gateway"),
    Difference("Gateway", "llmaz-gateway", f"{SELECTOR}matchLabels.llmaz.io/gateway", "llmaz-gateway", GONE),
    Difference("Gateway", "llmaz-gateway", f"{EXPRESSION}key", GONE, "kubernetes.io/metadata.name"),
    Difference("Gateway", "llmaz-gateway", f"{EXPRESSION}operator", GONE, "In"),
    Difference("Gateway", "llmaz-gateway", f"{EXPRESSION}values.0", GONE, "llm"),
    Difference("Namespace", "", "", ..., GONE),
]
OPEN = [  # the samples without authentication
    Difference("ClientTrafficPolicy", "llmaz-gateway", f"{REMOVED}.0", GONE, "x-ai-eg-model"),
    Difference("ClientTrafficPolicy", "llmaz-gateway", f"{REMOVED}.1", GONE, "x-tenant-id"),
]
PICKER = "llama-pool-epp"
PORT = "spec.ports.1."
TLS = "spec.tls."
PROVIDER = "qwen3-8b-api-provider-example"
DIFFERENCES = {
    "1-backend": [
        *ALL,
        *OPEN,
        Difference(
            "AIGatewayRoute",
            "llama-3-1-8b",
            "spec.rules.0.backendRefs.0.modelNameOverride",
            "llama-3-1-8b",
            "meta-llama/Llama-3.1-8B-Instruct",
        ),
    ],
    "2-pool": [
        *ALL,
        *OPEN,
        *(Difference(kind, PICKER, "", GONE, ...) for kind in ("ConfigMap", "Deployment", "Role", "RoleBinding")),
        Difference("ServiceAccount", PICKER, "", GONE, ...),
        Difference("Service", PICKER, "spec.selector.app.kubernetes.io/name", PICKER, "llama-pool"),
        Difference("Service", PICKER, "spec.selector.app.kubernetes.io/component", GONE, "endpoint-picker"),
        Difference("Service", PICKER, f"{PORT}name", GONE, "http-metrics"),
        Difference("Service", PICKER, f"{PORT}port", GONE, 9090),
        Difference("Service", PICKER, f"{PORT}targetPort", GONE, 9090),
        Difference("Service", PICKER, f"{PORT}protocol", GONE, "TCP"),
    ],
    "3-canary-fallback": [
        *ALL,
        *OPEN,
        Difference("AIServiceBackend", "provider", "metadata.name", "provider", PROVIDER),
        Difference("Backend", "provider", "metadata.name", "provider", PROVIDER),
        Difference("Backend", "provider", f"{TLS}sni", GONE, "api.provider.example"),
        Difference("Backend", "provider", f"{TLS}wellKnownCACertificates", GONE, "System"),
        Difference("BackendSecurityPolicy", "provider", "metadata.name", "provider", PROVIDER),
        Difference("Secret", "provider-key", "", ..., GONE),
    ],
    "5-auth-limits": [
        Difference(
            "BackendTrafficPolicy",
            "qwen3-8b",
            "spec.rateLimit.global.rules.0.clientSelectors.0.headers.0.invert",
            GONE,
            ours=False,
        ),
        *ALL,
        Difference("Secret", "tenants", "", ..., GONE),
        Difference("SecurityPolicy", "qwen3-8b", "spec.apiKeyAuth.credentialRefs.0.namespace", GONE, "llmaz-system"),
        Difference("ReferenceGrant", "llmaz-gateway", "", GONE, ...),
        Difference("AIGatewayRoute", "gemma", "spec.llmRequestCosts.0.metadataKey", "llm_total_token", GONE),
        Difference("AIGatewayRoute", "gemma", "spec.llmRequestCosts.0.type", "TotalToken", GONE),
    ],
}
# Objects that the samples call otherwise; what names them is read as if it named theirs.
NAMES = {PROVIDER: "provider"}
# Which page explains a sample's own differences.
PAGES = {
    "1-backend": "routing.md",
    "2-pool": "pools.md",
    "3-canary-fallback": "traffic.md",
    "5-auth-limits": "routing.md",
}
# Fields that the page explains together.
PARTS = (
    "listeners.allowedRoutes.namespaces.selector",
    "headers.earlyRequestHeaders.remove",
    "llmRequestCosts",
    "selector",
    "ports",
    "tls",
)
# What a sample leaves out because it is about the chain alone: the workloads, and the address inside the cluster.
WORKLOADS = {"LeaderWorkerSet", "PodDisruptionBudget"}


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every field below a value that holds no further fields, by its path."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not inner:
        yield path, value
    for key, item in inner:
        yield from leaves(item, f"{path}.{key}" if path else str(key))


def objects(text: str) -> dict[tuple[str, str, str], Leaves]:
    """Objects of the chain by kind, namespace and name; our labels aside, which every object has."""
    fields_by_object = {}
    for body in yaml.safe_load_all(text):
        kind, meta = body["kind"], body["metadata"]
        if kind in WORKLOADS or (kind == "Service" and meta["name"].endswith("-lb")):
            continue
        fields = {
            path: value if path == "metadata.name" else NAMES.get(value, value)
            for path, value in leaves(body)
            if not path.startswith(LABEL)
        }
        fields_by_object[kind, meta.get("namespace", ""), NAMES.get(meta["name"], meta["name"])] = fields
    return fields_by_object


def find_differences(sample: str, rendered: str) -> Iterator[Difference]:
    """Every difference, a field each; a whole object where one side lacks it (`...` is the side that has it)."""
    files = sorted((HERE / "data" / "chain" / "samples" / sample).glob("*.yaml"))
    theirs, ours = objects("---\n".join(file.read_text("utf-8") for file in files)), objects(rendered)
    assert len(theirs) > 10
    for key in sorted(theirs | ours):
        kind, _, name = key
        if key not in theirs or key not in ours:
            yield Difference(kind, name, "", ... if key in theirs else GONE, ... if key in ours else GONE)
            continue
        one, other = theirs[key], ours[key]
        for field in sorted(one | other):
            if field not in one or field not in other or one[field] != other[field]:
                yield Difference(kind, name, field, one.get(field), other.get(field))


def known(difference: Difference, listed: Difference) -> bool:
    return listed in (difference, difference._replace(name=""))


@pytest.mark.parametrize("sample", DIFFERENCES)
def test_we_render_what_routes(sample: str, folder: Path, llmaz: Llmaz) -> None:
    shutil.copytree(HERE / "data" / "samples" / sample, folder, dirs_exist_ok=True)
    done = llmaz("render", "--stdout")
    assert done.code == 0, done.err
    differences, listed = list(find_differences(sample, done.out)), DIFFERENCES[sample]
    assert [difference for difference in differences if not any(known(difference, other) for other in listed)] == []
    assert [difference for difference in listed if not any(known(other, difference) for other in differences)] == [], (
        "these agree now"
    )


@pytest.mark.parametrize("page", sorted(set(PAGES.values())))
def test_every_difference_is_explained(page: str) -> None:
    """The page has a row for each, by kind and field, and none for what is not a difference."""
    text = (DOCS / page).read_text("utf-8")
    (part,) = re.findall(r"<!-- differences -->\n(.*?)<!-- /differences -->", text, re.DOTALL)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in part.splitlines()[2:]]
    assert all(len(row) == 4 and all(row) for row in rows)
    every = {*ALL, *OPEN}
    own = {difference for sample, listed in DIFFERENCES.items() if PAGES[sample] == page for difference in listed}
    expected = {
        (difference.kind, short(difference.field)) for difference in (own if page == "routing.md" else own - every)
    }
    assert {(kind.strip("` "), row[1].strip("`")) for row in rows for kind in row[0].split(",")} == expected


def short(field: str) -> str:
    """A field as the page says it: the part that differs, without numbers of list items; `all of it` for objects."""
    words = re.sub(r"\.\d+(?=\.|$)", "", field).removeprefix("spec.")
    for begin in PARTS:
        if words.startswith(begin):
            return begin
    return words or "all of it"
