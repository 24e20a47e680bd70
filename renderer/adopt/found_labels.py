"""Labels by whose values gateways find the pods of a model: with another value, clients would lose the pods."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from renderer.adopt.serving_workload import ServingWorkload
from renderer.engines.handwritten_command import selector_options
from renderer.kubernetes.json_values import list_at, map_at, text_at
from renderer.kubernetes.workloads import containers
from renderer.yamlio import Document

# AIBrix, pkg/constants/model.go; llm-d, pkg/epp/.../filter/pd_role.go and the selectors of its pools; KServe,
# pkg/controller/.../llmisvc, the selector of its pool.
_PREFIXES: Final = ("model.aibrix.ai/", "llm-d.ai/", "serving.kserve.io/", "kserve.io/")
_PARTS: Final = ("prefill", "decode")  # of a request, whatever the label is called that says which one pods do
_PAIR: Final = re.compile(r"([^\s,=!]+)==?([^\s,=]+)")  # of a selector in words


class FoundLabels:
    """Those of all workloads of a run."""

    def __init__(self, workloads: Sequence[ServingWorkload], documents: Sequence[Document]) -> None:
        """`documents`: the objects beside the workloads."""
        specs = (map_at(workload.template, "spec") for workload in workloads)
        self._labels: Final = {pair for spec in specs for pair in _pairs_in_words(spec)}
        for document in documents:
            if text_at(document.value, "kind") == "InferencePool":
                selector = map_at(document.value, "spec", "selector")
                labels = map_at(selector, "matchLabels") or selector  # v1alpha2 has no matchLabels
                self._labels.update((key, str(value)) for key, value in labels.items())

    def have(self, key: str, value: object) -> bool:
        """Whether a label of pods is one of these."""
        return key.startswith(_PREFIXES) or value in _PARTS or (key, str(value)) in self._labels


def _pairs_in_words(spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The labels by which a router in these pods finds others."""
    for _, container in containers(spec):
        is_selector = False
        for word in (str(item) for field in ("command", "args") for item in list_at(container, field)):
            if word.startswith("-"):
                option, _, word = word.partition("=")
                is_selector = option in selector_options()
            if is_selector:
                yield from _PAIR.findall(word)
