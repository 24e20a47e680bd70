"""What hostile input can make llmaz work on: seconds, some hundred megabytes, then an error with the number.

Each run is a process of its own with a limit on its memory and a generous one on its time (docs/security.md).
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.inputs import CONFIG, backend_runtime, playground
from tests.paths import ROOT

MEMORY = 1 << 30  # bytes of address space, code and libraries included
SECONDS = 60  # of a machine that is busy with other things
CPU = 20  # seconds of a processor for what takes one to five alone
PLAYGROUND = playground("chat", "demo") + "  backendRuntimeConfig:\n    backendName: llamacpp\n"
PLAYGROUND_OF = "apiVersion: inference.llmaz.io/v1alpha1\nkind: Playground\n"
MODEL = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {{name: {name}}}
spec: {{familyName: x, source: {{modelHub: {{modelID: {repository}}}}}}}
"""
GATEWAY = "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\n"


def run(*words: str) -> tuple[int, str]:
    """Exit status and what was printed; a run that takes too long or too much memory is a failure of the test."""

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU))

    done = subprocess.run(
        [sys.executable, "-c", "from renderer.cli import main; main()", *words],
        capture_output=True,
        timeout=SECONDS,
        check=False,
        preexec_fn=bound,
    )
    return done.returncode, (done.stdout + done.stderr).decode("utf-8")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository, the current folder, with one Playground."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "chat.yaml").write_text(PLAYGROUND)
    return tmp_path


def commit(folder: Path) -> None:
    """A first commit of the folder."""
    (folder / ".git").rmdir()
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
        subprocess.run(["git", *words], check=True)


def refused(code: str, *words: str) -> str:
    """What the run says, which is this code, and no internal fault."""
    status, text = run(*(words or ("validate",)))
    assert status == 2, text[-600:]
    assert f"[{code}]" in text, text[-600:]
    return text


# --- patterns and templates


@pytest.mark.parametrize("pattern", ["^(a+)+$", "(a|aa)+$", "(.*)*x", "((a{100}){100}){100}"])
def test_a_version_is_found_in_linear_time(pattern: str, folder: Path) -> None:
    tag = "a" * 60 + "!"
    options = f"{{style: argparse, list: o-1.0.txt, version: '{pattern}'}}"
    (folder / "a.yaml").write_text(backend_runtime(options, version=f'"{tag}"'))
    status, text = run("validate")
    assert status == 2
    assert "E901" not in text


@pytest.mark.parametrize(
    "template",
    [
        "{{ 'a' * 3000000000 }}",
        "{{ '%2000000000d' % 1 }}",
        "{{ ModelName|replace('e', 'e' * 9999)|replace('e', 'e' * 9999)|replace('e', 'e' * 9999) }}",
        "{{ " + " * ".join(["9999999999"] * 900) + " }}",
        "{{ " + "(" * 900 + "1" + ")" * 900 + " }}",
        "{{ ModelName }}" * 20_000,
    ],
)
def test_a_template_makes_no_more_than_a_bound(template: str, folder: Path) -> None:
    (folder / "a.yaml").write_text(backend_runtime("{style: none}", f'"{template}"'))
    (folder / "chat.yaml").write_text(PLAYGROUND.replace("llamacpp", "mine"))
    assert "E901" not in refused("E420")


def test_a_condition_likewise(folder: Path) -> None:
    text = backend_runtime("{style: none}") + "    derived: []\n"
    text = text.replace(
        "engine: {options: {style: none}}\n    derived: []",
        "engine: {options: {style: none}, derived: [{when: \"'a' * 3000000000 == 'x'\", args: [--b]}]}",
    )
    (folder / "a.yaml").write_text(text)
    (folder / "chat.yaml").write_text(PLAYGROUND.replace("llamacpp", "mine"))
    refused("E420")


@pytest.mark.parametrize("key", ["ignore", "passThrough"])
@pytest.mark.parametrize("glob", ["**/" * 8 + "x", "*a" * 10 + "b", "?*" * 300])
def test_a_glob_is_matched_in_linear_time(key: str, glob: str, folder: Path) -> None:
    (folder / "llmaz.yaml").write_text(f"{CONFIG}{{{key}: ['{glob}']}}\n")
    deep = folder.joinpath(*["a"] * 120)
    deep.mkdir(parents=True)
    (deep / "y.yaml").write_text("a: 1\n")
    (folder / ("a" * 120 + ".yaml")).write_text("a: 1\n")
    assert run("validate")[0] == 0


# --- values


