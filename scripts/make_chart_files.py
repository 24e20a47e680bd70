"""Makes the files of charts/llmaz that say what the renderer says: dashboards, the adapter's rules, checks, a CRD.

python scripts/make_chart_files.py          # writes charts/llmaz/files
python scripts/make_chart_files.py --check  # exit code 1 when a file differs

files/dashboards/<engine>.json    a Grafana dashboard for each engine of dashboards.yaml; fleet.json for all models
files/adapter-rules.yaml          what `llmaz presets adapter-rules` prints
files/argocd-health.yaml          what `llmaz argocd health` puts into argocd-cm
files/openmodel-crd.yaml          OpenModel as input-crds/ has it, in a form that an API server takes
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT))  # a script finds its neighbours only

from renderer import yamlio  # noqa: E402
from renderer.integrations import prometheus_adapter  # noqa: E402
from renderer.integrations.gitops import health  # noqa: E402

Node = dict[str, Any]

TARGET = ROOT / "charts" / "llmaz" / "files"
PRESETS = ROOT / "presets" / "backends"
# The PodMonitor of the renderer, which names the job of its series.
JOB = ".+/llmaz-engines"
WORKLOAD = "workload"
WIDTH, HEIGHT = 8, 8  # of a panel; a row is 24 wide
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)


# ---- dashboards ----


class Query(NamedTuple):
    """One line of a panel: what Prometheus is asked, and how the series is called."""

    expression: str
    legend: str


class Series(NamedTuple):
    """How the series of an engine are told apart: by its own label for the model, or else by workload.

    No label names the workload: it is the leader's Pod without its number.
    """

    label: str
    selector: str

    def by(self, *more: str) -> str:
        """`by (...)` of an aggregation."""
        return f"by ({', '.join(('namespace', self.label, *more))})"

    def of(self, vector: str) -> str:
        """The vector with the label."""
        return workloads(vector) if self.label == WORKLOAD else vector

    @property
    def legend(self) -> str:
        return f"{{{{namespace}}}}/{{{{{self.label}}}}}"

    def queries(self, panel: Node) -> Iterator[Query]:
        """What a panel of dashboards.yaml asks."""
        [(way, metric)] = [(key, panel[key]) for key in panel if key not in ("title", "unit", "goal")]
        if way in ("sum", "max", "mean"):
            word = "avg" if way == "mean" else way
            yield Query(f"{word} {self.by()} ({self.of(metric + self.selector)})", self.legend)
        elif way == "replicas":
            pods = f"count {self.by('pod')} ({self.of(metric + self.selector)})"
            yield Query(f"count {self.by()} ({pods})", self.legend)
        elif way == "rate":
            yield Query(f"sum {self.by()} ({self.rate(metric)})", self.legend)
        elif way == "share":
            part, whole = (f"sum {self.by()} ({self.rate(counter)})" for counter in metric)
            yield Query(f"{part} / ({whole} > 0)", self.legend)
        elif way == "quantiles":
            rates = f"sum {self.by('le')} ({self.rate(f'{metric}_bucket')})"
            for quantile in ("0.5", "0.95", "0.99"):
                yield Query(f"histogram_quantile({quantile}, {rates})", f"{self.legend} p{quantile[2:]:0<2}")
        else:
            sys.exit(f"dashboards.yaml: {panel['title']}: no way {way!r}")

    def rate(self, metric: str) -> str:
        return self.of(f"rate({metric}{self.selector}[$__rate_interval])")


def workloads(vector: str) -> str:
    """The vector with the label `workload`."""
    return f'label_replace({vector}, "{WORKLOAD}", "$1", "pod", "(.+)-[0-9]+")'


def engine_dashboard(name: str, definition: Node) -> Node:
    """The dashboard of one engine."""
    preset = yaml.safe_load((PRESETS / f"{name}.yaml").read_text("utf-8"))["spec"]["engine"]
    first = next(panel["replicas"] for panel in definition["panels"] if "replicas" in panel)
    there = f'{first}{{namespace=~"$namespace"}}'
    if label := preset["metrics"].get("modelLabel"):
        series = Series(label, f'{{namespace=~"$namespace", {label}=~"${label}"}}')
        choice = variable(label, "Model", f"label_values({there}, {label})")
    else:
        series = Series(WORKLOAD, f'{{namespace=~"$namespace", pod=~"${WORKLOAD}-[0-9]+"}}')
        choice = {**variable(WORKLOAD, "Workload", f"label_values({there}, pod)"), "regex": "/(.+)-[0-9]+/"}
    goal = preset.get("scale", {}).get("target")
    panels = [
        drawn(i, panel, list(series.queries(panel)), float(goal) if panel.get("goal") else None)
        for i, panel in enumerate(definition["panels"])
    ]
    choices = [variable("namespace", "Namespace", f"label_values({first}, namespace)"), choice]
    return dashboard(f"llmaz-{name}", f"llmaz / {definition['title']}", choices, panels)


def fleet_dashboard(definition: Node) -> Node:
    """All models at once, whatever runs them."""
    presets = [yaml.safe_load(path.read_text("utf-8"))["spec"]["engine"] for path in sorted(PRESETS.glob("*.yaml"))]
    panels = []
    for i, panel in enumerate(definition["panels"]):
        if "up" in panel:
            up = f'up{{job=~"{JOB}", namespace=~"$namespace"}}'
            queries = [Query(f"count by (namespace) ({up} == {1 if panel['up'] else 0})", "{{namespace}}")]
        else:
            [(way, role)] = [(key, panel[key]) for key in ("sum", "max") if key in panel]
            names = "|".join(preset["metrics"][role] for preset in presets if role in preset.get("metrics", {}))
            every = f'{{__name__=~"{names}", namespace=~"$namespace"}}'
            series = Series(WORKLOAD, every)
            queries = list(series.queries({way: ""}))
        panels.append(drawn(i, panel, queries, None))
    variables = [variable("namespace", "Namespace", f'label_values(up{{job=~"{JOB}"}}, namespace)')]
    return dashboard("llmaz-fleet", f"llmaz / {definition['title']}", variables, panels)


def drawn(index: int, panel: Node, queries: Sequence[Query], goal: float | None) -> Node:
    """A panel as Grafana has it, three in a row."""
    steps: list[Node] = [{"color": "green", "value": None}]
    custom: Node = {"fillOpacity": 10, "lineWidth": 1, "showPoints": "never", "spanNulls": False}
    if goal is not None:
        steps.append({"color": "red", "value": goal})
        custom["thresholdsStyle"] = {"mode": "dashed"}
    return {
        "id": index + 1,
        "type": "timeseries",
        "title": panel["title"],
        "datasource": SOURCE,
        "gridPos": {"x": index % 3 * WIDTH, "y": index // 3 * HEIGHT, "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {
            "defaults": {
                "unit": panel["unit"],
                "min": 0,
                "custom": custom,
                "thresholds": {"mode": "absolute", "steps": steps},
            },
            "overrides": [],
        },
        "options": {
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
        "targets": [
            {
                "refId": "ABC"[i],
                "datasource": SOURCE,
                "editorMode": "code",
                "expr": query.expression,
                "legendFormat": query.legend,
            }
            for i, query in enumerate(queries)
        ],
    }


def variable(name: str, label: str, query: str) -> Node:
    """A choice above the panels: any number of the label's values."""
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": SOURCE,
        "query": {"query": query, "refId": name},
        "definition": query,
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
    }


