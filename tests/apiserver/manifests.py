"""Objects as they are asked about, and what is said of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from renderer import yamlio
from tests.apiserver.server import Body, CannotJudge


class Manifest(NamedTuple):
    """One object: where it stands, for people; its body; its YAML, where it has not to be made of the body."""

    where: str
    body: Body
    text: str = ""

    @property
    def label(self) -> str:
        """Where and which."""
        metadata = self.body.get("metadata")
        of = metadata if isinstance(metadata, dict) else {}
        name = "/".join(str(of[key]) for key in ("namespace", "name") if of.get(key))
        return f"{self.where}: {self.body.get('kind')} {name}"


class Refusal(NamedTuple):
    """Who said no to an object, and why."""

    manifest: Manifest
    who: str
    message: str

    def __str__(self) -> str:
        return f"{self.manifest.label}: {self.who}: {' '.join(self.message.split())}"


def manifests(where: str, text: str) -> Iterator[Manifest]:
    """Each object of a file, with its text as it stands there. Raises CannotJudge for a file that is not YAML."""
    for part in re.split(r"^---(?:[ \t].*)?$", text, flags=re.MULTILINE):
        read, problems = yamlio.parse(where, part.encode())
        if problems:
            raise CannotJudge(f"{where}: {problems[0]}")
        for document in read:
            if document.value is not None:
                yield Manifest(where, document.value, part)
