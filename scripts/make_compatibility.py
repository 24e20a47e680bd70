#!/usr/bin/env python3
"""Writes the tables of docs/compatibility.md: what is usual is rendered for older and older versions, the goldens are
asked what in them is new, and the chart's values for its pins.

`scripts/make_compatibility.py` rewrites the page, `--check` exits 1 when it is stale (a test runs that).
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from renderer import pipeline, yamlio
from renderer.api import RenderOptions
from renderer.diagnostics import RenderError
from renderer.kubernetes import component_versions

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "compatibility.md"
VALUES = ROOT / "charts" / "llmaz" / "values.yaml"
GOLDENS = ROOT / "tests" / "cases"
USUAL = ("quickstart", "hpa", "gateway-basic", "gateway-pool")
"""Examples without anything special: what they need is needed by default."""
PINS = {
    "leaderWorkerSet": ("leaderWorkerSet", "version"),
    "aiGateway": ("envoyAIGateway", "version"),
    "envoyGateway": ("envoyGateway", "version"),
    "gatewayAPI": ("envoyGateway", "crds", "gatewayAPI", "version"),
    "inferenceExtension": ("inferenceExtension", "version"),
    "prometheusOperator": ("prometheus", "crds", "version"),
    "karpenter": ("karpenter", "version"),
}
"""Where the chart says which version of a component it installs."""
_SERVICE = "a llmaz Service"
ASKED = {
    "AIGatewayRoute spec.hostnames": "`gateway.hostnames`, or a ModelRoute's",
    "Backend spec.tls.sni": "a provider behind a ModelRoute",
    "BackendTrafficPolicy spec.retry.numAttemptsPerPriority": "retries, or priorities, of a ModelRoute",
    "BackendTrafficPolicy spec.timeout.http.streamIdleTimeout": "`timeouts.streamIdle`",
    "DisaggregatedSet": "`disaggregation.kind`",
    "DisaggregatedSet spec.roles[].scaling": "`elasticConfig` of a role of a DisaggregatedSet",
    "LeaderWorkerSet spec.leaderWorkerTemplate.persistentVolumeClaimRetentionPolicy": _SERVICE,
    "LeaderWorkerSet spec.leaderWorkerTemplate.restartPolicy": f"`RecreateGroupAfterStart` of {_SERVICE}",
    "LeaderWorkerSet spec.leaderWorkerTemplate.subGroupPolicy.subGroupPolicyType": "`subGroupPolicy` of a Service",
    "LeaderWorkerSet spec.leaderWorkerTemplate.volumeClaimTemplates": "`modelCache.perPod`, `spec.workload`, or "
    f"{_SERVICE}",
    "LeaderWorkerSet spec.rolloutStrategy.rollingUpdateConfiguration.partition": "nothing: the default is written out",
    "ResourceClaimTemplate": "`claims` of a flavor in RenderConfig",
    "ReferenceGrant": "`gateway.create` with API keys, and tenants that only some models let in",
    "SecurityPolicy spec.apiKeyAuth.forwardClientIDHeader": "`gateway.auth.apiKeys`",
    "SecurityPolicy spec.apiKeyAuth.sanitize": "`gateway.auth.apiKeys`",
    "SecurityPolicy spec.jwt.providers[].remoteJWKS.cacheDuration": "`gateway.auth.jwt`: the default is written out",
}
"""By kind and field, what of the input asks for it. Fields of pods have a table of their own."""
FORMS = {
    "LeaderWorkerSet spec.leaderWorkerTemplate.subGroupPolicy.subGroupPolicyType": "left out",
    "LeaderWorkerSet spec.rolloutStrategy.rollingUpdateConfiguration.partition": "left out",
    "ReferenceGrant": "v1beta1",
    "SecurityPolicy spec.jwt.providers[].remoteJWKS.cacheDuration": "left out",
}
"""What is rendered for older versions instead; for the others there is nothing, so asking for them is an error."""
_TEMPLATES = (
    "spec.leaderWorkerTemplate.workerTemplate",
    "spec.leaderWorkerTemplate.leaderTemplate",
    "spec.roles[].spec.leaderWorkerTemplate.workerTemplate",
    "spec.roles[].spec.leaderWorkerTemplate.leaderTemplate",
    "spec.template",
)


def minor(version: str) -> str:
    """`v1.9.1` → `1.9`."""
    return ".".join(version.removeprefix("v").split(".")[:2])


def pins() -> dict[str, str]:
    """The versions that the chart installs, by component."""
    documents, problems = yamlio.parse("values.yaml", VALUES.read_bytes())
    assert not problems, problems  # noqa: S101 - a script's own word
    installed = {}
    for key, path in PINS.items():
        value: Any = documents[0].value
        for part in path:
            value = value[part]
        installed[key] = str(value)
    return installed


def versions(component: str) -> list[str]:
    """The versions of a component that make a difference, oldest first."""
    entry = component_versions.components()[component]
    known = {
        entry.oldest,
        entry.tested,
        *(needs[component] for needs in component_versions.all_needs() if component in needs),
    }
    return sorted(known, key=component_versions.version_numbers)


def renders(example: str, component: str, version: str) -> bool:
    """Whether an example can be rendered for a version of a component."""
    try:
        with contextlib.chdir(ROOT / "examples" / example):
            done = pipeline.render(RenderOptions(overrides=(f"targets.{component}={version}",)))
    except RenderError:
        return False
    return not any(problem.severity == "error" for problem in done.problems)


def oldest(component: str) -> str:
    """The oldest version that everything usual can be rendered for; without a target, the oldest that was looked at."""
    if not component_versions.components()[component].default:
        return component_versions.components()[component].oldest
    return next(version for version in versions(component) if all(renders(name, component, version) for name in USUAL))


def component_table() -> str:
    """One row a component."""
    installed = pins()
    rows = ["| component | key of `targets` | default | tested with | the chart installs | oldest | newest known |"]
    rows.append("|---" * 7 + "|")
    for key, component in component_versions.components().items():
        cells = [
            component.title,
            f"`{key}`" if component.default else "–",
            component.default or "–",
            component.tested,
            installed.get(key, "–"),
            oldest(key),
            component.newest,
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def schema_of(body: Mapping[str, Any]) -> str:
    """The name of the schema of an object."""
    group, _, version = body["apiVersion"].rpartition("/")
    return f"output/{group or 'core'}/{body['kind'].lower()}_{version}"


def dotted(path: tuple[str | int, ...]) -> str:
    """`spec.rules[].name`."""
    return "".join("[]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")


def goldens() -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Every object of every case, and its file."""
    for path in sorted(GOLDENS.glob("*/expected/**/*.yaml")):
        for document in yamlio.parse(path.name, path.read_bytes())[0]:
            yield path, document.value


