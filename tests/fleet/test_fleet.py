"""`llmaz fleet`: GPUs and prices of a tree, worked out by hand, in each form."""

from __future__ import annotations

import csv
import io
import json
import shutil
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from renderer.api import RenderOptions
from renderer.fleet.sums import KEYS
from renderer.nodes.demand import fleet_demand
from tests import inputs
from tests.diff.repository import Repository
from tests.paths import TESTS

if TYPE_CHECKING:
    from tests.conftest import Golden, Llmaz

TREE = TESTS / "fleet" / "every-kind" / "input"
FORMS = {"table": "fleet.txt", "json": "fleet.json", "csv": "fleet.csv"}
HOURS = 730
# By hand. Of each workload: pods and GPUs with the fewest replicas, with the most, and with the surge of a rollout;
# dollars of an hour with the fewest and with the most. An H100 costs 2.40 in prod and 2 in staging, an L4 0.70, on spot
# 0.215; a part of a card and a flavor without a type cost nobody knows what.
BOTH = {
    "adapted": ((1, 1, 1), (1, 1, 1), None),
    "any": ((2, 2, 4), (2, 2, 4), ("0.43", "1.40")),  # on spot, or not; 100 % surge
    "both-l4": ((2, 2, 2), (2, 2, 2), ("1.40", "1.40")),
    "both-spot": ((2, 2, 2), (2, 2, 2), ("0.43", "0.43")),
    "part": ((1, 1, 1), (1, 1, 1), None),
}
WORKLOADS = {
    "staging": {
        **BOTH,
        "devices": ((1, 1, 1), (2, 2, 2), ("4.00", "4.00")),
        "elastic": ((1, 2, 2), (1, 2, 2), ("0.22", "0.43")),  # 0.215
        "sleeping": ((1, 3, 3), (1, 3, 3), ("0.70", "2.10")),  # an HPA keeps one
    },
    "prod": {
        **BOTH,
        "devices": ((1, 1, 1), (2, 2, 2), ("4.80", "4.80")),
        "elastic": ((1, 4, 4), (1, 4, 4), ("0.22", "0.86")),
        "sleeping": ((0, 3, 3), (0, 3, 3), ("0.00", "2.10")),  # from zero
        "hosts": ((4, 4, 6), (32, 32, 48), ("76.80", "76.80")),  # 2 groups of 2 hosts of 8; one more group
        "split-decode": ((2, 2, 2), (2, 2, 2), ("4.80", "4.80")),
        "split-prefill": ((1, 1, 1), (1, 1, 1), ("2.40", "2.40")),
    },
}
OWNERS = dict.fromkeys(("any", "devices", "part", "adapted"), "none")
OWNERS |= dict.fromkeys(("elastic", "sleeping"), "search")
OWNERS |= dict.fromkeys(("hosts", "both-l4", "both-spot", "split-decode", "split-prefill"), "chat")
SUM = ("98.45", "104.75")  # 7.175 + 91.275 and 9.76 + 94.99
MODEL = inputs.gpu_model("blue")
CHAT = inputs.playground("chat", model="blue")


