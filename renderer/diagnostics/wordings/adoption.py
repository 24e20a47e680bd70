"""Adoption: what is said of manifests of others that become OpenModels and Playgrounds."""

from __future__ import annotations

from typing import Final

from renderer.diagnostics.wording import Wording

ADOPTION: Final[dict[str, Wording]] = {
    "E965": Wording("{what} cannot be adopted: {why}", "{hint}"),
    "W965": Wording("'{word}' is not known here, and is lost", "{hint}"),
    "W966": Wording("this is lost: {why}"),
    "W967": Wording(
        "{what} stands here as plain text, and is not taken over",
        "put it into a Secret, and write valueFrom.secretKeyRef",
    ),
    "W968": Wording(
        "'{expression}' is left as it is: it is no simple reference to a field that has a value",
        "write what it stands for",
    ),
    "W969": Wording("no {kind} among these files is called '{name}': what it says is lost", "{hint}"),
    "N965": Wording("{source} also gives its pods what nobody wrote here, and what ours have in their own way: {adds}"),
    "N966": Wording("{why}, so nothing is made of it"),
    "N967": Wording(
        "the claim {claim} is used on, which the chart deletes with its release",
        "annotate it with helm.sh/resource-policy: keep before the release goes",
    ),
}