def new(body: Mapping[str, Any]) -> Iterator[component_versions.TooNew]:
    """All in an object that not every version has."""
    late = component_versions.TargetVersions(dict.fromkeys(component_versions.components(), "0.0")).too_new_schema(
        schema_of(body)
    )
    if late:
        yield from component_versions.too_new(late.node, body, nested=True)


def newer_table() -> str:
    """One row a field, outside of pods, that not every version has."""
    needs_by_field: dict[str, set[tuple[str, str]]] = {}
    for _, body in goldens():
        for use in new(body):
            path = dotted(use.path)
            if not path.startswith(_TEMPLATES):
                needs_by_field.setdefault(f"{body['kind']} {path}".strip(), set()).update(use.needs.items())
    if odd := sorted(set(needs_by_field) ^ set(ASKED)) or sorted(set(FORMS) - set(ASKED)):
        sys.exit(f"scripts/make_compatibility.py: ASKED does not say what asks for, or nothing renders: {odd}")
    rows = ["| field | since | asked for by | before |", "|---|---|---|---|"]
    for field, needs in sorted(needs_by_field.items()):
        kind, _, path = field.partition(" ")
        since_when = ", ".join(
            f"{component_versions.components()[key].title} {version}" for key, version in sorted(needs)
        )
        name = f"{kind} `{path}`" if path else f"{kind} v1"
        rows.append(f"| {name} | {since_when} | {ASKED[field]} | {FORMS.get(field, '[E700](errors.md#e700)')} |")
    return "\n".join(rows)


def pod_table() -> str:
    """One row a field of pods that the default Kubernetes does not have, or has behind a gate."""
    kubernetes, workload = (
        component_versions.components()["kubernetes"],
        component_versions.components()["leaderWorkerSet"],
    )
    gates = {
        (path, value): needs[component_versions.GATE]
        for path, value, needs in walked(
            templates(component_versions.TargetVersions({"kubernetes": kubernetes.newest}))
        )
    }
    rows = ["| field | Kubernetes | passed on by LeaderWorkerSet |", "|---|---|---|"]
    late = component_versions.TargetVersions({"kubernetes": kubernetes.default, "leaderWorkerSet": "0.0"})
    for path, value, needs in walked(templates(late)):
        if {"kubernetes", component_versions.GATE} & {*needs} and not path.startswith(
            ("ephemeralContainers", "initContainers")
        ):
            head, _, field = path.rpartition(".")
            name = f"affinity…{field}" if head.startswith("affinity") else path
            gate = gates.get((path, value))
            conditions = [needs.get("kubernetes", ""), f"behind the gate {gate}" if gate else ""]
            first = needs.get("leaderWorkerSet", workload.oldest)
            rows.append(
                f"| `{name}{f': {value}' if value else ''}` | {', '.join(filter(None, conditions))} | {first} |"
            )
    return "\n".join(dict.fromkeys(rows))


def templates(targets: component_versions.TargetVersions) -> Mapping[str, Any]:
    """What is too new of the pods of a LeaderWorkerSet."""
    late = targets.too_new_schema("output/leaderworkerset.x-k8s.io/leaderworkerset_v1")
    node: Mapping[str, Any] = late.node if late else {}
    for part in (*_TEMPLATES[0].split("."), "spec"):
        node = node.get(part, {})
    return node


def walked(node: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """Every field and value of a node that is new, the topmost of each branch."""
    if "!" in node:
        yield path, "", node["!"]
        return
    for value, needs in node.get("=", {}).items():
        yield path, value, needs
    for pattern, needs in node.get("~", {}).items():
        yield path, f"unlike {pattern}", needs
    for key, child in sorted(node.items()):
        if key not in ("=", "~"):
            yield from walked(child, f"{path}{key}" if key in ("[]", "{}") else f"{path}.{key}".lstrip("."))


TABLES = {"components": component_table, "newer": newer_table, "pods": pod_table}


def rewritten(text: str) -> str:
    """The page with its tables made again."""
    for name, table in TABLES.items():
        content = table()
        between = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
        text = re.sub(between, lambda match, content=content: f"{match[1]}{content}\n{match[2]}", text, flags=re.DOTALL)  # type: ignore[misc]
    return text


def main() -> int:
    old = PAGE.read_text(encoding="utf-8")
    stale = rewritten(old) != old
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(rewritten(old), encoding="utf-8")
    if stale:
        print(f"{PAGE.relative_to(ROOT)}: {'stale' if '--check' in sys.argv[1:] else 'rewritten'}")
    return 1 if stale and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
