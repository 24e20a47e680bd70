"""`llmaz presets learn`: from the warning that a version is unknown to checked options, and what is no help of it."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from renderer.engines.help_text import MAX_BYTES
from tests.engine_helps import USAGE, help_of, is_hidden, newest
from tests.inputs import CONFIG

if TYPE_CHECKING:
    from tests.conftest import Llmaz, Outcome

OFF = CONFIG + "{gateway: {mode: off}}\n"
NEWER = {"vllm": "9.0.0", "sglang": "9.0.0", "llamacpp": "b99999", "tgi": "9.0.0", "tensorrt-llm": "9.0.0"}


def chat(version: str, *args: str, backend: str = "vllm", name: str = "chat") -> str:
    return (
        f"apiVersion: inference.llmaz.io/v1alpha1\nkind: Playground\nmetadata: {{name: {name}}}\nspec:\n"
        f"  modelClaim: {{modelName: qwen3-8b}}\n"
        f"  backendRuntimeConfig: {{backendName: {backend}, version: {version}, args: [{', '.join(args)}]}}\n"
    )


def learn(llmaz: Llmaz, text: str, *words: str) -> Outcome:
    Path("help.txt").write_text(text, "utf-8")
    done = llmaz("presets", "learn", *words, "help.txt")
    Path("help.txt").unlink()
    return done


def below(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_from_the_warning_to_checked_options(folder: Path, llmaz: Llmaz) -> None:
    """A newcomer's walk: two options that 9.0.0 has, one that only older versions are known to have, and a mistake."""
    (folder / "llmaz.yaml").write_text(
        f"# ours\n{CONFIG.rstrip()}\n    gateway: {{mode: off}} # none\n".replace(" \n", "\n")
    )
    args = ("--brand-new", '"1"', "--max-num-seqs", '"4"', "--max-modell-len", '"8"', "--max-logprobs", '"2"')
    (folder / "chat.yaml").write_text(chat("v9.0.0", *args))
    before = llmaz("validate")
    assert [code for code in ("W400", "W430", "E430") if f"[{code}]" in before.err] == ["W400", "W430"]
    assert "vllm serve --help=all | llmaz presets learn vllm 9.0.0 -" in before.err
    done = learn(llmaz, help_of("vllm", "--brand-new N", without=("--max-logprobs",)), "vllm", "v9.0.0")
    assert done.code == 0
    assert done.out == ""
    assert (
        folder / "llmaz.yaml"
    ).read_text() == f"# ours\n{CONFIG.rstrip()}\n    optionLists: flags\n    gateway: {{mode: off}} # none\n"
    lines = done.err.splitlines()
    assert lines[0].startswith("flags/vllm-9.0.0.txt: 4")
    assert lines[0].endswith(" options of vllm; commit it")
    assert lines[1:3] == [
        "llmaz.yaml names its folder now: optionLists",
        "not in this help: 1 option of 0.33.0 (--max-logprobs)",
    ]
    assert [line.partition(": ")[2] for line in lines[3:-1:2]] == [
        "spec.backendRuntimeConfig.args[4]: vllm 9.0.0 has no option '--max-modell-len' [E430]",
        "warning: spec.backendRuntimeConfig.args[6]: the help of vllm 9.0.0 has no option '--max-logprobs' [W430]",
    ]
    assert lines[-1] == "1 app uses options that the help of 9.0.0 does not name"
    after = llmaz("validate")
    assert "W400" not in after.err
    assert after.code == 2
    (folder / "chat.yaml").write_text(chat("v9.0.0", "--brand-new", '"1"', "--max-num-seqs", '"4"'))
    assert llmaz("validate").err == "1 app, 2 objects: valid\n"
    shown = llmaz("presets", "show", "vllm", "--version", "v9.0.0").out
    assert ("  - --brand-new 1" in shown, "--max-logprobs" in shown) == (True, False)


