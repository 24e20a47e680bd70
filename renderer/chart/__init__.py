"""What render makes, as a Helm chart: `helm template` with its own values is the plain output, object by object."""

from renderer.chart.folder import FOLDER, render

__all__ = ["FOLDER", "render"]