@pytest.fixture
def tree(monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(TREE)
    return TREE


def triple(count: dict[str, int]) -> tuple[int, int, int]:
    return count["min"], count["max"], count["surge"]


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize("form", FORMS)
def test_fleet(form: str, llmaz: Llmaz, golden: Golden) -> None:
    done = llmaz("fleet", "--format", form)
    assert done.code == 0, done.err
    golden(f"fleet/every-kind/{FORMS[form]}", done.out)
    golden("fleet/every-kind/stderr.txt", done.err)


@pytest.mark.usefixtures("tree")
def test_gpus_and_cents_are_those_worked_out_by_hand(llmaz: Llmaz) -> None:
    document = json.loads(llmaz("fleet", "--format", "json").out)
    rows = document["workloads"]
    hours = {row["name"]: (row["price"] or {}).get("hour") for row in rows}
    assert hours["hosts"] == {"min": "76.80", "max": "76.80"}
    computed: dict[str, dict[str, Any]] = {}
    for row in rows:
        price = row["price"] and (row["price"]["hour"]["min"], row["price"]["hour"]["max"])
        figures = triple(row["pods"]), triple(row["accelerators"]), price
        computed.setdefault(row["environment"], {})[row["name"]] = figures
        assert row["owner"] == OWNERS[row["name"]]
        assert row["parts"] is (row["name"] == "part")
    assert computed == WORKLOADS
    total = document["total"]
    assert (total["price"]["hour"]["min"], total["price"]["hour"]["max"]) == SUM
    assert total["price"]["month"]["max"] == str(Decimal("104.75") * HOURS)
    assert total["withoutPrice"] == {"workloads": 4, "hardware": ["nvidia-gpu", "mig"]}


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize("by", KEYS)
def test_sums_come_to_the_total(by: str, llmaz: Llmaz) -> None:
    document = json.loads(llmaz("fleet", "--format", "json", "--by", by).out)
    sums, total = document["sums"], document["total"]
    assert sum(entry["workloads"] for entry in sums) == total["workloads"] == 19
    for key in ("pods", "cards", "parts"):
        for bound in ("min", "max", "surge"):
            assert sum(entry[key][bound] for entry in sums) == total[key][bound]
    values = {entry["value"]: entry for entry in sums}
    if by == "accelerator":
        assert list(values) == ["h100-80g", "l4-24g", "mig", "nvidia-gpu"]
        assert (values["mig"]["cards"]["max"], values["mig"]["parts"]["max"]) == (0, 2)
        assert values["h100-80g"]["price"]["hour"]["max"] == "92.80"  # 4.00 + 4.80 + 76.80 + 4.80 + 2.40
    if by == "owner":
        assert values["search"]["price"]["hour"]["max"] == "5.49"  # 0.43 + 0.86 + 2 × 2.10


@pytest.mark.parametrize("environment", WORKLOADS)
def test_the_most_is_that_of_diff(environment: str, folder: Path, llmaz: Llmaz) -> None:
    shutil.copytree(TREE, folder, dirs_exist_ok=True)
    apps = (folder / "apps.yaml").rename(folder.parent / "apps.yaml")
    repository = Repository(folder)
    repository.commit()
    apps.rename(folder / "apps.yaml")
    changes = json.loads(llmaz("diff", "--format", "json", "--env", environment).out)["models"]
    most = {change["name"]: sum(kind["atMost"]["after"] for kind in change["gpus"]) for change in changes}
    assert most == {name: figures[1][1] for name, figures in WORKLOADS[environment].items()}


@pytest.mark.parametrize("environment", WORKLOADS)
def test_the_most_with_surge_is_what_node_pools_are_made_for(environment: str, tree: Path) -> None:
    demand, _ = fleet_demand(RenderOptions(paths=(str(tree),), env=environment))
    pods = {item.name: sum(group.surge_pods for group in item.pods) for item in demand.demands}
    assert pods == {name: figures[0][2] for name, figures in WORKLOADS[environment].items()}


@pytest.mark.usefixtures("tree")
def test_one_environment(llmaz: Llmaz) -> None:
    document = json.loads(llmaz("fleet", "--format", "json", "--env", "staging").out)
    assert {row["environment"] for row in document["workloads"]} == {"staging"}


def test_no_prices(folder: Path, llmaz: Llmaz) -> None:
    """Neither figures nor words about prices."""
    (folder / "p.yaml").write_text(f"{MODEL}---\n{CHAT}")
    done = llmaz("fleet")
    assert (done.code, "HOUR" in done.out, done.err) == (0, False, "1 workload on 1 GPU\n")
    assert json.loads(llmaz("fleet", "--format", "json").out)["total"]["price"] is None


def test_numbers_are_decimals(folder: Path, llmaz: Llmaz) -> None:
    """A tenth is a tenth: a binary one, a thousand times, is 0.1 cents more."""
    config = "{flavors: {gpu: {accelerator: h100-80g, perHour: 0.1}}, fleet: {currency: EUR}}"
    (folder / "llmaz.yaml").write_text(f"{inputs.CONFIG}{config}\n")
    (folder / "p.yaml").write_text(f"{MODEL}---\n{CHAT}  replicas: 3\n")
    price = json.loads(llmaz("fleet", "--format", "json").out)["total"]["price"]
    assert price == {"hour": {"min": "0.30", "max": "0.30"}, "month": {"min": "219.00", "max": "219.00"}}


def test_cells_that_a_spreadsheet_would_compute(folder: Path, llmaz: Llmaz) -> None:
    """A file's name comes from whoever opens the pull request."""
    (folder / "=cmd|' '!A0.yaml").write_text(f"{MODEL}---\n{CHAT}")
    (row,) = csv.DictReader(io.StringIO(llmaz("fleet", "--format", "csv").out))
    assert row["file"] == "'=cmd|' '!A0.yaml"


def test_many_models(folder: Path, llmaz: Llmaz) -> None:
    """Enough for several processes: sorted all the same."""
    names = [f"chat-{i:03}" for i in range(250)]
    (folder / "llmaz.yaml").write_text(f"{inputs.CONFIG}{{gateway: {{mode: 'off'}}}}\n")
    apps = [inputs.playground(name, model="blue") for name in reversed(names)]
    (folder / "in.yaml").write_text("---\n".join([MODEL, *apps]))
    document = json.loads(llmaz("fleet", "--format", "json").out)
    assert [row["name"] for row in document["workloads"]] == names


def test_problems_are_those_of_render(folder: Path, llmaz: Llmaz) -> None:
    (folder / "p.yaml").write_text(inputs.playground("chat", model="nobodys"))
    done, validated = llmaz("fleet"), llmaz("validate")
    assert (done.code, done.out, done.err) == (2, "", validated.err)


@pytest.mark.parametrize(
    ("environment", "kinds"),
    [
        ("staging", {"HorizontalPodAutoscaler": 2, "LeaderWorkerSet": 7, "Deployment": 1, "ResourceClaimTemplate": 1}),
        ("prod", {"ScaledObject": 2, "LeaderWorkerSet": 10, "Deployment": 2, "ResourceClaimTemplate": 1}),
    ],
)
@pytest.mark.usefixtures("tree")
def test_the_tree_has_every_kind_of_workload(environment: str, kinds: dict[str, int], llmaz: Llmaz) -> None:
    text = llmaz("render", "--env", environment, "--stdout").out
    counts = {kind: text.count(f"\nkind: {kind}\n") for kind in ("HorizontalPodAutoscaler", "ScaledObject", *kinds)}
    assert {kind: count for kind, count in counts.items() if count} == kinds
    assert text.count("--speculative-config.model\n") == 1
    assert text.count("blue-adapter=") == 1
