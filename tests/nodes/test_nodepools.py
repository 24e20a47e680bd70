"""llmaz nodepools: Karpenter's node pools for the flavors in use.

`nodepools/<case>/input` is what one writes, `args.txt` more arguments, `expected.yaml` and `stderr.txt` what comes of
it. What is refused stands in `errors/nodepools-*`.
"""

from __future__ import annotations

import json
import random
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from renderer import load, schema_validation
from renderer.nodes import instances, labels
from renderer.nodes.limits import accelerators_needed
from tests.inputs import blue_model, document
from tests.paths import TESTS
from tests.programs import tool

if TYPE_CHECKING:
    from tests.conftest import Golden, Llmaz

CASES = sorted(path.name for path in (TESTS / "data" / "nodepools").iterdir())
SCHEMAS = f"{schema_validation.FOLDER}/output/{{{{.Group}}}}/{{{{.ResourceKind}}}}_{{{{.ResourceAPIVersion}}}}.json"
KARPENTER = {
    "role": "nodes",
    "amiAlias": "al2023@v20260801",
    "subnetSelectorTerms": [{"id": "subnet-0a1b"}],
    "securityGroupSelectorTerms": [{"id": "sg-0a1b"}],
}


def arguments(case: str) -> list[str]:
    file = TESTS / "data" / "nodepools" / case / "args.txt"
    return shlex.split(file.read_text()) if file.exists() else []


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a case, in a copy of its input."""
    name = str(request.param)
    shutil.copytree(TESTS / "data" / "nodepools" / name / "input", tmp_path / "input")
    monkeypatch.chdir(tmp_path / "input")
    return name


def test_case(case: str, llmaz: Llmaz, golden: Golden) -> None:
    done = llmaz("nodepools", *arguments(case))
    assert done.code == 0, done.err
    golden(f"data/nodepools/{case}/expected.yaml", done.out)
    golden(f"data/nodepools/{case}/stderr.txt", done.err)
    assert llmaz("nodepools", *arguments(case)).out == done.out  # the same bytes


def test_goldens_are_what_karpenter_takes(llmaz: Llmaz) -> None:
    files = sorted((TESTS / "data" / "nodepools").glob("*/expected.yaml"))
    assert len(files) == len(CASES)
    for file in files:
        assert llmaz("check", file).code == 0, file
        for body in yaml.safe_load_all(file.read_text("utf-8")):
            if body["kind"] == "NodePool":
                assert body["spec"]["template"]["spec"]["nodeClassRef"]["name"] == body["metadata"]["name"]
                keys = [requirement["key"] for requirement in body["spec"]["template"]["spec"]["requirements"]]
                assert not any(labels.is_restricted(key) for key in keys)


def test_kubeconform_takes_the_goldens() -> None:
    files = sorted((TESTS / "data" / "nodepools").glob("*/expected.yaml"))
    call: list[str | Path] = [
        tool("kubeconform"),
        "-strict",
        "-summary",
        "-output",
        "json",
        "-schema-location",
        SCHEMAS,
        *map(str, files),
    ]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    summary = json.loads(done.stdout)["summary"]
    assert summary["valid"] == sum(file.read_text("utf-8").count("kind: NodePool\n") * 2 for file in files) > 20


# --- the file ---------------------------------------------------------------------------------------------------------


def fleet(folder: Path, replicas: int = 1, **karpenter: Any) -> None:
    """A model on one flavor, with two GPUs a pod of eight a node."""
    spec = {
        "gateway": {"mode": "off"},
        "karpenter": {**KARPENTER, **karpenter},
        "flavors": {"a100": {"limits": {"nvidia.com/gpu": 2}, "params": {"INSTANCE-TYPE": "p4d.24xlarge"}}},
    }
    (folder / "llmaz.yaml").write_text(yaml.safe_dump(document("RenderConfig", "config", spec)))
    app = document("Playground", "chat", {"modelClaim": {"modelName": "blue"}, "replicas": replicas})
    (folder / "chat.yaml").write_text(yaml.safe_dump_all([blue_model({"name": "a100"}), app]))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    fleet(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_is_written_compared_and_left_alone_by_render(folder: Path, llmaz: Llmaz) -> None:
    file = "platform/nodes.yaml"
    missing = llmaz("nodepools", "-o", file, "--check")
    assert (missing.code, missing.out) == (1, "")
    assert missing.err == f"{file} is missing; run llmaz nodepools -o {file}\n"
    assert not (folder / "platform").exists()
    written = llmaz("nodepools", "-o", file)
    assert (written.code, written.out, written.err) == (0, "", f"1 node pool for 1 workload → {file}\n")
    assert (folder / file).read_text("utf-8") == llmaz("nodepools").out
    assert llmaz("nodepools", "-o", file).err == f"1 node pool for 1 workload → {file}: unchanged\n"
    assert llmaz("nodepools", "-o", file, "--check").err == f"1 node pool for 1 workload: {file} is up to date\n"
    assert llmaz("render").counts["objects"] == 2  # it is not input
    assert llmaz("render", "--check").code == 0  # and not deleted
    fleet(folder, replicas=5)
    before = (folder / file).read_bytes()
    stale = llmaz("nodepools", "-o", file, "--check")
    assert (stale.code, stale.err) == (1, f"{file} is stale; run llmaz nodepools -o {file}\n")
    assert (folder / file).read_bytes() == before
    assert llmaz("nodepools", "-o", file).code == 0
    assert (folder / file).read_bytes() != before


def test_without_a_flavor_nothing_is_left(folder: Path, llmaz: Llmaz) -> None:
    assert llmaz("nodepools", "-o", "nodes.yaml").code == 0
    app = (folder / "chat.yaml").read_text("utf-8").replace("modelName: blue", "modelName: qwen3-0--6b-gguf")
    (folder / "chat.yaml").write_text(app)
    done = llmaz("nodepools", "-o", "nodes.yaml", "--set", "backend=llamacpp")
    assert (done.code, done.err) == (
        0,
        "0 node pools for 0 workloads → nodes.yaml\n1 workload without a flavor: these pods run on other nodes\n",
    )
    assert list(yaml.safe_load_all((folder / "nodes.yaml").read_text("utf-8"))) == []


def test_a_file_without_a_name(folder: Path, llmaz: Llmaz) -> None:
    """As of a variable that is not set."""
    done = llmaz("nodepools", "-o", "")
    assert (done.code, "-o has no value" in done.err) == (2, True)


def test_check_needs_a_file(folder: Path, llmaz: Llmaz) -> None:
    done = llmaz("nodepools", "--check")
    assert (done.code, "name it with -o" in done.err) == (2, True)


@pytest.mark.parametrize("file", ["rendered/nodes.yaml", "rendered", "./rendered/../rendered/a/b.yaml"])
def test_the_output_folder_is_no_place(file: str, folder: Path, llmaz: Llmaz) -> None:
    assert llmaz("render").code == 0
    for flags in ([], ["--check"]):
        done = llmaz("nodepools", "-o", file, *flags)
        assert (done.code, "[E797]" in done.err) == (2, True)


def test_the_output_folder_of_an_environment_is_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz
) -> None:
    shutil.copytree(TESTS / "data" / "nodepools" / "environments" / "input", tmp_path / "input")
    monkeypatch.chdir(tmp_path / "input")
    for file in ("rendered/dev/nodes.yaml", "rendered/nodes.yaml"):
        done = llmaz("nodepools", "--env", "dev", "-o", file)
        assert (done.code, "[E797]" in done.err) == (2, True)


@pytest.mark.parametrize(("name", "code"), [("new/", "E140"), ("new/a\nb.yaml", "E124"), ("new/a\x7f", "E124")])
def test_a_name_of_no_file(name: str, code: str, folder: Path, llmaz: Llmaz) -> None:
    done = llmaz("nodepools", "-o", name)
    assert (done.code, done.out) == (2, "")
    assert f"[{code}]" in done.err
    assert not (folder / "new").exists()


def test_nothing_is_written_through_a_link(folder: Path, llmaz: Llmaz) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "linked").symlink_to("elsewhere")
    done = llmaz("nodepools", "-o", "linked/nodes.yaml")
    assert (done.code, done.err.split(" [")[0]) == (2, "linked: this is a link, and nothing is written through links")
    assert list((folder / "elsewhere").iterdir()) == []


def test_a_folder_in_the_way(folder: Path, llmaz: Llmaz) -> None:
    (folder / "nodes.yaml").mkdir()
    done = llmaz("nodepools", "-o", "nodes.yaml")
    assert (done.code, done.err.split(" [")[0]) == (2, "nodes.yaml: cannot be written: Is a directory")


def test_environments_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz) -> None:
    shutil.copytree(TESTS / "data" / "nodepools" / "environments" / "input", tmp_path / "input")
    monkeypatch.chdir(tmp_path / "input")
    bodies = {env: list(yaml.safe_load_all(llmaz("nodepools", "--env", env).out)) for env in ("dev", "prod")}
    assert [[body["metadata"]["name"] for body in bodies[env]] for env in bodies] == [
        ["dev-gpu"] * 2,
        ["llmaz-gpu"] * 2,
    ]
    assert [bodies[env][0]["spec"]["limits"] for env in bodies] == [{"nvidia.com/gpu": "1"}, {"nvidia.com/gpu": "4"}]
    assert [bodies[env][1]["spec"]["role"] for env in bodies] == ["dev", "prod"]


# --- limits -----------------------------------------------------------------------------------------------------------


def limits(llmaz: Llmaz, *flags: str) -> Any:
    done = llmaz("nodepools", *flags)
    assert done.code == 0, done.err
    return next(yaml.safe_load_all(done.out))["spec"]["limits"]


@pytest.mark.parametrize(("replicas", "gpus"), [(0, "0"), (1, "8"), (4, "8"), (5, "16"), (40, "80")])
def test_limits_are_whole_nodes(replicas: int, gpus: str, folder: Path, llmaz: Llmaz) -> None:
    """Karpenter makes no node that is larger than what is left of a limit: 2 of 8 would never come."""
    fleet(folder, replicas=replicas)
    assert limits(llmaz) == {"nvidia.com/gpu": gpus}


def test_limits_of_ones_own(folder: Path, llmaz: Llmaz) -> None:
    fleet(folder, limits={"cpu": "1000m", "nvidia.com/gpu": 4})
    assert limits(llmaz) == {"nvidia.com/gpu": "4", "cpu": "1"}


@pytest.mark.parametrize(
    ("limit", "warned"), [("1", True), ("7", True), ("7500m", True), ("8", False), ("0", False), ("100", False)]
)
def test_a_limit_below_one_node(limit: str, warned: bool, folder: Path, llmaz: Llmaz) -> None:
    fleet(folder, limits={"nvidia.com/gpu": limit})
    done = llmaz("nodepools")
    assert done.code == 0, done.err
    assert ("the smallest instance that meets its requirements has 8 [W790]" in done.err) is warned


@pytest.mark.parametrize(
    ("throughput", "disk"),
    [
        (125, {"throughput": 125}),
        (750, {"throughput": 750}),
        (751, {"iops": 3004, "throughput": 751}),
        (2000, {"iops": 8000, "throughput": 2000}),
    ],
)
def test_a_fast_disk_has_the_operations_that_it_needs(
    throughput: int, disk: dict[str, int], folder: Path, llmaz: Llmaz
) -> None:
    """EC2 takes no gp3 volume with more than a quarter of a MiB a second for each of its operations, 3000 if unsaid."""
    fleet(folder, volumeThroughput=throughput)
    done = llmaz("nodepools")
    assert done.code == 0, done.err
    _, node_class = yaml.safe_load_all(done.out)
    ebs = node_class["spec"]["blockDeviceMappings"][0]["ebs"]
    assert {key: ebs[key] for key in ("iops", "throughput") if key in ebs} == disk


def test_a_pool_by_more_than_the_table_knows_counts_nodes(folder: Path, llmaz: Llmaz) -> None:
    fleet(
        folder,
        replicas=3,
        requirements=[{"key": "karpenter.k8s.aws/instance-memory", "operator": "Gt", "values": ["9"]}],
    )
    assert limits(llmaz) == {"nodes": "3"}


def nodes(size: int, pods: list[int]) -> int:
    """First fit, the largest first."""
    free: list[int] = []
    for request in sorted(pods, reverse=True):
        if place := next((i + 1 for i, room in enumerate(free) if room >= request), 0):
            free[place - 1] -= request
        else:
            free.append(size - request)
    return len(free)


def test_enough_for_whichever_instance_it_is() -> None:
    chance = random.Random(7)
    for _ in range(500):
        kinds = chance.sample([1, 2, 4, 8, 16], chance.randint(1, 4))
        pods = {
            request: chance.randint(1, 9) for request in chance.sample(range(1, max(kinds) + 1), min(2, max(kinds)))
        }
        flat = [request for request, number in pods.items() for _ in range(number)]
        total = accelerators_needed(pods, kinds)
        assert total is not None
        for kind in kinds:
            if kind >= max(flat):
                assert total >= kind * nodes(kind, flat), (pods, kinds)
        assert total >= sum(flat)
        assert total <= len(flat) * max(kinds)  # a node each


def test_many_pods_are_counted_at_once() -> None:
    assert accelerators_needed({1: 1_000_000, 3: 1_000_000}, [8]) == 8 * 500_000
    assert accelerators_needed({}, [8]) == 0
    assert accelerators_needed({16: 1}, [1, 8]) is None
    assert accelerators_needed({1: 1}, []) is None


@pytest.mark.parametrize(
    ("operator", "values", "met"),
    [
        ("In", ["4", "8"], True),
        ("In", ["4"], False),
        ("NotIn", ["4"], True),
        ("NotIn", ["8"], False),
        ("Exists", [], True),
        ("DoesNotExist", [], False),
        ("Gt", ["7"], True),
        ("Gt", ["8"], False),
        ("Gte", ["8"], True),
        ("Lt", ["9"], True),
        ("Lt", ["8"], False),
        ("Lte", ["8"], True),
        ("Gt", ["many"], False),
    ],
)
def test_requirements_mean_what_karpenter_says(operator: str, values: list[str], met: bool) -> None:
    requirement: Any = {"key": "karpenter.k8s.aws/instance-gpu-count", "operator": operator, "values": values}
    assert instances.meets_requirement(requirement, {"karpenter.k8s.aws/instance-gpu-count": "8"}) is met


def needed(key: str, *values: str, operator: str = "In") -> Any:
    return {"key": key, "operator": operator, "values": list(values)}


def test_choices() -> None:
    gpu = "karpenter.k8s.aws/instance-gpu-"
    whole = [needed(f"{gpu}name", "a100"), needed(f"{gpu}memory", "50000", operator="Gt")]
    choice = instances.choose_instances(whole)
    assert ([instance.labels[labels.TYPE] for instance in choice.instances], choice.sure) == (["p4de.24xlarge"], True)
    assert (choice.named, choice.open) == ((), False)
    assert instances.choose_instances([needed(labels.ARCH, "amd64")]).open
    assert not instances.choose_instances([needed(f"{gpu}name", "unheard-of")]).sure
    assert not instances.choose_instances([needed("karpenter.k8s.aws/instance-memory", "9", operator="Gt")]).sure
    types = [needed(labels.TYPE, "g6.xlarge", "g6.12xlarge"), needed(labels.TYPE, "g6.12xlarge", "g9.xlarge")]
    assert instances.choose_instances(types[:1]).named == ("g6.12xlarge", "g6.xlarge")
    assert instances.choose_instances(types).named == ()  # one of them is unknown


# --- labels -----------------------------------------------------------------------------------------------------------


def lists() -> Iterator[list[str]]:
    """The labels of its own that NodePool's CRD lets one require."""
    raw = json.loads((Path(schema_validation.FOLDER) / "cel" / "karpenter.sh" / "nodepool_v1.json").read_text())
    for rule, _ in raw["rules"]:
        if rule.startswith("self in ["):
            yield json.loads(rule[rule.index("[") : rule.index("]") + 1])


