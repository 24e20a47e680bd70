"""What the program says and answers with, command by command. Rendering itself is in cases/ and test_robustness.py."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from renderer import __version__, cli, load
from tests.paths import ROOT, TESTS

if TYPE_CHECKING:
    from tests.conftest import Llmaz

PRESETS = ROOT / "presets"
FOLDERS = ("backends", "models", "loaders", "pickers")
SHIPPED = [
    f"{folder}/{name}" for folder in FOLDERS for name in sorted(p.stem for p in (PRESETS / folder).glob("*.yaml"))
]
KINDS = [
    *("BackendRuntime", "InferenceModel", "ModelRoute", "OpenModel", "Playground", "RenderConfig", "RenderPolicy"),
    "Service",
]
PLAYGROUND = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {{name: chat}}
spec:
  replicas: {replicas}
  servedModelName: chat
  modelClaim: {{modelName: qwen3-0--6b-gguf}}
  backendRuntimeConfig: {{backendName: llamacpp}}
"""
WARNED = PLAYGROUND.format(replicas=2) + "  elasticConfig: {maxReplicas: 2, scaleTrigger: {hpa: {}}}\n"
CATALOG = """\
apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderConfig
metadata: {{name: config}}
spec:
  flavors:
    first: {{nodeSelector: {{gpu: a}}}}
    second: {{nodeSelector: {{gpu: b}}}}
    third: {{nodeSelector: {{gpu: c}}}}
  environments:
    dev: {{}}
    prod: {{playgrounds: {{chat: {{modelClaim: {{inferenceFlavors: {claimed}}}}}}}}}
"""

CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"


