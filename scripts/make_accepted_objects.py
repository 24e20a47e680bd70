"""Make `renderer/check/accepted_objects.json`: what CEL rules see of the objects of all cases, and accept.

    python scripts/make_accepted_objects.py          # writes; the same bytes every run
    python scripts/make_accepted_objects.py --check  # exit code 1 when the file differs

A run whose objects all look like these does not load CEL, which takes as long as rendering ten models. The file has by
the name of the schema the visible parts. DisaggregatedSets are left out: their rules see the whole pods.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from renderer import schema_validation, yamlio
from renderer.build.provider import providers
from renderer.check import cel
from renderer.diagnostics import NamedSource, Origin
from renderer.plan import ProviderPlan, TrafficPlan

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "renderer" / "check" / "accepted_objects.json"
KEYS = ("APIKey", "AnthropicAPIKey", "AzureAPIKey", "AWSCredentials")


def bodies() -> Iterator[Any]:
    """The objects of the cases, and those of a provider for each kind of key."""
    for path in sorted((ROOT / "tests" / "cases").glob("*/expected/**/*.yaml")):
        yield from (document.value for document in yamlio.parse(path.name, path.read_bytes())[0])
    origin = Origin(NamedSource("to.yaml"))
    for kind in KEYS:
        provider = ProviderPlan(
            name="api",
            namespace="team-a",
            labels={},
            schema={"name": "OpenAI"},
            hostname="api.example.com",
            port=443,
            auth=(kind, "key", "eu-west-1"),
            item=origin,
            origin=origin,
        )
        plan = TrafficPlan("to", "team-a", "to.yaml", providers=(provider,))
        yield from (manifest.body for manifest in providers(plan))


def accepted() -> dict[str, list[object]]:
    """The visible parts that the rules of their kind accept, by the name of its schema."""
    by_kind: dict[str, dict[bytes, object]] = {}
    root = cache(cel.root)
    for body in bodies():
        kind = str(body.get("kind")) if isinstance(body, dict) else ""
        name = schema_validation.name_of(str(body["apiVersion"]), kind).replace("output/", "cel/", 1) if kind else ""
        if not name or kind == "DisaggregatedSet" or not schema_validation.has_schema(name):
            continue
        top = root(name)
        visible = top.visible_part(body)
        if not top.findings(visible):
            by_kind.setdefault(name, {})[cel.key(visible)] = visible
    return {name: list(parts.values()) for name, parts in sorted(by_kind.items())}


def main() -> int:
    """The exit status."""
    lines = (f"{json.dumps(name)}: {json.dumps(parts)}" for name, parts in accepted().items())
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    if "--check" in sys.argv[1:]:
        return 0 if TARGET.exists() and TARGET.read_text("utf-8") == text else 1
    TARGET.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