def test_a_quantity_of_many_digits(folder: Path) -> None:
    for digits in ("1" * 20_000 + "x", "9" * 20_000, "1e999999999", "0." + "1" * 20_000):
        (folder / "chat.yaml").write_text(f'{PLAYGROUND}    resources: {{limits: {{cpu: "{digits}"}}}}\n')
        status, text = run("validate")
        assert (status, "E901" in text) == (2, False), digits[:20]


def test_a_long_value_that_does_not_fit_is_explained_at_once(folder: Path) -> None:
    (folder / "chat.yaml").write_text(f'{PLAYGROUND}  servedModelName: "{"a" * 60_000}\\x01"\n')
    assert run("validate")[0] == 2


def test_a_variable_with_a_long_name_in_a_comparison(folder: Path) -> None:
    commit(folder)
    (folder / "chat.yaml").write_text(f"{PLAYGROUND}    envs: [{{name: {'_' * 20_000}, value: x}}]\n")
    status, text = run("diff")
    assert (status, "env ____" in text) == (0, True), text[-600:]


# --- files


def test_a_line_has_a_length(folder: Path) -> None:
    (folder / "chat.yaml").write_text(f"{PLAYGROUND}  servedModelName: {'a b ' * 2_000_000}\n")
    assert "bytes, at most 524,288 are read" in refused("E111")


def test_a_key_has_a_length(folder: Path) -> None:
    (folder / "chat.yaml").write_text(f"{PLAYGROUND}  ? {'k' * 5_000}\n  : 1\n")
    refused("E113")


def test_a_file_has_so_many_values(folder: Path) -> None:
    (folder / "many.yaml").write_text("# llmaz.io/\n" + "- a\n" * 700_000)
    refused("E112")


def test_aliases_expand_to_so_much_text(folder: Path) -> None:
    text = "apiVersion: llmaz.io/v1alpha1\nkind: OpenModel\na: &a " + "x" * 100_000 + "\nb: [" + "*a, " * 90 + "*a]\n"
    (folder / "m.yaml").write_text(text)
    refused("E114")


def test_so_many_problems_of_a_file_are_told(folder: Path) -> None:
    (folder / "bad.yaml").write_text("# llmaz.io/\n" + "".join(f"a{i}: {{x: 1, x: 2}}\n" for i in range(400)))
    refused("E115")


def test_so_many_problems_of_an_object_are_told(folder: Path) -> None:
    (folder / "chat.yaml").write_text(PLAYGROUND + "".join(f"  odd{i}: 1\n" for i in range(1_500)))
    refused("E116")


@pytest.mark.parametrize("form", ["text", "json", "github"])
def test_so_many_unknown_arguments_are_told(form: str, folder: Path) -> None:
    """The bound holds for what rules find as well, where no schema does."""
    arguments = "".join(f"    - --odd-{i}\n" for i in range(30_000))
    (folder / "chat.yaml").write_text(f"{PLAYGROUND}    args:\n{arguments}")
    text = refused("E430", "validate") if form == "text" else run("validate", "--format", form)[1]
    code = {"text": "[%s]\n", "json": '"code": "%s"', "github": "title=llmaz %s::"}[form]
    assert text.count(code % "E430") == 1_000
    assert text.count(code % "E116") == 1


def test_so_many_warnings_of_an_object_are_told(folder: Path) -> None:
    """They do not make the run fail: a valid object stays valid."""
    repeated = "--ctx-size, '1024', " * 3_000
    (folder / "chat.yaml").write_text(f"{PLAYGROUND}    args: [{repeated}]\n".replace("', ", "',\n      "))
    status, text = run("validate")
    assert status == 0, text[-600:]
    assert text.count("[W434]") == 1_000
    assert text.count("[W117]") == 1


def test_so_many_items_of_a_list_of_ours_are_taken(folder: Path) -> None:
    """Lists of the operator's own fields are taken whole."""
    arguments = ", ".join(["--log-disable"] * 3_000)
    model = MODEL.format(name="m", repository="a/b").replace(
        "source:", f"engines: {{vllm: {{args: [{arguments}]}}}}, source:"
    )
    (folder / "m.yaml").write_text(model)
    assert "at most 1000 items are allowed" in refused("E307")


def test_so_many_environments_are_rendered(folder: Path) -> None:
    names = ", ".join(f"e{i}: {{}}" for i in range(1_000))
    (folder / "llmaz.yaml").write_text(f"{CONFIG}{{environments: {{{names}}}}}\n")
    refused("E160")


# --- many of a kind


