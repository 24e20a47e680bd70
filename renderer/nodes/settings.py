"""The `karpenter` settings of RenderConfig for the nodes of one flavor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from renderer.api import RenderConfig
from renderer.diagnostics import Origin
from renderer.nodes.labels import current_name

if TYPE_CHECKING:
    from renderer.input_types import RequirementSpec

# What a NodePool gets where RenderConfig says nothing.
EXPIRE_AFTER, CONSOLIDATION_POLICY, CONSOLIDATE_AFTER = "720h", "WhenEmpty", "10m"
DISK = "200Gi"
_IDENTITY_KEYS = ("role", "instanceProfile")  # either one replaces the other
REQUIRED_KEYS = {
    ("role", "instanceProfile"): "one of role and instanceProfile",
    ("amiAlias",): "amiAlias",
    ("subnetSelectorTerms",): "subnetSelectorTerms",
    ("securityGroupSelectorTerms",): "securityGroupSelectorTerms",
}


class KarpenterSettings(Struct, frozen=True):
    """The merged settings of a flavor."""

    config: RenderConfig
    flavor: str
    values: Mapping[str, object]  # by key
    specific_keys: frozenset[str]  # those that `perFlavor` sets for this flavor

    def get(self, key: str, otherwise: object = None) -> Any:
        """The value of a key."""
        return self.values.get(key, otherwise)

    def at(self, key: str) -> Origin:
        """The origin of a key."""
        inside = ("perFlavor", self.flavor) if key in self.specific_keys else ()
        return self.config.origin("karpenter", *inside, *([key] if key in self.values else []))

    def unsettled(self) -> Iterator[tuple[str, str]]:
        """Names of required settings that are missing, or given in several ways, each with what to do."""
        for keys, words in REQUIRED_KEYS.items():
            keys_given = [key for key in keys if key in self.values]
            if len(keys_given) > 1:
                yield words, f"leave {' or '.join(keys_given)} out"
            elif not keys_given:
                yield words, "write it into karpenter, or into karpenter.perFlavor of each flavor"

    def requirements(self) -> Iterator[tuple[Origin, RequirementSpec]]:
        """Requirements of all flavors, then the flavor's own, each with its origin; for one key the flavor's wins."""
        general: Sequence[RequirementSpec] = self.config.get("karpenter", "requirements") or ()
        specific: Sequence[RequirementSpec] = (
            self.config.get("karpenter", "perFlavor", self.flavor, "requirements") or ()
        )
        specific_keys = {current_name(requirement["key"]) for requirement in specific}
        for path, items in (("requirements",), general), (("perFlavor", self.flavor, "requirements"), specific):
            for i, requirement in enumerate(items):
                if items is specific or current_name(requirement["key"]) not in specific_keys:
                    yield (
                        self.config.origin("karpenter", *path, i),
                        {**requirement, "key": current_name(requirement["key"])},
                    )


def settings(config: RenderConfig, flavor: str) -> KarpenterSettings:
    """The merged settings of the flavor."""
    general = {key: value for key, value in (config.get("karpenter") or {}).items() if key != "perFlavor"}
    specific = config.get("karpenter", "perFlavor", flavor) or {}
    if any(key in specific for key in _IDENTITY_KEYS):
        general = {key: value for key, value in general.items() if key not in _IDENTITY_KEYS}
    values = {**general, **specific}
    for key in ("limits", "consolidation", "tags"):  # maps are merged key by key
        if key in general and key in specific:
            values[key] = {**general[key], **specific[key]}
    return KarpenterSettings(config, flavor, values, frozenset(specific))
