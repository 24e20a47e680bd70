"""The origins of what RenderConfig, the flavors and the models add to a pod."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from renderer.diagnostics import Origin, Path
from renderer.kubernetes.wellknown import RUNNER
from renderer.plan import Body
from renderer.resolve.flavors import FlavorOrigins
from renderer.resolve.layers import ValueLayer, merge_entries, merge_items
from renderer.resolve.layers import origins as layer_origins
from renderer.resolve.pod.needs import PodNeeds, added_tolerations


def added_origins(
    needs: PodNeeds, template: Mapping[str, Any], tolerations: Sequence[Body] = ()
) -> Iterator[tuple[Path, Origin]]:
    """The origins of the fields that RenderConfig and the flavors add to a pod, by path in its template. `template`:
    the hand-written one (with API defaults written out); `tolerations`: of the pod before any are added.
    """
    part, flavors = needs.defaults.part, needs.placement.flavors
    if not part:
        return
    metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
    for key, values in (("labels", needs.defaults.labels), ("annotations", needs.defaults.annotations)):
        yield from (
            (("metadata", key, name), part.at(key, name)) for name in values if name not in metadata.get(key, {})
        )
    keys = [*needs.defaults.fields, *(["topologySpreadConstraints"] if needs.defaults.spread else [])]
    yield from ((("spec", key), part.at(key)) for key in keys if key not in spec)
    if flavors and flavors[0].catalog and needs.placement.runtime_class and "runtimeClassName" not in spec:
        yield ("spec", "runtimeClassName"), flavors[0].catalog.at("runtimeClassName")
    yield from _access_origins(needs)
    secrets = ValueLayer(needs.defaults.fields.get("imagePullSecrets", ()), part.at("imagePullSecrets"))
    lists = [("tolerations", tolerations, added_tolerations(needs))]
    lists.append(("imagePullSecrets", spec.get("imagePullSecrets") or (), [secrets]))
    for key, own_items, added in lists:
        for i, position in enumerate(merge_items([own_items, *(layer.value for layer in added)]).positions):
            if position.layer:
                yield ("spec", key, i), added[position.layer - 1].origin.at(*position.item)


def _access_origins(needs: PodNeeds) -> Iterator[tuple[Path, Origin]]:
    """Of what the first flavor of the catalog says of access to its devices."""
    flavors, access = needs.placement.flavors, needs.placement.access
    if not flavors or not (catalog := flavors[0].catalog):
        return
    if access.host_network:
        yield from ((("spec", key), catalog.at("hostNetwork")) for key in ("hostNetwork", "dnsPolicy"))
    for i in range(len(access.capabilities)):
        yield ("spec", "containers", 0, "securityContext", "capabilities", "add", i), catalog.at("capabilities", i)
    yield from ((("metadata", "annotations", key), catalog.at("annotations", key)) for key in access.annotations)


def runner_origins(
    needs: PodNeeds, template: Mapping[str, Any], flavor: FlavorOrigins | None, origin: Origin
) -> tuple[dict[str, Origin], dict[Path, Origin]]:
    """The origins of the variables of a hand-written runner, by name; and of its fields, by path in the template.
    `origin`: of the template.
    """
    containers = (template.get("spec") or {}).get("containers") or ()
    index = next((i for i, container in enumerate(containers) if container["name"] == RUNNER), None)
    if index is None or not needs.defaults.part:
        return {}, {}
    runner: Path = ("spec", "containers", index)
    ca = needs.defaults.ca
    ca_env = ca.env if ca else ()
    history = merge_entries([ca_env, needs.defaults.env, containers[index].get("env") or ()]).history
    layers = [ca.origin if ca else needs.defaults.part, needs.defaults.part.at("env"), origin.at(*runner, "env")]
    env = {str(path[0]): origins[-1] for path, origins in layer_origins(history, layers)}
    field_origins: dict[Path, Origin] = {
        (*runner, "env", i): variable_origin for i, variable_origin in enumerate(env.values())
    }
    if flavor:
        names = itertools.product(("limits", "requests"), needs.placement.limits)
        field_origins |= {(*runner, "resources", side, name): flavor.at("limits", name) for side, name in names}
    return env, field_origins