def test_a_name_that_many_misspell(folder: Path) -> None:
    """One misspelt name, and as many of their own; what is meant is looked for once a name."""
    for one in (True, False):
        texts = []
        for i in range(1_000):
            claimed = "modell-number-00007" if one else f"modell-number-{i:05}"
            texts.append(MODEL.format(name=f"model-number-{i:05}", repository=f"a/b{i}"))
            texts.append(f"{PLAYGROUND_OF}metadata: {{name: p{i}}}\nspec: {{modelClaim: {{modelName: {claimed}}}}}\n")
        (folder / "m.yaml").write_text("---\n".join(texts))
        assert "did you mean" in refused("E203")


def volumes(count: int) -> str:
    named = ", ".join(f"{{name: v{i}, emptyDir: {{}}}}" for i in range(count))
    mounts = ", ".join(f"{{name: v{i}, mountPath: /m/{i}}}" for i in range(count))
    runner = f"{{name: model-runner, volumeMounts: [{mounts}]}}"
    return f"  podTemplate: {{spec: {{volumes: [{named}], containers: [{runner}]}}}}\n"


def variables(count: int) -> str:
    named = ", ".join(f"{{name: V{i}, value: $(V{i + 1})}}" for i in range(count))
    return f"    envs: [{named}]\n"


@pytest.mark.parametrize("many", [volumes, variables])
def test_many_of_a_kind(many: Callable[[int], str], folder: Path) -> None:
    (folder / "chat.yaml").write_text(PLAYGROUND + many(3_000))
    status, text = run("validate")
    assert (status, text) == (0, "1 app, 6 objects: valid\n")


def test_changed_variables(folder: Path) -> None:
    """Of each side by name, and not by a look through the other side for each."""
    for change in ("name: V", "name: W"):
        named = ", ".join(f"{{{change}{i}, value: x}}" for i in range(20_000))
        (folder / "chat.yaml").write_text(f"{PLAYGROUND}    envs: [{named}]\n".replace(", {", ",\n      {"))
        if change == "name: V":
            commit(folder)
    status, text = run("diff")
    assert status == 0, text[-600:]
    assert "env W19999" in text


def test_changed_secrets_in_a_list(folder: Path) -> None:
    for word in ("old", "new"):
        args = ",\n    ".join(f"'--x-{i}=https://{word}{i}:password@host'" for i in range(8_000))
        side = f"{{name: side, image: 'example.com/a:1', args: [{args}]}}"
        (folder / "chat.yaml").write_text(f"{PLAYGROUND}  podTemplate: {{spec: {{containers: [{side}]}}}}\n")
        if word == "old":
            commit(folder)
    status, text = run("diff")
    assert status == 0, text[-600:]
    assert "<hidden, another one>@host" in text
    assert ":password@" not in text


def test_many_adapters(folder: Path) -> None:
    """Each public name is looked for in the words of the command line, which are split once."""
    count = 6_000
    claimed = "".join(f"    - {{name: l{i}, role: lora}}\n" for i in range(count))
    models = f"  modelClaims:\n    models:\n    - {{name: m}}\n{claimed}"
    config = "  backendRuntimeConfig: {backendName: vllm}\n"
    (folder / "chat.yaml").write_text(f"{PLAYGROUND_OF}metadata: {{name: chat}}\nspec:\n{models}{config}")
    texts = [
        MODEL.format(name="m", repository="a/b").replace(
            "source:", "inferenceConfig: {flavors: [{name: g, limits: {nvidia.com/gpu: 1}}]}, source:"
        )
    ]
    adapter = "source:", "facts: {adapter: {rank: 8}}, source:"
    texts += [MODEL.format(name=f"l{i}", repository=f"a/l{i}").replace(*adapter) for i in range(count)]
    (folder / "m.yaml").write_text("---\n".join(texts))
    refused("E626")


def test_many_globs_of_files(folder: Path) -> None:
    globs = "".join(f"    - c?{i}[a-z]*\n" for i in range(200_000))
    source = f"  familyName: x\n  source:\n   modelHub:\n    modelID: a/b\n    allowPatterns:\n{globs}"
    flavors = "  inferenceConfig: {flavors: [{name: g, limits: {nvidia.com/gpu: 1}}]}\n"
    model = f"apiVersion: llmaz.io/v1alpha1\nkind: OpenModel\nmetadata: {{name: m}}\nspec:\n{flavors}{source}"
    claim = "spec: {modelClaim: {modelName: m}, backendRuntimeConfig: {backendName: vllm}}\n"
    (folder / "chat.yaml").write_text(f"{PLAYGROUND_OF}metadata: {{name: chat}}\n{claim}---\n{model}")
    status, text = run("validate")
    assert (status, "[W225]" in text) == (0, True), text[-600:]