def test_labels_are_those_of_the_crd() -> None:
    allowed = {label for group in lists() for label in group}
    assert len(allowed) > 25
    # One names the node class, and one the pool: Karpenter sets them.
    for label in allowed - {"karpenter.k8s.aws/ec2nodeclass", "karpenter.sh/nodepool"}:
        assert labels.is_requirement_label(label), label
    own = re.compile(r"karpenter\.(sh|k8s\.aws)/")
    assert {label for label in labels.HARDWARE if own.match(label)} <= allowed


@pytest.mark.parametrize(
    ("label", "restricted"),
    [
        ("kubernetes.io/hostname", True),
        ("karpenter.sh/nodepool", True),
        ("a.karpenter.sh/b", True),
        ("karpenter.k8s.aws/ec2nodeclass", True),
        ("karpenter.sh/capacity-type", False),
        ("karpenter.k8s.aws/instance-gpu-name", False),
        ("mykarpenter.sh/b", False),
        ("gpu", False),
        ("beta.kubernetes.io/arch", False),
    ],
)
def test_labels_that_karpenter_keeps(label: str, restricted: bool) -> None:
    assert labels.is_restricted(label) is restricted


def test_the_table_is_whole() -> None:
    """Types are named once, counts are sensible, and what has a count is an accelerator."""
    table = instances.instances()
    assert len({instance.labels[labels.TYPE] for instance in table}) == len(table) > 50
    rows = {row["name"]: row for row in load.preset("accelerators").value["spec"]["resources"] if "name" in row}
    for instance in table:
        assert instance.holds in (0, 1, 2, 4, 8)
        assert instances.is_countable(instance.resource)
        assert rows[instance.resource]["count"] == "tp"
        assert set(instance.labels) - {labels.TYPE, labels.ARCH} <= labels.HARDWARE


