"""The object by which the function knows what it has rendered itself."""

from __future__ import annotations

from collections.abc import Mapping

# Its absence shows that kustomize did not run the function (docs/design/delivery.md#kustomizes-silent-failure).
MARKER: Mapping[str, object] = {
    "apiVersion": "renderer.llmaz.io/v1alpha1",
    "kind": "Rendered",
    "metadata": {"name": "llmaz"},
}
