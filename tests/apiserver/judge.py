"""What the API server, and webhooks beside it, say of manifests, without keeping any of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

from renderer import yamlio
from tests.apiserver import webhooks
from tests.apiserver.manifests import Manifest, Refusal
from tests.apiserver.server import LANES, Body, Client
from tests.apiserver.webhooks import WEBHOOKS, Webhook

STRICT = {"dryRun": "All", "fieldValidation": "Strict", "fieldManager": "llmaz"}
BUILT_IN = ("apps", "batch", "")  # groups whose pod templates the API server looks into by itself


class Judge:
    """Asks the server, then webhooks in `tools`. What it makes there are the namespaces of the objects, no more."""

    def __init__(self, client: Client, tools: Path) -> None:
        self._client, self.tools = client, tools
        self._namespaces = {"default"}

    def refusals(
        self, manifests: Sequence[Manifest], admission_webhooks: Sequence[Webhook] = WEBHOOKS
    ) -> list[Refusal]:
        """Every no, in the order of the objects: of the object, of a pod template in it, then of each webhook."""
        self._make_namespaces(manifests)
        with ThreadPoolExecutor(LANES) as lanes:
            by_server = [refusal for of_object in lanes.map(self._refusals, manifests) for refusal in of_object]
        return by_server + [
            no for webhook in admission_webhooks for no in webhooks.refusals(self.tools, webhook, manifests)
        ]

    def _refusals(self, manifest: Manifest) -> list[Refusal]:
        refusals = []
        if message := self._asked(manifest.body, manifest.text):
            refusals.append(Refusal(manifest, "API server", message))
        for path, template in pod_templates(manifest.body):
            metadata = {"name": "template", "namespace": _namespace(manifest.body)}
            body = {"apiVersion": "v1", "kind": "PodTemplate", "metadata": metadata}
            body["template"] = template
            if message := self._asked(body):
                refusals.append(Refusal(manifest, f"API server, of {path}", message))
        return refusals

    def _asked(self, body: Body, text: str = "") -> str:
        """The server's words when it refuses to create the object; empty when it would."""
        version, kind = body.get("apiVersion"), body.get("kind")
        resource = self._client.resource(version, kind) if isinstance(version, str) and isinstance(kind, str) else None
        if resource is None:
            return f"no kind {kind} in {version}"
        root = f"/apis/{version}" if "/" in str(version) else f"/api/{version}"
        space = f"/namespaces/{quote(_namespace(body), safe='')}" if resource.namespaced else ""
        sent = text or yamlio.dump(body)  # as kubectl would, since go-yaml reads 1.0 as 1 and JSON in Go does not
        answer = self._client("POST", f"{root}{space}/{resource.plural}", sent, "application/yaml", **STRICT)
        # A namespace, or a CRD of ours, may be there for the others' sake; that is looked up once all else has held.
        return "" if answer.body.get("reason") == "AlreadyExists" else answer.message

    def _make_namespaces(self, manifests: Iterable[Manifest]) -> None:
        """A refusal of one shows again at the objects in it."""
        for name in sorted({_namespace(manifest.body) for manifest in manifests} - self._namespaces):
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            self._client("POST", "/api/v1/namespaces", json.dumps(body))
            self._namespaces.add(name)


def pod_templates(body: Body) -> Iterator[tuple[str, Body]]:
    """Path and value of each pod template in a custom resource, whose pods only its controller would send, with the
    volumes that the volumeClaimTemplates beside it become.
    """
    if _group(body) not in BUILT_IN:
        yield from _templates("spec", body.get("spec"))


def _templates(path: str, value: Any) -> Iterator[tuple[str, Body]]:
    if isinstance(value, Mapping):
        spec = value.get("spec")
        if isinstance(spec, Mapping) and isinstance(spec.get("containers"), list):
            yield path, dict(_dropped(value))
            return
        for key, item in value.items():
            for place, template in _templates(f"{path}.{key}", item):
                yield place, _with_claims(template, value.get("volumeClaimTemplates"))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _templates(f"{path}[{index}]", item)


def _dropped(value: Any) -> Any:
    """As the server stores it in a custom resource: without the nulls in maps."""
    if isinstance(value, Mapping):
        return {key: _dropped(item) for key, item in value.items() if item is not None}
    return [_dropped(item) for item in value] if isinstance(value, list) else value


def _with_claims(template: Body, claims: Any) -> Body:
    """The pod template with the volumes that these volumeClaimTemplates become."""
    if not isinstance(claims, list):
        return template
    named = [claim.get("metadata") for claim in claims if isinstance(claim, Mapping)]
    names = [metadata.get("name") for metadata in named if isinstance(metadata, Mapping)]
    spec = template["spec"]
    volumes = spec.get("volumes") or []
    if not isinstance(volumes, list):
        return template
    there = [volume.get("name") for volume in volumes if isinstance(volume, Mapping)]
    more: list[Body] = [{"name": name, "emptyDir": {}} for name in names if name not in there]
    return {**template, "spec": {**spec, "volumes": [*volumes, *more]}} if more else template


def _group(body: Body) -> str:
    version = body.get("apiVersion")
    return version.rpartition("/")[0] if isinstance(version, str) else ""


def _namespace(body: Body) -> str:
    metadata = body.get("metadata")
    name = metadata.get("namespace") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) and name else "default"