# --- who is counted ---------------------------------------------------------------------------------------------------


def test_a_part_of_the_tree_counts_alone(folder: Path, llmaz: Llmaz) -> None:
    (folder / "more").mkdir()
    app = {
        "apiVersion": "inference.llmaz.io/v1alpha1",
        "kind": "Playground",
        "metadata": {"name": "more"},
        "spec": {"modelClaim": {"modelName": "blue"}, "replicas": 9},
    }
    (folder / "more" / "more.yaml").write_text(yaml.safe_dump(app))
    assert limits(llmaz) == {"nvidia.com/gpu": "24"}
    assert limits(llmaz, "chat.yaml") == {"nvidia.com/gpu": "8"}


def test_the_catalog_says_which_nodes_a_shipped_model_means(folder: Path, llmaz: Llmaz) -> None:
    text = (folder / "chat.yaml").read_text("utf-8")
    (folder / "chat.yaml").write_text(text.replace("modelName: blue", "modelName: qwen3-8b"))
    refused = llmaz("nodepools")
    assert refused.code == 2
    assert "spec.modelClaim.modelName: the flavor 'nvidia-gpu' does not say which nodes it needs [E792]" in refused.err
    done = llmaz("nodepools", "--set", "flavors.nvidia-gpu={params: {INSTANCE-TYPE: g6.2xlarge}}")
    assert done.code == 0, done.err
    assert next(yaml.safe_load_all(done.out))["spec"]["limits"] == {"nvidia.com/gpu": "1"}