def dashboard(uid: str, title: str, variables: Sequence[Node], panels: Sequence[Node]) -> Node:
    source = {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "refresh": 1}
    return {
        "uid": uid,
        "title": title,
        "tags": ["llmaz"],
        "schemaVersion": 39,
        "editable": False,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "timezone": "browser",
        "templating": {"list": [source, *variables]},
        "links": [
            {
                "type": "dashboards",
                "title": "llmaz",
                "tags": ["llmaz"],
                "asDropdown": True,
                "includeVars": True,
                "keepTime": True,
            }
        ],
        "panels": list(panels),
    }


def dashboards() -> Iterator[tuple[str, str]]:
    definitions = yaml.safe_load((HERE / "dashboards.yaml").read_text("utf-8"))
    bodies = {name: engine_dashboard(name, definition) for name, definition in definitions["engines"].items()}
    bodies["fleet"] = fleet_dashboard(definitions["fleet"])
    for name, body in bodies.items():
        yield f"dashboards/{name}.json", json.dumps(body, indent=2) + "\n"


# ---- the rest ----


def structural(node: Any) -> Any:
    """An input CRD as an API server takes it: what `x-core-type` stands for written out, as far as OpenModel has it."""
    if isinstance(node, list):
        return [structural(item) for item in node]
    if not isinstance(node, dict):
        return node
    kind = node.get("x-core-type")
    rest = {key: structural(value) for key, value in node.items() if key != "x-core-type"}
    if kind == "v1/ResourceList":
        either = [{"type": "integer"}, {"type": "string"}]
        amount = {"anyOf": either, "pattern": QUANTITY, "x-kubernetes-int-or-string": True}
        return {**rest, "additionalProperties": amount}
    return {**rest, "x-kubernetes-preserve-unknown-fields": True} if kind else rest


def files() -> Iterator[tuple[str, str]]:
    """Path below files/ and text of each."""
    yield from dashboards()
    yield "adapter-rules.yaml", prometheus_adapter.rules()[0]
    yield (
        "argocd-health.yaml",
        "# The keys of argocd-cm, printed by llmaz argocd health.\n" + yamlio.dump(health.data()),
    )
    crd = structural(yaml.safe_load((HERE / "input-crds" / "llmaz.io_openmodels.yaml").read_text("utf-8")))
    yield "openmodel-crd.yaml", "# InftyAI/llmaz, Apache-2.0: scripts/input-crds.\n" + yamlio.dump(crd)


def main() -> int:
    check = sys.argv[1:] == ["--check"]
    texts = {TARGET / path: text for path, text in files()}
    stale = [path for path, text in texts.items() if not path.exists() or path.read_bytes() != text.encode()]
    gone = [path for path in (TARGET / "dashboards").glob("*.json") if path not in texts]
    for path in [*stale, *gone]:
        print(("differs: " if check else "wrote: " if path in texts else "removed: ") + str(path.relative_to(ROOT)))
    if check:
        return 1 if stale or gone else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(texts[path].encode())
    for path in gone:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
