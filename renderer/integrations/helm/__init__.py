"""The rendered manifests as a Helm chart: `helm template` with its default values gives the same objects."""

from renderer.integrations.helm.folder import FOLDER, render

__all__ = ["FOLDER", "render"]