def test_a_requirement_takes_the_place_of_a_label(folder: Path, llmaz: Llmaz) -> None:
    """Both together would leave no node."""
    config = yaml.safe_load((folder / "llmaz.yaml").read_text("utf-8"))
    config["spec"]["flavors"]["a100"]["nodeSelector"] = {"gpu": "a100"}
    for values, warned in ((["a100", "h100"], False), (["h100"], True)):
        config["spec"]["karpenter"]["requirements"] = [{"key": "gpu", "operator": "In", "values": values}]
        (folder / "llmaz.yaml").write_text(yaml.safe_dump(config))
        done = llmaz("nodepools")
        assert (done.code, "[W792]" in done.err) == (0, warned)
        template = next(yaml.safe_load_all(done.out))["spec"]["template"]
        assert "metadata" not in template
        assert template["spec"]["requirements"][-1] == {"key": "gpu", "operator": "In", "values": values}


def test_what_is_wrong_with_the_input_is_said(folder: Path, llmaz: Llmaz) -> None:
    text = (folder / "chat.yaml").read_text("utf-8")
    (folder / "chat.yaml").write_text(text.replace("modelName: blue", "modelName: bleu"))
    done = llmaz("nodepools", "-o", "nodes.yaml")
    assert (done.code, done.out) == (2, "")
    assert "no OpenModel is named 'bleu' [E203]" in done.err
    assert done.err.endswith("1 error; nothing was written\n")
    assert not (folder / "nodes.yaml").exists()


def test_many_workloads_in_several_processes(folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same as in one."""
    model, app = yaml.safe_load_all((folder / "chat.yaml").read_text("utf-8"))
    apps = [{**app, "metadata": {"name": f"chat-{i}"}} for i in range(300)]
    (folder / "chat.yaml").write_text(yaml.safe_dump_all([model, *apps]))
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    one = llmaz("nodepools")
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert llmaz("nodepools").out == one.out
    assert "300 workloads" in one.err
    assert next(yaml.safe_load_all(one.out))["spec"]["limits"] == {"nvidia.com/gpu": "600"}