@pytest.mark.parametrize("engine", NEWER)
def test_every_engine_that_has_options(folder: Path, llmaz: Llmaz, engine: str) -> None:
    """What is learnt of the newest version equals its list but for types."""
    done = learn(llmaz, help_of(engine), engine, NEWER[engine])
    assert done.code == 0, done.err
    assert "not in this help" not in done.err
    lines = (folder / "flags" / f"{engine}-{NEWER[engine]}.txt").read_text().splitlines()[2:]
    learnt = {name: line.split()[1] for line in lines if line[0] == "-" for name in line.split()[0].split(",")}
    assert learnt == {name: option.arity for name, option in newest(engine).items() if not is_hidden(engine, name)}
    assert (folder / "llmaz.yaml").read_text() == (
        "apiVersion: renderer.llmaz.io/v1alpha1\nkind: RenderConfig\nmetadata: {name: config}\n"
        "spec:\n  optionLists: flags\n"
    )
    again = learn(llmaz, help_of(engine), engine, NEWER[engine])
    assert (again.code, below(folder)) == (0, [f"flags/{engine}-{NEWER[engine]}.txt", "llmaz.yaml"])
    assert "names its folder" not in again.err


def test_json(folder: Path, llmaz: Llmaz) -> None:
    """What the help says of an option's value itself is certain; what only 0.33.0 is known to refuse is not."""
    tip = "Should either be a valid JSON string or\n                        JSON keys passed individually."
    args = ("--tiers", "x", "--profiler-config", '\'{"profilr": "torch"}\'', "--max-num-seqs", "many")
    (folder / "chat.yaml").write_text(chat("v9.0.0", *args))
    done = learn(llmaz, help_of("vllm", f"--tiers TIERS   How many. {tip}"), "vllm", "9.0.0")
    assert "\n--tiers 1 json\n" in (folder / "flags" / "vllm-9.0.0.txt").read_text()
    assert [line.partition("args")[2] for line in done.err.splitlines() if "args[" in line] == [
        "[1]: vllm 9.0.0: '--tiers' needs JSON, not 'x' [E441]",
        "[3]: vllm 0.33.0 (the nearest known to 9.0.0): '--profiler-config' has no key 'profilr' [W477]",
        "[5]: vllm 0.33.0 (the nearest known to 9.0.0): '--max-num-seqs' needs a whole number, not 'many' [W441]",
    ]


def test_hand_written_manifests(folder: Path, llmaz: Llmaz) -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: d}\nspec:\n  containers:\n    - name: engine\n"
    pod += "      image: vllm/vllm-openai:v9.0.0\n      args: [--model, m, --brand-new, a, --brandnew, a]\n"
    (folder / "pod.yaml").write_text(pod)
    assert "E430" not in llmaz("check", "pod.yaml").err
    assert learn(llmaz, help_of("vllm", "--brand-new N"), "vllm", "9.0.0").code == 0
    done = llmaz("check", "pod.yaml")
    assert "args[4]: vllm 9.0.0 has no option '--brandnew' [E430]\n    hint: did you mean '--brand-new'?" in done.err
    assert "W430" not in done.err


def test_beside_a_backend_of_the_tree(folder: Path, llmaz: Llmaz) -> None:
    """A list lies beside the BackendRuntime of that name."""
    (folder / "backends").mkdir()
    (folder / "llmaz.yaml").write_text(OFF)
    assert llmaz("presets", "vendor", "vllm").code == 0
    (folder / "chat.yaml").write_text(chat("v9.0.0", "--brand-new", '"1"', "--brandnew", '"1"'))
    refused = learn(llmaz, help_of("vllm", "--brand-new N"), "vllm", "9.0.0")
    assert refused.code == 2
    assert refused.err == "llmaz.yaml: write optionLists: backends/flags into its spec, then run this again\n1 error\n"
    (folder / "llmaz.yaml").write_text(f"{CONFIG.rstrip()}\n  gateway: {{mode: off}}\n")
    done = learn(llmaz, help_of("vllm", "--brand-new N"), "vllm", "9.0.0")
    assert done.code == 0, done.err
    assert below(folder / "backends") == ["flags/vllm-9.0.0.txt", "vllm.yaml"]
    assert "optionLists: backends/flags\n" in (folder / "llmaz.yaml").read_text()
    assert "[E430]" in llmaz("validate").err


