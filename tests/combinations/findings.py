"""What `llmaz check --strict` may say about what llmaz rendered, each with the reason why it is right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from functools import cache
from typing import Any

from renderer import yamlio
from renderer.api import RenderConfig
from renderer.check.documents import validate_documents
from renderer.check.graph import declared_objects
from renderer.engines.catalog import EngineCatalog
from renderer.load.index import engine_catalog
from tests.combinations.parameters import ACCELERATORS

REASONS: Mapping[str, str] = {
    "N580": "Secrets are named and never rendered, and a check says what it could not look into",
    "N533": "the same of those with the keys of a bucket",
    "W355": "two podTemplates of a tree say hostNetwork: rendering looks at one app at a time, and a check at all",
}


@cache
def _catalog() -> EngineCatalog:
    """What is known of engines; it is the same for all trees, since they declare the same accelerators."""
    (config,) = yamlio.parse("llmaz.yaml", yamlio.dump({"spec": ACCELERATORS}).encode())[0]
    return engine_catalog(RenderConfig(config.value["spec"], config))


def findings(texts: Mapping[str, str], config: Mapping[str, Any], told_codes: Set[str]) -> Iterator[str]:
    """What `llmaz check --strict` says of rendered files, less what REASONS has. `config`: the tree's RenderConfig;
    `told_codes`: the codes that rendering told of the input, which are of the same values.
    """
    documents = [document for path, text in texts.items() for document in yamlio.parse(path, text.encode())[0]]
    (read,) = yamlio.parse("llmaz.yaml", yamlio.dump(dict(config)).encode())[0]
    external = declared_objects(RenderConfig(read.value["spec"], read))
    problems, unknown = validate_documents(documents, external, engines=_catalog())
    for problem in problems:
        if problem.code not in REASONS and problem.code not in told_codes:
            yield f"check: {problem.code} {problem.message}"
    for document in unknown:
        yield f"check: no schema for {document.value['kind']}"
