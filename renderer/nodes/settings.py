"""RenderConfig's `karpenter`, as it holds for the nodes of one flavor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from renderer.api import Config
from renderer.nodes.labels import newer
from renderer.problems import Origin
from renderer.records import NamedTuple

_WHO = ("role", "instanceProfile")  # one of them stands for the other
NEEDED = {
    ("role", "instanceProfile"): "one of role and instanceProfile",
    ("amiAlias",): "amiAlias",
    ("subnetSelectorTerms",): "subnetSelectorTerms",
    ("securityGroupSelectorTerms",): "securityGroupSelectorTerms",
}


class Settings(NamedTuple):
    """What holds for a flavor: its own keys over those of all."""

    config: Config
    flavor: str
    said: Mapping[str, Any]
    own: frozenset[str]

    def get(self, key: str, otherwise: Any = None) -> Any:
        """The value of a key."""
        return self.said.get(key, otherwise)

    def at(self, key: str) -> Origin:
        """Where the key stands."""
        inside = ("perFlavor", self.flavor) if key in self.own else ()
        return self.config.origin("karpenter", *inside, *([key] if key in self.said else []))

    def missing(self) -> Iterator[str]:
        """What nobody says, and a node needs."""
        for keys, words in NEEDED.items():
            if len([key for key in keys if key in self.said]) != 1:
                yield words

    def requirements(self) -> Iterator[tuple[Origin, Mapping[str, Any]]]:
        """Those of all flavors, then the flavor's own; of a key that both name the flavor's count."""
        every = self.config.get("karpenter", "requirements") or ()
        own = self.config.get("karpenter", "perFlavor", self.flavor, "requirements") or ()
        mine = {newer(each["key"]) for each in own}
        for path, listed in (("requirements",), every), (("perFlavor", self.flavor, "requirements"), own):
            for i, each in enumerate(listed):
                if listed is own or newer(each["key"]) not in mine:
                    yield self.config.origin("karpenter", *path, i), {**each, "key": newer(each["key"])}


def settings(config: Config, flavor: str) -> Settings:
    """What holds for the flavor."""
    every = {key: value for key, value in (config.get("karpenter") or {}).items() if key != "perFlavor"}
    own = config.get("karpenter", "perFlavor", flavor) or {}
    if any(key in own for key in _WHO):
        every = {key: value for key, value in every.items() if key not in _WHO}
    said = {**every, **own}
    for key in ("limits", "consolidation", "tags"):  # maps, key by key
        if key in every and key in own:
            said[key] = {**every[key], **own[key]}
    return Settings(config, flavor, said, frozenset(own))