def test_beside_the_lists_of_a_backend_of_the_tree(folder: Path, llmaz: Llmaz) -> None:
    """Its other lists in that folder are none of those that are learnt, nor meant to be; files of nobody are told."""
    (folder / "backends" / "flags").mkdir(parents=True)
    (folder / "backends" / "tiny.yaml").write_text(
        "apiVersion: inference.llmaz.io/v1alpha1\nkind: BackendRuntime\nmetadata: {name: tiny}\n"
        "spec: {image: registry.example/tiny, version: 2.4.0, recommendedConfigs: [{name: default}], engine: {options: "
        "{style: argparse, list: flags/tiny.txt, version: '(\\d.\\d.\\d)'}}}\n"
    )
    for name, text in {"tiny": "versions 2.4.0\n", "tiny-2.3.0": "", "tiny.removed": "--old --model\n"}.items():
        (folder / "backends" / "flags" / f"{name}.txt").write_text(f"{text}--model 1\n")
    (folder / "llmaz.yaml").write_text(f"{CONFIG.rstrip()}\n  gateway: {{mode: off}}\n")
    (folder / "chat.yaml").write_text(chat("2.5.0", "--modl", "m", backend="tiny"))
    assert learn(llmaz, "usage: tiny [--model X]\n\n  --model X  Which.\n", "tiny", "2.5.0").code == 0
    assert "[E430]" in (err := llmaz("validate").err)
    assert "[E839]" not in err
    (folder / "backends" / "flags" / "tinny.txt").write_text("--model 1\n")
    assert "'backends/flags/tinny.txt' is no list of options: its first line is not" in llmaz("validate").err


def test_a_version_that_is_known(folder: Path, llmaz: Llmaz) -> None:
    (folder / "chat.yaml").write_text(chat("v0.33.0", "--brand-new", '"1"'))
    done = learn(llmaz, help_of("vllm"), "vllm", "v0.33.0")
    assert (done.code, below(folder)) == (0, ["chat.yaml"])
    assert done.err == "this release knows the options of vllm 0.33.0: nothing is written without --force\n"
    forced = learn(llmaz, help_of("vllm", "--brand-new N", without=("--max-logprobs",)), "vllm", "0.33.0", "--force")
    assert forced.code == 0
    assert "this release knows the version, and its own list counts" in forced.err
    assert "not in this help: 1 option of 0.33.0 (--max-logprobs)" in forced.err
    assert "not in the list of 0.33.0: 1 option (--brand-new)" in forced.err
    assert "another number of values" not in forced.err
    err = llmaz("validate", "--set", "gateway.mode=off").err
    assert "vllm 0.33.0 has no option '--brand-new' [E430]" in err
    assert "'flags/vllm-0.33.0.txt' is not needed: this release of llmaz knows the options of vllm 0.33.0" in err


def test_a_help_that_contradicts_our_list(folder: Path, llmaz: Llmaz) -> None:
    """What its own list lacks, and where it has another number of values: a few names, and how many there are."""
    further = [f"--brand-new-{i} X" for i in range(9)]
    counts = [f"{name} X X" for name in ("--max-num-seqs", "--max-logprobs")]
    text = help_of("vllm", *further, *counts, without=("--max-num-seqs", "--max-logprobs"))
    done = learn(llmaz, text, "vllm", "0.33.0", "--force")
    names = ", ".join(f"--brand-new-{i}" for i in range(5))
    numbers = "--max-num-seqs 2 in place of 1, --max-logprobs 2 in place of 1"
    assert done.err.splitlines()[2:] == [
        "this release knows the version, and its own list counts",
        f"not in the list of 0.33.0: 9 options ({names}, …)",
        f"with another number of values than in the list of 0.33.0: 2 options ({numbers})",
    ]
    newer = learn(llmaz, text, "vllm", "9.0.0")
    assert newer.code == 0
    assert "the list of" not in newer.err


