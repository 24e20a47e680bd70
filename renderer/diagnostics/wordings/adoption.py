"""Adoption: what is said of manifests of others that become OpenModels and Playgrounds."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording

ADOPTION: Final[dict[str, Wording]] = {
    "E960": Wording("{what}", "{hint}", about="an object of a group of llmaz's with a kind that it does not have"),
    "W960": Wording("'{field}' is left out: {reason}"),
    "N960": Wording(
        "which version of {backend} ran is not written here: the operator's own preset ran {tags}",
        "write backendRuntimeConfig.version, as the running pods have it; without it the preset's own runs",
    ),
    "E961": Wording(
        "'{old}' and '{new}' of line {line}, column {column} contradict each other: one took the place of the other",
        "leave one of them out",
    ),
    "N961": Wording("'{field}' is left out: {reason}"),
    "E962": Wording("this must be {form}, not {value}"),
    "N962": Wording(
        "this is the operator's own preset of {name}: in the tree it takes the place of the one that ships here",
        "leave it out to run ours, and write version {version} in the Playgrounds that shall keep it",
    ),
    "E963": Wording(
        "{what}",
        "{hint}",
        about="what an older shape does not say and today's API needs, or what it alone can say: {what}",
    ),
}