def commands(group: click.Command = cli.cli, *names: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command by its words."""
    yield names, group
    if isinstance(group, click.Group):
        for name in group.list_commands(folder := click.Context(group)):
            command = group.get_command(folder, name)
            assert command is not None
            yield from commands(command, *names, name)


COMMANDS = dict(commands())


# --- help


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help(words: tuple[str, ...], llmaz: Llmaz) -> None:
    long, short = llmaz(*words, "--help"), llmaz(*words, "-h")
    assert (long.code, long.err) == (0, "")
    assert long == short
    assert long.out.startswith(f"Usage: {' '.join(['llmaz', *words])} [")
    assert max(map(len, long.out.splitlines())) <= 100


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_and_option_is_explained(words: tuple[str, ...]) -> None:
    command = COMMANDS[words]
    assert (command.help or "").rstrip().endswith(".")
    silent = [option.name for option in command.params if isinstance(option, click.Option) and not option.help]
    assert silent == []


def test_help_tells_the_exit_codes(llmaz: Llmaz) -> None:
    out = " ".join(llmaz("--help").out.split())
    codes = (
        "0: fine. 1: stale files (render --check), differences (diff --exit-code), fields that are "
        "lost or unexplained (adopt, diff --live --strict), what breaks (upgrade). 2: invalid input or usage. "
        "3: internal fault"
    )
    assert f"Exit codes. {codes}." in out


def test_the_options_that_read_input_are_alike() -> None:
    of = {
        words: {option.opts[0]: option.to_info_dict() for option in COMMANDS[words,].params}
        for words in ("render", "validate")
    }
    assert of["validate"].items() <= of["render"].items()
    assert set(of["render"]) - set(of["validate"]) == {"--to", "-o", "--check", "--stdout", "--kubeconform"}


@pytest.mark.parametrize("command", ["render", "validate", "check .", "diff"])
def test_an_unset_variable_is_no_policy_of_the_tree(command: str, folder: Path, llmaz: Llmaz) -> None:
    done = llmaz(*command.split(), "--policy", "")
    assert done.code == 2
    assert "--policy has no value" in done.err


def test_version(llmaz: Llmaz) -> None:
    assert llmaz("--version") == (0, f"llmaz {__version__}\n", "")


def test_help_loads_nothing_but_click() -> None:
    code = "import sys; from renderer import cli; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert {"click", "renderer"} <= loaded
    assert loaded & {"yaml", "jinja2", "jsonschema", "jsonschema_rs", "subprocess", "fractions"} == set()


def test_a_model_with_vllm_needs_neither_jinja_nor_pyyaml(tmp_path: Path) -> None:
    """Each of them takes a fifth of the time that ten models take."""
    (tmp_path / "chat.yaml").write_text(
        "apiVersion: inference.llmaz.io/v1alpha1\nkind: Playground\nmetadata: {name: chat}\n"
        "spec:\n  replicas: 2\n  modelClaim: {modelName: qwen3-8b}\n"
    )
    code = (
        "import sys; from renderer import cli\n"
        "try: cli.run(['render', '.'])\n"
        "except SystemExit: print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (tmp_path / "rendered" / "default" / "chat.yaml").is_file()
    assert set(run.stdout.split()) & {"jsonschema_rs", "yaml", "jinja2"} == {"jsonschema_rs"}


@pytest.mark.parametrize(
    ("args", "end"),
    [
        ("render --outpt x", "No such option '--outpt': did you mean '--output'?"),
        (
            "validate --enviroment prod",
            "No such option '--enviroment': --env NAME chooses an environment of RenderConfig",
        ),
        ("render --quiet", "No such option '--quiet'."),
        ("diff --format md", "'md' is not one of 'text', 'markdown', 'json'. Did you mean 'markdown'?"),
        ("diff --format jsn", "'jsn' is not one of 'text', 'markdown', 'json'. Did you mean 'json'?"),
        ("init --ci githab", "'githab' is not one of 'github', 'gitlab', 'none'. Did you mean 'github'?"),
        ("init --ci jenkins", "'jenkins' is not one of 'github', 'gitlab', 'none'."),
    ],
)
def test_an_option_or_value_that_is_misspelt_is_near_to_one(args: str, end: str, llmaz: Llmaz) -> None:
    assert llmaz(*args.split()).err.splitlines()[-1].endswith(end)


@pytest.mark.parametrize(
    "args",
    [
        *("nonsense", "render --nonsense", "render --format xml", "render --check --stdout"),
        *("check", "presets show", "schema a b"),
    ],
)
def test_wrong_usage(args: str, folder: Path, llmaz: Llmaz) -> None:
    done = llmaz(*args.split())
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Usage: llmaz ")
    assert "\nError: " in done.err
    assert list(folder.iterdir()) == []


# --- presets


def test_presets_list(llmaz: Llmaz) -> None:
    done = llmaz("presets", "list")
    assert (done.code, done.err) == (0, "")
    folder, listed = "", {}
    for line in done.out.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            folder = line.removesuffix(":")
        else:
            name, what = line.split(maxsplit=1)
            listed[f"{folder}/{name}"] = what
    assert list(listed) == SHIPPED
    for name, text in listed.items():
        if name.startswith("models/"):
            continue
        what, _, known = text.partition(" ")
        has_list = "list" in load.preset(name).value["spec"].get("engine", {}).get("options", {})
        assert known.startswith("(options of ") == has_list
        assert ("released " in known) == (folder == "backends" or name.startswith("backends/"))
        spec = load.preset(name).value["spec"]
        assert what == f"{spec['image']}:{spec['version']}"


def test_presets_list_says_what_models_are(llmaz: Llmaz) -> None:
    lines = llmaz("presets", "list").out.splitlines()
    listed = lines[lines.index("models:") + 1 : lines.index("loaders:")]
    assert len(listed) == sum(name.startswith("models/") for name in SHIPPED)
    for line in listed:
        name, kind, parameters, *size, source = line.split()
        spec = load.preset(f"models/{name}").value["spec"]
        facts, hub = spec["facts"], spec["source"]["modelHub"]
        assert (kind, parameters) == (facts["kind"], facts.get("parameters", "–"))
        assert size == ([str(facts["weightsGiB"]), "GiB"] if "weightsGiB" in facts else ["–"])
        assert source == "/".join(filter(None, (hub["modelID"], hub.get("filename"))))


@pytest.mark.parametrize("name", SHIPPED)
def test_presets_show(name: str, llmaz: Llmaz) -> None:
    text = (PRESETS / f"{name}.yaml").read_text("utf-8")
    for argument in (name, name.partition("/")[2]):
        done = llmaz("presets", "show", argument)
        assert (done.code, done.out) == (0, text)
        # Of a model whose repository is named without a commit, that what it loads may change.
        assert done.err.count("\n") == (2 if "modelHub:" in text and "revision:" not in text else 0)
        assert not done.err or f"hint: llmaz presets vendor {argument} writes a copy" in done.err


@pytest.mark.parametrize("name", ["lamacpp", "../accelerators", "accelerators", "backends/", "BACKENDS/llamacpp", ""])
def test_no_such_preset(name: str, llmaz: Llmaz) -> None:
    done = llmaz("presets", "show", name)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"no preset is named '{name}'; ")
    assert name != "lamacpp" or done.err.endswith("did you mean 'llamacpp'?\n1 error\n")


def test_a_preset_of_two_kinds(llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("renderer.load.preset_files.preset_names", lambda folder: ["same"] if folder[0] in "bm" else [])
    done = llmaz("presets", "show", "same")
    assert done == (2, "", "'same' is ambiguous: it may be backends/same or models/same\n1 error\n")


# --- schema


def test_schema_list(llmaz: Llmaz) -> None:
    done = llmaz("schema")
    assert (done.code, done.err) == (0, "")
    assert set(done.out.split()) >= set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_schema(kind: str, llmaz: Llmaz) -> None:
    done = llmaz("schema", kind)
    assert done.code == 0
    assert json.loads(done.out)["title"] == kind
    assert llmaz("schema", kind.lower()) == llmaz("schema", kind.upper()) == done


def test_no_such_schema(llmaz: Llmaz) -> None:
    done = llmaz("schema", "Playgroud")
    assert done == (2, "", "no kind is named 'Playgroud'; did you mean 'Playground'?\n1 error\n")


# --- how problems are printed


def count(out: str, form: str) -> int:
    """How many problems the output holds."""
    if form == "json":
        return len(json.loads(out))
    if form == "sarif":
        return len(json.loads(out)["runs"][0]["results"])
    return len(out.splitlines())


@pytest.mark.parametrize("form", ["json", "github", "sarif"])
@pytest.mark.parametrize("command", ["validate", "render --check", "render"])
@pytest.mark.parametrize(("text", "problems"), [(PLAYGROUND.format(replicas=-1), 1), (WARNED, 2), (None, 1)])
def test_machines_get_all_on_stdout(
    text: str | None, problems: int, command: str, form: str, folder: Path, llmaz: Llmaz
) -> None:
    path = "chat.yaml" if text else "nowhere.yaml"
    if text:
        (folder / path).write_text(text)
    done = llmaz(*command.split(), "--format", form, path)
    stale = text == WARNED and "--check" in command
    assert count(done.out, form) == problems + stale
    assert path in done.out
    assert ("rendered/default/chat.yaml" in done.out) == stale
    assert (done.code, done.err) == (int(stale) if text == WARNED else 2, "")


def test_machines_hear_what_is_stale(folder: Path, llmaz: Llmaz) -> None:
    for name in ("a", "b", "c"):
        (folder / f"{name}.yaml").write_text(PLAYGROUND.format(replicas=1).replace("chat", name))
    assert llmaz("render").code == 0
    (folder / "rendered/default/a.yaml").unlink()
    (folder / "b.yaml").write_text(PLAYGROUND.format(replicas=2).replace("chat", "b"))
    (folder / "c.yaml").unlink()
    done = llmaz("render", "--check", "--format", "json")
    assert (done.code, done.err) == (1, "")
    assert [
        (diagnostic["file"], diagnostic["code"], diagnostic["severity"]) for diagnostic in json.loads(done.out)
    ] == [
        ("rendered/default/a.yaml", "E127", "error"),
        ("rendered/default/b.yaml", "E126", "error"),
        ("rendered/default/c.yaml", "E128", "error"),
    ]
    (folder / "b.yaml").write_text(PLAYGROUND.format(replicas=-1).replace("chat", "b"))
    done = llmaz("render", "--check", "--format", "json")
    assert (done.code, [diagnostic["file"] for diagnostic in json.loads(done.out)]) == (2, ["b.yaml"])


@pytest.mark.parametrize("form", ["json", "github", "sarif"])
def test_machines_hear_of_nothing_wrong(form: str, folder: Path, llmaz: Llmaz) -> None:
    (folder / "chat.yaml").write_text(PLAYGROUND.format(replicas=1))
    done = llmaz("validate", "--format", form)
    assert (done.code, done.err, count(done.out, form)) == (0, "", 0)
    assert llmaz("render", "--format", form)[:2] == (0, done.out)
    assert llmaz("check", "--format", form, "rendered")[:2] == (0, done.out)


@pytest.mark.parametrize("form", ["json", "github", "sarif"])
def test_check_speaks_to_machines_too(form: str, folder: Path, llmaz: Llmaz) -> None:
    (folder / "x.yaml").write_text(
        CONFIG_MAP.replace("ConfigMap", "Service") + "spec: {clusterIP: ''}\n---\n- no object\n"
    )
    done = llmaz("check", "--format", form, "x.yaml")
    assert (done.code, done.err, count(done.out, form)) == (2, "", 2)
    done = llmaz("check", "--format", form, "nowhere")
    assert (done.code, done.err, count(done.out, form)) == (2, "", 1)


def test_people_get_it_on_stderr(folder: Path, llmaz: Llmaz) -> None:
    (folder / "chat.yaml").write_text(WARNED)
    done = llmaz("validate")
    assert (done.code, done.out) == (0, "")
    assert [line.split(":")[0] for line in done.err.splitlines() if not line.startswith("    ")] == [
        *("chat.yaml", "chat.yaml"),
        "1 app, 7 objects",
    ]
    strict = llmaz("validate", "--strict")
    assert strict.code == 2
    assert strict.err.endswith("\n2 errors\n")


# --- words for people


def test_what_a_stale_folder_lacks(folder: Path, llmaz: Llmaz) -> None:
    for name in ("a", "b", "c"):
        (folder / f"{name}.yaml").write_text(PLAYGROUND.format(replicas=1).replace("chat", name))
    assert llmaz("render").code == 0
    (folder / "rendered/default/a.yaml").unlink()
    (folder / "b.yaml").write_text(PLAYGROUND.format(replicas=2).replace("chat", "b"))
    (folder / "c.yaml").unlink()
    assert llmaz("render", "--check") == (
        1,
        "",
        "rendered/default/a.yaml: missing\n"
        "rendered/default/b.yaml: stale\n"
        "rendered/default/c.yaml: to be deleted\n"
        "rendered/ is stale; run llmaz render\n",
    )
    assert llmaz("render").err == "2 apps, 13 objects → rendered/: 1 new, 1 changed, 0 unchanged, 1 deleted\n"
    assert llmaz("render", "--check").err == "2 apps, 13 objects: rendered/ is up to date\n"


ALIKE = (  # a command with notes that are alike: their code, and how many there are
    (("validate", "cases/scalers-of-others/input"), "N350", 3),
    (("routes", "cases/scalers-of-others/input"), "N350", 3),
    (("nodepools", "cases/scalers-of-others/input"), "N350", 3),
    (("check", "errors/E431-engines-in-values-of-charts"), "N517", 5),
)


@pytest.mark.parametrize(("words", "code", "count"), ALIKE, ids=lambda value: str(value))
def test_alike_notes_are_printed_once(words: tuple[str, ...], code: str, count: int, llmaz: Llmaz) -> None:
    command, place = words
    whole = llmaz(command, "-v", TESTS / place)
    assert whole.err.count(f"[{code}]") == count
    assert "more: -v" not in whole.err
    brief = llmaz(command, TESTS / place)
    assert brief.err.count(f"[{code}]") == 1
    assert f"\n    and {count - 1} more: -v\n" in brief.err
    assert (brief.code, brief.out) == (whole.code, whole.out)


@pytest.mark.parametrize("form", ["json", "sarif", "github", "gitlab"])
def test_machines_get_each_of_alike_notes(form: str, llmaz: Llmaz) -> None:
    done = llmaz("validate", "--format", form, TESTS / "cases/scalers-of-others/input")
    assert done.out.count("owns the number of replicas") == 3
    assert "more: -v" not in done.out + done.err


def test_notes_of_one_code_that_say_different_things_are_all_printed(llmaz: Llmaz) -> None:
    done = llmaz("validate", TESTS / "cases/version-llamacpp/input")
    assert done.err.count("[N448]") == 6
    assert "more: -v" not in done.err


def test_verbose_check_tells_what_nearly_every_tree_has(llmaz: Llmaz) -> None:
    place = TESTS / "errors/N472-what-a-rollout-may-change"
    quiet, verbose, strict = (llmaz("check", *words, place) for words in ((), ("-v",), ("-v", "--strict")))
    assert "[N472]" not in quiet.err
    assert verbose.err.count("[N472]") == strict.err.count("[N472]") > 1


def test_flavors_that_nothing_uses_are_told_when_asked(folder: Path, llmaz: Llmaz) -> None:
    place = TESTS / "cases/flavor-catalog/input"
    without = ("--set", "gateway.mode=off", place)
    quiet, verbose, strict = (llmaz("validate", *words, *without) for words in ((), ("-v",), ("--strict",)))
    assert "[N914]" not in quiet.err + strict.err
    assert verbose.err.count("[N914]") == 1
    assert "spec.flavors.nobody-asks-for-it" in verbose.err
    assert llmaz("render", "-v", "-o", "out", *without).err.count("[N914]") == 1
    machine = llmaz("validate", "--format", "json", *without)
    codes = [(entry["code"], entry["severity"]) for entry in json.loads(machine.out) if entry["code"] != "N482"]
    assert codes == [("N914", "note")]


@pytest.mark.parametrize(
    ("claimed", "unused"), [("[first]", "'second' and 'third'"), ("[second]", "'third'"), ("[second, third]", "")]
)
def test_a_flavor_that_one_environment_uses_is_in_use(claimed: str, unused: str, folder: Path, llmaz: Llmaz) -> None:
    claim = "  modelClaim: {modelName: qwen3-8b, inferenceFlavors: [first]}\n"
    (folder / "chat.yaml").write_text(PLAYGROUND.partition("  replicas")[0].format() + claim)
    (folder / "llmaz.yaml").write_text(CATALOG.format(claimed=claimed))
    lines = llmaz("validate", "-v").err.splitlines()
    notes = [line.rpartition("catalog: ")[2] for line in lines if "[N914]" in line]
    assert notes == ([f"{unused} [N914]"] if unused else [])
    for part in ("--env", "dev"), ("chat.yaml",):  # the rest may use them
        assert "[N914]" not in llmaz("validate", "-v", *part).err


def test_verbose_counts_what_was_left_alone(folder: Path, llmaz: Llmaz) -> None:
    (folder / "chat.yaml").write_text(PLAYGROUND.format(replicas=1) + "---\n" + CONFIG_MAP)
    quiet, verbose = llmaz("render", "--check"), llmaz("render", "--check", "-v")
    assert verbose == (quiet.code, quiet.out, f"{quiet.err}ignored: 1 document of other kinds\n")


def test_check_says_what_it_does_not_know(folder: Path, llmaz: Llmaz) -> None:
    (folder / "x.yaml").write_text(
        "---\n".join([CONFIG_MAP.replace("v1", "a.b/v1"), CONFIG_MAP.replace("v1", "a.b/v1")])
    )
    stderr = "not checked, no schema: a.b/v1/ConfigMap (2 objects)\n0 objects checked, 0 errors\n"
    assert llmaz("check", "x.yaml") == (0, "", stderr)
    assert llmaz("check", "--strict", "x.yaml") == (2, "", stderr.replace("0 errors", "2 errors"))


# --- standard input ---------------------------------------------------------------------------------------------------

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: llm, namespace: x}
spec:
  selector: {matchLabels: {app: llm}}
  template:
    metadata: {labels: {app: llm}}
    spec:
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.33.0
          args: [Qwen/Qwen3-8B, --max-model-len, "4096"]
          resources: {limits: {nvidia.com/gpu: 1}}
"""


def pipe(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    """What a program before llmaz in a pipe writes."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_manifests_are_checked_from_a_pipe(folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, DEPLOYMENT.replace("max-model-len", "max-model-length").encode())
    done = llmaz("check", "-")
    assert done.code == 2
    assert done.err.startswith("standard input:12:33: spec.template.spec.containers[0].args[1]: vllm 0.33.0 has no ")
    (folder / "service.yaml").write_text(
        "apiVersion: v1\nkind: Service\nmetadata: {name: llm, namespace: x}\n"
        "spec: {selector: {app: llm}, ports: [{port: 80, targetPort: 8000}]}\n"
    )
    pipe(monkeypatch, DEPLOYMENT.encode())
    assert llmaz("check", "-", "service.yaml").err.endswith(
        "2 objects checked, 1 engine among 1 container with accelerators, 0 errors\n"
    )


def test_workloads_are_adopted_from_a_pipe(folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, DEPLOYMENT.encode())
    assert llmaz("adopt", "-").code == 0
    assert list((folder / "adopted").glob("llm*.yaml"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "-: nothing to check: no Kubernetes object in 1 file [E125]"),
        (b"a: [", "standard input:2:1: "),
        (b"\xff\xfe\x00", "standard input"),
        (b" " * (2**24 + 1), "standard input: cannot be read: it has 16,777,217 bytes, at most 16,777,216 are read"),
    ],
)
def test_a_pipe_with_something_else(
    data: bytes, message: str, folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe(monkeypatch, data)
    done = llmaz("check", "-")
    assert (done.code, done.err[: len(message)]) == (2, message)