def test_a_version_that_is_older(folder: Path, llmaz: Llmaz) -> None:
    """Between two that are listed, and before all of them, which the preset refuses."""
    for version, finding in (
        ("0.12.99", "vllm 0.12.99 has no option '--max-modell-len' [E430]"),
        ("0.5.0", "[E444]"),
    ):
        (folder / "chat.yaml").write_text(chat(f"v{version}", "--max-modell-len", '"1"'))
        done = learn(llmaz, help_of("vllm"), "vllm", version)
        assert done.code == 0, done.err
        assert finding in done.err


CUT = "usage: launch_server.py [--size SIZE] [--kind KIND]\n\noptions:\n  --size SIZE  words\n"


@pytest.mark.parametrize(
    ("words", "text", "reason"),
    [
        (("vllm", "9.0.0"), "", "no option of vllm stands in this text; save what 'vllm serve --help=all' prints"),
        (
            ("vllm", "9.0.0"),
            "{sglang}",
            "this is the help of another command, 'usage: launch_server.py [options]'; save",
        ),
        (
            ("sglang", "9.0.0"),
            "{vllm}",
            "this is the help of another command, 'usage: vllm serve [options]'; save what",
        ),
        (
            ("vllm", "9.0.0"),
            "usage: vllm [-h] {serve,bench} ...\n\n  -h, --help  x\n",
            "this is the help of another comm",
        ),
        (("vllm", "9.0.0"), "usage: vllm bench serve\n\n  --model X\n", "this is the help of another command, 'usage"),
        (
            ("vllm", "9.0.0"),
            "usage: vllm serve\n\nConfig Groups:\n  Frontend\n",
            "this help of vllm is not the whole one;",
        ),
        (
            ("sglang", "9.0.0"),
            CUT,
            "the help is cut: its usage names --kind, and no line explains it; save what 'python3",
        ),
        (
            ("llamacpp", "b99999"),
            "--version   x\n",
            "of 278 options of llamacpp b11434 this help names 1: it is cut, or",
        ),
        (
            ("ollama", "9.0.0"),
            "{vllm}",
            "ollama takes no options: it is configured by variables, so there is nothing to",
        ),
        (("vllmm", "9.0.0"), "{vllm}", "no backend is named 'vllmm'; did you mean 'vllm'?"),
        (("../vllm", "9.0.0"), "{vllm}", "no backend is named '../vllm'; did you mean 'vllm'?"),
        (
            ("vllm", "../../x"),
            "{vllm}",
            "'../../x' is not a version of vllm; write one such as 1.2.0, or an image's tag",
        ),
        (("vllm", "1/../../2"), "{vllm}", "'1/../../2' is not a version of vllm; write"),
        (("vllm", "latest"), "{vllm}", "'latest' is not a version of vllm; write"),
        (("vllm", "1\n2"), "{vllm}", "is not a version of vllm; write"),
        (("vllm", "1." * 40 + "1"), "{vllm}", "is not a version of vllm; write"),
    ],
)
def test_what_is_refused(folder: Path, llmaz: Llmaz, words: tuple[str, str], text: str, reason: str) -> None:
    engine = text.strip("{}")
    done = learn(llmaz, help_of(engine) if engine in USAGE else text, *words)
    assert (done.code, done.out, below(folder)) == (2, "", [])
    assert reason in done.err
    assert done.err.endswith("\n1 error\n")