def test_many_findings_about_rendered_fields(folder: Path) -> None:
    """The origins of an object's fields are worked out once for all of them."""
    limits = ", ".join(f"a{i}: 1" for i in range(10_000))
    (folder / "chat.yaml").write_text(f"{PLAYGROUND}    resources: {{limits: {{{limits}}}}}\n")
    refused("E116")


def test_a_dump_of_many_objects(folder: Path) -> None:
    """Of which one is about serving."""
    (folder / "chat.yaml").rename(folder / "tree.yaml")
    (folder / "dump").mkdir()
    for file in range(10):
        bodies = "".join(
            f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m{file}-{i}}}\n" for i in range(10_000)
        )
        (folder / "dump" / f"{file}.yaml").write_text(bodies)
    group = "  leaderWorkerTemplate: {workerTemplate: {spec: {containers: [{name: model-runner, image: x}]}}}\n"
    owner = "{apiVersion: inference.llmaz.io/v1alpha1, kind: Service, name: chat, uid: u}"
    fields = "{manager: llmaz, operation: Apply, fieldsV1: {}}"
    metadata = f"metadata: {{name: chat, namespace: demo, ownerReferences: [{owner}], managedFields: [{fields}]}}\n"
    text = f"apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\n{metadata}spec:\n{group}"
    (folder / "dump" / "model.yaml").write_text(text)
    status, text = run("cutover", "dump", "--", "tree.yaml")
    assert (status, "RESTARTS as soon as it is synced: 1 pod, chat-0." in text) == (0, True), text[-600:]
    status, text = run("diff", "--live", "dump", "--", "tree.yaml")
    assert (status, "not compared: ConfigMap 100,000" in text) == (0, True), text[-600:]
    status, text = run("adopt", "dump", "-o", "adopted")
    assert (status, "and 99996 more" in text) == (2, True), text[-600:]


# --- schemas


@pytest.mark.parametrize(
    "schema", ['{"$ref": "file://%s/home.json#/secret"}', '{"type": "string", "pattern": "^(a+)+$"}']
)
def test_the_name_of_a_schema_is_no_path(schema: str, folder: Path) -> None:
    """A kind or a version with `..` in it is unknown, and no JSON of the tree is taken for its schema."""
    (folder / "home.json").write_text('{"secret": "SECRET"}')
    (folder / "evil").mkdir()
    text = schema % folder if "%s" in schema else schema
    (folder / "evil" / "thing_v1.json").write_text(f'{{"type": "object", "properties": {{"spec": {text}}}}}')
    version = f"gateway.networking.k8s.io/{'../' * 20}{str(folder).lstrip('/')}/evil/v1"
    (folder / "x.yaml").write_text(f"apiVersion: {version}\nkind: Thing\nmetadata: {{name: x}}\nspec: {'a' * 40}!\n")
    for words in (["render"], ["render", "--check"], ["check", "."]):
        status, printed = run(*words)
        assert status == 0, printed[-600:]
        assert "SECRET" not in printed
    assert f"not checked, no schema: {version}/Thing (1 object)" in printed


# --- internal faults


@pytest.mark.parametrize(
    ("text", "validated", "checked"),
    [
        (
            PLAYGROUND
            + "  podTemplate: {spec: {containers: [{name: model-runner, volumeMounts: [{mountPath: /x}]}]}}\n",
            "spec.podTemplate.spec.containers[0].volumeMounts[0]: the field 'name' is missing [E302]",
            "",
        ),
        (
            PLAYGROUND + GATEWAY + "metadata: {name: g, namespace: {a: b}}\nspec: {}\n",
            "",
            "metadata.namespace: a string is needed, this is a map [E303]",
        ),
        (PLAYGROUND + "---\napiVersion: example/v1\nkind: Odd\nmetadata: {name: g, namespace: [a]}\n", "", ""),
    ],
    ids=["no name", "a map", "no schema"],
)
def test_odd_types_are_no_faults_of_ours(text: str, validated: str, checked: str, folder: Path) -> None:
    """Where a schema knows the field it is refused; elsewhere it is nobody's business."""
    (folder / "chat.yaml").write_text(text)
    for words, refusal in ((["validate"], validated), (["check", "."], checked)):
        status, printed = run(*words)
        assert status == (2 if refusal else 0), printed
        assert refusal in printed
