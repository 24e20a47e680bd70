"""Files in the output folder of the later side that llmaz did not write, and that Argo CD or Flux would sync."""

from __future__ import annotations

import os
from collections.abc import Iterable

from renderer import emit
from renderer.api import Scope
from renderer.problems import Problem
from renderer.revision import Revision


def foreign_files(scope: Scope, rendered: Iterable[str]) -> list[Problem]:
    """An error for each. `rendered`: the paths of what the inputs make. Raises RenderError."""
    ground = scope.options.ground
    if not isinstance(ground, Revision):
        scope = scope._replace(options=scope.options._replace(compare=True))
        return emit.findings(scope, emit.leftovers(scope, dict.fromkeys(rendered, "same")))
    committed, kept, is_allowed = ground.below(scope.folder), {*rendered}, emit.allowed(scope)
    candidates = [path for path in committed if emit.is_synced(path) and path not in kept and not is_allowed(path)]
    charts = {os.path.dirname(path) for path in committed if os.path.basename(path) == "Chart.yaml"} - {""}
    regular = [
        path
        for path in candidates
        if committed[path].mode != "120000" and not any(path.startswith(f"{chart}/") for chart in charts)
    ]
    contents = ground.contents([committed[path].path for path in regular])
    ours = {path for path, data in zip(regular, contents, strict=True) if emit.made_from(data) is not None}
    foreign = [path for path in candidates if path not in ours]
    return emit.findings(scope, emit.Leftovers([], [], foreign, []))