def test_odd_bytes(folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of standard input no more is read than a help may have."""
    for data, reason in (
        (b"usage: vllm serve\n  --\xff X\n", "the help is not valid UTF-8, byte 22"),
        (b"  --a X\n" * MAX_BYTES, "the help has more than 1,048,576 bytes"),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        done = llmaz("presets", "learn", "vllm", "9.0.0", "-")
        assert (done.code, below(folder)) == (2, [])
        assert reason in done.err


def test_nothing_is_written_through_a_link(
    folder: Path, llmaz: Llmaz, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (folder / ".git").mkdir()
    (folder / "llmaz.yaml").write_text(f"{CONFIG.rstrip()}\n  optionLists: flags\n")
    os.symlink(outside, folder / "flags")
    done = learn(llmaz, help_of("vllm"), "vllm", "9.0.0")
    assert (done.code, below(outside)) == (2, [])
    assert "[E144]" in done.err
    (folder / "flags").unlink()
    (folder / "flags").mkdir()
    os.symlink(outside / "list", folder / "flags" / "vllm-9.0.0.txt")
    assert "[E144]" in learn(llmaz, help_of("vllm"), "vllm", "9.0.0").err
    assert below(outside) == []


def test_a_list_by_hand_is_kept(folder: Path, llmaz: Llmaz) -> None:
    (folder / "flags").mkdir()
    (folder / "flags" / "vllm-9.0.0.txt").write_text("--mine 1\n")
    (folder / "llmaz.yaml").write_text(f"{CONFIG.rstrip()}\n  optionLists: flags\n")
    done = learn(llmaz, help_of("vllm"), "vllm", "9.0.0")
    assert done.err == "flags/vllm-9.0.0.txt is not a list that was learnt; --force overwrites it\n1 error\n"
    assert learn(llmaz, help_of("vllm"), "vllm", "9.0.0", "--force").code == 0


def test_hostile_words_do_not_reach_the_list(folder: Path, llmaz: Llmaz) -> None:
    further = (
        "--e\x1b[31mvil\x1b[0m {a\x00,b}",
        "--f {\u202ex,y}",
        "--g <script>",
        "--h X, --../../i X",
        "--j {a b,# c}",
    )
    assert learn(llmaz, help_of("vllm", *further), "vllm", "9.0.0").code == 0
    text = (folder / "flags" / "vllm-9.0.0.txt").read_text()
    assert text.isprintable() or set(text) - {"\n"} <= {chr(code) for code in range(32, 127)}
    assert "--evil 1\n" in text
    assert "\n=--evil a b\n" in text
    assert "\n=--f x y\n" in text
    assert "--j 1\n" in text
    assert "=--j" not in text
    assert not [word for word in ("..", "<", "#") if word in text.partition("\n")[2]]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("spec:\n  gateway: {mode: off}\n", "spec:\n  optionLists: flags\n  gateway: {mode: off}\n"),
        ("spec:\r\n    gateway: {mode: off}\r\n", "spec:\r\n    optionLists: flags\r\n    gateway: {mode: off}\r\n"),
        ("spec:\n  # a comment\n  namespace: a\n", "spec:\n  optionLists: flags\n  # a comment\n  namespace: a\n"),
        ("spec: {namespace: a}\n", None),
        ("spec: &anchor\n  namespace: a\n", None),
    ],
)
def test_the_key_is_added_as_a_line(folder: Path, llmaz: Llmaz, before: str, after: str | None) -> None:
    head = CONFIG.partition("spec:")[0]
    head = head.replace("\n", "\r\n") if "\r" in before else head
    (folder / "llmaz.yaml").write_bytes((head + before).encode())
    done = learn(llmaz, help_of("vllm"), "vllm", "9.0.0")
    assert done.code == (2 if after is None else 0), done.err
    assert (folder / "llmaz.yaml").read_bytes().decode() == head + (after or before)
    assert (folder / "flags").exists() == (after is not None)
