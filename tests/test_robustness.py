"""What may go wrong around a run (tree, output folder, signals, faults of ours), and what must not change a byte."""

from __future__ import annotations

import contextlib
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from renderer import build, resolve, workers
from renderer.diagnostics import Diagnostic, RenderError
from renderer.plan import Plan
from renderer.source import tree
from renderer.source.tree import MAX_BYTES

if TYPE_CHECKING:
    from tests.conftest import Llmaz

ROOT = Path(__file__).resolve().parent.parent
PLAYGROUND = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata:
  name: {name}
  namespace: {namespace}
spec:
  servedModelName: {name}.{namespace}
  modelClaim:
    modelName: {model}
  backendRuntimeConfig:
    backendName: llamacpp
    args: [--kv-unified-per-slot, "{size}"]
"""
MODEL = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata:
  name: {name}
spec:
  familyName: demo
  source:
    modelHub:
      modelID: org/{name}
      filename: {name}.gguf
"""
CONFIG = "apiVersion: renderer.llmaz.io/v1alpha1\nkind: RenderConfig\nmetadata:\n  name: config\nspec: {spec}\n"
PRESET = "qwen3-0--6b-gguf"


def playground(name: str, namespace: str = "default", model: str = PRESET, size: int | str = 4096) -> str:
    return PLAYGROUND.format(name=name, namespace=namespace, model=model, size=size)


def write(path: Path, *documents: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("---\n".join(documents))
    return path


def corpus(folder: Path, apps: int, namespaces: int = 7) -> None:
    """That many Playgrounds and OpenModels, a file each pair, spread over namespaces."""
    for i in range(apps):
        write(
            folder / f"app-{i:04}.yaml",
            MODEL.format(name=f"m-{i}"),
            playground(f"p-{i}", f"ns-{i % namespaces}", f"m-{i}"),
        )


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below the folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def codes(err: str) -> list[str]:
    """The codes of all problems, in their order."""
    return re.findall(r"\[([EW]\d{3})\]$", err, re.MULTILINE)


def process(
    *args: str,
    code: str = "from renderer.cli import main; main()",
    cwd: Path,
    environment: Mapping[str, str | None] | None = None,
) -> subprocess.Popen[str]:
    """The program in a process group of its own, where Ctrl-C counts even if it does not for whoever runs the tests in
    the background. `environment`: changes to ours, None takes one away.
    """
    changed = {**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})}
    env = {key: value for key, value in changed.items() if value is not None}
    return subprocess.Popen(
        [sys.executable, "-c", code, *args],
        cwd=cwd,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def finished(running: subprocess.Popen[str], timeout: float = 60) -> tuple[int, str, str]:
    """Exit code, standard output and standard error; the whole group ends when it takes too long."""
    try:
        out, err = running.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
        raise
    return running.returncode, out, err


# --- the input tree


def test_link_out_of_the_tree(folder: Path, tmp_path: Path, llmaz: Llmaz) -> None:
    elsewhere = write(tmp_path / "elsewhere" / "chat.yaml", playground("chat")).parent
    write(folder / "mine.yaml", playground("mine"))
    (folder / "linked").symlink_to(elsewhere)
    done = llmaz("render")
    assert (done.code, codes(done.err)) == (2, ["E121"])
    assert done.err.startswith("linked: ")
    assert str(elsewhere) in done.err
    assert not (folder / "rendered").exists()
    write(
        folder / "llmaz.yaml",
        CONFIG.format(spec="{ignore: [linked]}"),
    )
    assert llmaz("render").counts["apps"] == 1


def test_links_inside_the_tree_are_read_once(folder: Path, llmaz: Llmaz) -> None:
    write(folder / "real" / "chat.yaml", playground("chat"))
    (folder / "again").symlink_to(folder / "real")
    (folder / "again.yaml").symlink_to(folder / "real" / "chat.yaml")
    (folder / "real" / "round").symlink_to(folder)
    done = llmaz("render")
    assert done.code == 0, done.err
    assert done.counts["apps"] == 1


def test_broken_link(folder: Path, llmaz: Llmaz) -> None:
    (folder / "gone.yaml").symlink_to(folder / "nothing.yaml")
    write(folder / "chat.yaml", playground("chat"))
    done = llmaz("render")
    assert done.code == 0, done.err
    assert (done.counts["apps"], done.warnings) == (1, "")  # it leads to nothing that could be an input


def test_file_of_50_megabytes(folder: Path, llmaz: Llmaz) -> None:
    """E106, at once: none of it is read."""
    write(folder / "chat.yaml", playground("chat"))
    size = 50 * 1024 * 1024
    with (folder / "big.yaml").open("wb") as file:
        file.write(b"apiVersion: llmaz.io/v1alpha1\n#")
        file.truncate(size)
    done = llmaz("render")
    assert done.code == 2
    assert done.err.startswith("big.yaml:")
    assert f"{size:,} bytes, at most {MAX_BYTES:,} " in done.err
    assert codes(done.err) == ["E106"]
    assert not (folder / "rendered").exists()


def test_a_pipe_is_no_file(folder: Path) -> None:
    """Reading it would wait for ever."""
    write(folder / "chat.yaml", playground("chat"))
    os.mkfifo(folder / "pipe.yaml")
    code, _, err = finished(process("render", cwd=folder), timeout=20)
    assert (code, err) == (0, "1 app, 6 objects → rendered/: 1 new, 0 changed, 0 unchanged\n")


@pytest.mark.parametrize(
    "name", [b"new\nline.yaml", b"escape\x1b[2J.yaml", *([b"\xff.yaml"] if sys.platform == "linux" else [])]
)
def test_odd_file_names(name: bytes, folder: Path, llmaz: Llmaz) -> None:
    """A name that no header could hold is a problem with a place, not a fault, and never half a header."""
    with open(os.fsencode(folder) + b"/" + name, "w") as file:
        file.write(playground("chat"))
    done = llmaz("render")
    assert (done.code, codes(done.err)) == (2, ["E124"])
    assert done.err.isascii(), "the terminal must not obey a file's name"
    assert not (folder / "rendered").exists()


def test_file_that_cannot_be_read(folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    """E120, at the file, beside whatever else is wrong. (Modes say nothing to root.)"""
    write(folder / "chat.yaml", playground("chat", namespace="Wrong"))
    write(folder / "locked.yaml", playground("locked"))
    read = tree.InputFile.read

    def locked(file: tree.InputFile) -> bytes:
        if file.name == "locked.yaml":
            raise PermissionError(13, "Permission denied", file.path)
        return read(file)

    monkeypatch.setattr(tree.InputFile, "read", locked)
    done = llmaz("render")
    assert (done.code, codes(done.err)) == (2, ["E282", "E120"])
    assert "\nlocked.yaml: cannot be read: Permission denied [E120]\n" in done.err
    assert not (folder / "rendered").exists()


def test_no_input(folder: Path, llmaz: Llmaz) -> None:
    write(folder / "deployment.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n")
    for command in ("render", "validate"):
        done = llmaz(command)
        assert (done.code, codes(done.err)) == (2, ["E123"])
    empty = llmaz("render", "--allow-empty")
    assert empty.code == 0
    assert empty.counts["apps"] == empty.counts["new"] == 0


def test_no_input_any_more_prunes_only_when_allowed(folder: Path, llmaz: Llmaz) -> None:
    """A mistyped folder must not empty the output."""
    chat = write(folder / "chat.yaml", playground("chat"))
    assert llmaz("render").code == 0
    chat.unlink()
    assert llmaz("render").code == 2
    assert contents(folder / "rendered").keys() == {"default/chat.yaml"}
    assert llmaz("render", "--allow-empty").counts["gone"] == 1
    assert contents(folder / "rendered") == {}


def test_path_that_is_not_there(folder: Path, llmaz: Llmaz) -> None:
    """All of them are named."""
    done = llmaz("render", "nowhere", "chat.yaml")
    assert (done.code, codes(done.err)) == (2, ["E122", "E122"])
    assert [line.partition(":")[0] for line in done.err.splitlines() if "E122" in line] == ["chat.yaml", "nowhere"]


# --- the output folder


def test_output_folder_is_never_read(folder: Path, llmaz: Llmaz) -> None:
    """Even what looks like input there is not."""
    write(folder / "chat.yaml", playground("chat"))
    write(folder / "rendered" / "mine.yaml", playground("never-read"))
    done = llmaz("render")
    assert done.code == 0, done.err
    assert contents(folder / "rendered").keys() == {"default/chat.yaml", "mine.yaml"}


def test_output_folder_of_the_config_lies_beside_it(
    folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the user stands; -o is relative to him."""
    write(folder / "llmaz.yaml", CONFIG.format(spec="{output: {dir: deploy/made}}"))
    write(folder / "deep" / "chat.yaml", playground("chat"))
    monkeypatch.chdir(folder / "deep")
    assert llmaz("render").code == 0
    assert contents(folder / "deploy" / "made").keys() == {"default/chat.yaml"}
    assert llmaz("render", "-o", "mine").code == 0
    assert contents(folder / "deep" / "mine") == contents(folder / "deploy" / "made")


@pytest.mark.parametrize("output", [".", "..", "../here", "in"])
def test_output_folder_that_holds_the_input(output: str, folder: Path, llmaz: Llmaz) -> None:
    """It would never be read, and pruning would take what other trees have rendered."""
    write(folder / "in" / "chat.yaml", playground("chat"))
    ours = "# Rendered by llmaz from chat.yaml. Do not edit.\na: 1\n"
    for other in ("other/rendered/default/chat.yaml", ".git/x.yaml", "in/rendered/x.yaml"):
        write(folder / other, ours)
    before = contents(folder.parent)
    done = llmaz("render", "in", "-o", output)
    assert done.code == 2, done.err
    assert contents(folder.parent) == before


@pytest.mark.parametrize(
    ("blocked", "output"),
    [("out", "out"), ("out", "out/deeper"), ("out/default", "out")],
    ids=["output is a file", "below a file", "namespace is a file"],
)
def test_a_file_where_a_folder_is_needed(blocked: str, output: str, folder: Path, llmaz: Llmaz) -> None:
    write(folder / "chat.yaml", playground("chat"))
    write(folder / blocked, "mine\n")
    done = llmaz("render", "-o", output)
    assert done.code == 2, done.err
    assert codes(done.err) in (["E140"], ["E141"])
    assert (folder / blocked).read_text() == "mine\n"
    assert contents(folder).keys() == {"chat.yaml", blocked}


def test_output_folder_that_cannot_be_made(folder: Path, llmaz: Llmaz) -> None:
    write(folder / "chat.yaml", playground("chat"))
    done = llmaz("render", "-o", "/proc/llmaz")
    assert (done.code, codes(done.err)) == (2, ["E140"])
    assert "/proc/llmaz: " in done.err


def test_foreign_files_in_the_way(folder: Path, llmaz: Llmaz) -> None:
    """Nothing of the user's is overwritten, and then nothing at all is written; all of them are named at once."""
    write(folder / "in.yaml", *(playground(name) for name in ("chat", "code", "free")))
    write(folder / "rendered" / "default" / "chat.yaml", "mine: true\n")
    (folder / "rendered" / "default" / "code.yaml").mkdir()
    before = contents(folder)
    for command in (["render"], ["render", "--check"]):
        done = llmaz(*command)
        assert done.code == 2
        places = [line.partition(": ")[0] for line in done.err.splitlines() if "[E141]" in line]
        assert places == [f"rendered/default/{name}.yaml" for name in ("chat", "code")]
    assert contents(folder) == before


def test_hand_edits_are_found_and_repaired(folder: Path, llmaz: Llmaz) -> None:
    write(folder / "in.yaml", playground("chat"), playground("code"))
    assert llmaz("render").code == 0
    good = contents(folder / "rendered")
    chat, code = (folder / "rendered" / "default" / f"{name}.yaml" for name in ("chat", "code"))
    chat.write_text(chat.read_text().replace("4096", "8192"))
    edited = contents(folder / "rendered")
    check = llmaz("render", "--check")
    assert check.code == 1
    assert check.err.splitlines()[0] == "rendered/default/chat.yaml: stale"
    assert contents(folder / "rendered") == edited
    mtime = code.stat().st_mtime_ns
    assert llmaz("render").counts["changed"] == 1
    assert contents(folder / "rendered") == good
    assert code.stat().st_mtime_ns == mtime
    assert llmaz("render", "--check").code == 0
    # A longer file than ours, a shorter one, none at all.
    for damage in (good["default/chat.yaml"] + b"# more\n", good["default/chat.yaml"][:100]):
        chat.write_bytes(damage)
        assert llmaz("render", "--check").code == 1
        assert llmaz("render").code == 0
        assert contents(folder / "rendered") == good
    chat.unlink()
    assert "rendered/default/chat.yaml: missing\n" in llmaz("render", "--check").err
    assert llmaz("render").counts["new"] == 1
    assert contents(folder / "rendered") == good


def test_renamed_and_moved_playgrounds_leave_nothing(folder: Path, llmaz: Llmaz) -> None:
    write(folder / "chat.yaml", playground("chat", "old"))
    assert llmaz("render").code == 0
    write(folder / "chat.yaml", playground("talk", "new"))
    check = llmaz("render", "--check")
    assert check.code == 1
    assert "rendered/new/talk.yaml: missing\nrendered/old/chat.yaml: to be deleted\n" in check.err
    done = llmaz("render")
    assert (done.counts["new"], done.counts["gone"]) == (1, 1)
    assert sorted(path.name for path in (folder / "rendered").rglob("*")) == ["new", "talk.yaml"]


def test_renamed_input_file_changes_the_header_only(folder: Path, llmaz: Llmaz) -> None:
    write(folder / "a.yaml", playground("chat"))
    assert llmaz("render").code == 0
    (folder / "a.yaml").rename(folder / "b.yaml")
    assert llmaz("render").counts["changed"] == 1
    assert (
        (folder / "rendered" / "default" / "chat.yaml")
        .read_text()
        .startswith("# Rendered by llmaz from b.yaml. Do not edit.\n")
    )


def test_another_layout_prunes_the_first(folder: Path, llmaz: Llmaz) -> None:
    write(folder / "chat.yaml", playground("chat"))
    assert llmaz("render").code == 0
    assert llmaz("render", "--set", "output.layout=object").counts["gone"] == 1
    assert contents(folder / "rendered").keys() == {
        "default/chat/leaderworkerset-chat.yaml",
        "default/chat/service-chat-lb.yaml",
        "default/chat/service-chat-leaders.yaml",
        "default/chat/backend-chat.yaml",
        "default/chat/aiservicebackend-chat.yaml",
        "default/chat/aigatewayroute-chat.yaml",
    }
    assert llmaz("render").counts["gone"] == 6
    assert contents(folder / "rendered").keys() == {"default/chat.yaml"}


def test_prunes_only_within_paths(folder: Path, llmaz: Llmaz) -> None:
    """A part of the tree answers for its own files only; foreign files are nobody's."""
    write(
        folder / "llmaz.yaml",
        CONFIG.format(spec="{}"),
    )
    a, b, ab = (write(folder / name / "chat.yaml", playground(f"chat-{name}")) for name in ("a", "b", "ab"))
    assert llmaz("render").counts["new"] == 3
    write(folder / "rendered" / "default" / "mine.yaml", "mine: true\n")
    for path in (a, b, ab):
        path.unlink()
    write(folder / "a" / "other.yaml", playground("other"))
    done = llmaz("render", "a")
    assert (done.counts["new"], done.counts["gone"]) == (1, 1)
    left = {"default/chat-b.yaml", "default/chat-ab.yaml", "default/mine.yaml", "default/other.yaml"}
    assert contents(folder / "rendered").keys() == left
    # A single file as path, and a path that names the folder from elsewhere.
    assert llmaz("render", "a/other.yaml").counts["gone"] == 0
    (folder / "a" / "other.yaml").rename(folder / "a" / "moved.yaml")
    assert llmaz("render", folder / "a").counts["changed"] == 1
    assert llmaz("render").counts["gone"] == 2
    assert contents(folder / "rendered").keys() == {"default/mine.yaml", "default/other.yaml"}


def test_kustomization_is_left_alone_by_a_part(folder: Path, llmaz: Llmaz) -> None:
    """It depends on the whole tree."""
    write(
        folder / "llmaz.yaml",
        CONFIG.format(spec="{output: {kustomization: true}}"),
    )
    write(folder / "a" / "chat.yaml", playground("a"))
    write(folder / "b" / "chat.yaml", playground("b"))
    assert llmaz("render").code == 0
    whole = contents(folder / "rendered")
    assert llmaz("render", "a").code == 0
    assert contents(folder / "rendered") == whole
    (folder / "b" / "chat.yaml").unlink()
    assert llmaz("render", "b", "--allow-empty").counts["gone"] == 1
    assert (folder / "rendered" / "kustomization.yaml").read_bytes() == whole["kustomization.yaml"]
    assert llmaz("render").counts["changed"] == 1
    assert "b.yaml" not in (folder / "rendered" / "kustomization.yaml").read_text()
    assert llmaz("render", "--set", "output.kustomization=false").counts["gone"] == 1


def test_nothing_is_written_with_one_error_in_many(folder: Path, llmaz: Llmaz) -> None:
    corpus(folder, 30)
    write(folder / "wrong.yaml", playground("wrong", model="nowhere"))
    done = llmaz("render")
    assert done.code == 2
    assert "1 error; nothing was written\n" in done.err
    assert not (folder / "rendered").exists()


def test_strict_makes_warnings_errors(folder: Path, llmaz: Llmaz) -> None:
    write(
        folder / "chat.yaml",
        playground("chat") + "  replicas: 2\n  elasticConfig: {maxReplicas: 3, scaleTrigger: {hpa: {}}}\n",
    )
    assert llmaz("render", "-o", "fine").code == 0
    done = llmaz("render", "--strict", "-o", "strict")
    assert done.code == 2
    assert "2 errors; nothing was written" in done.err
    assert not (folder / "strict").exists()


# --- a full disk, Ctrl-C, kill


def full_after(size: int) -> Callable[[], None]:
    """For a child process: no file may grow beyond that, as on a disk that is full by then."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


@pytest.mark.parametrize("apps", [20, 400], ids=["one process", "several"])
def test_full_disk(apps: int, folder: Path, llmaz: Llmaz) -> None:
    """E140: every file that is there is whole, and the next run brings the rest."""
    corpus(folder, apps)
    write(
        folder / "app-0010.yaml",
        playground("big", "ns-3").replace('"4096"]', f'"4096", --grammar, {"x" * 50_000}]'),
    )
    whole = folder.parent / "whole"
    assert llmaz("render", "-o", whole).code == 0
    running = subprocess.run(
        [sys.executable, "-m", "renderer", "render", "-o", "out"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=full_after(20_000),
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    assert running.returncode == 2, running.stderr
    assert codes(running.stderr) == ["E140"]
    assert running.stderr.startswith("out")
    assert "File too large" in running.stderr
    good, left = contents(whole), contents(folder / "out")
    assert "ns-3/big.yaml" not in left
    assert {path: good.get(path) for path in left} == left
    assert llmaz("render", "-o", "out").code == 0
    assert contents(folder / "out") == good


SLOW = """
import os, time
rename = os.rename
def slowly(*paths, **folders):
    time.sleep(0.0005)
    rename(*paths, **folders)
os.rename = slowly
from renderer.cli import main
main()
"""
FILES = 2000
INTERRUPTED = "interrupted; no file is half written, run again to finish"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """An input of 2,000 files, and what it renders to."""
    folder = tmp_path_factory.mktemp("many")
    corpus(folder, FILES, 20)
    write(folder / "llmaz.yaml", CONFIG.format(spec="{gateway: {mode: off}}"))  # more than one Gateway holds
    code, _, err = finished(process("render", "-o", "../whole", cwd=folder))
    assert code == 0, err
    good = contents(folder.parent / "whole")
    shutil.rmtree(folder.parent / "whole")
    assert len(good) == FILES
    return folder, good


@contextlib.contextmanager
def halfway(folder: Path, out: Path, old: int) -> Iterator[subprocess.Popen[str]]:
    """A run that has written about 200 files, and goes on. `old`: the size of the files that were there."""
    running = process("render", "-o", str(out), code=SLOW, cwd=folder)
    sample = out / "ns-3"  # a twentieth of all
    try:
        deadline = time.monotonic() + 30
        while sum(path.stat().st_size != old for path in sample.glob("*.yaml")) < 10:
            assert running.poll() is None, running.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.002)
        yield running
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)


def gone(group: int) -> None:
    """Waits until the last process of the group has ended."""
    deadline = time.monotonic() + 30
    with contextlib.suppress(ProcessLookupError):
        while time.monotonic() < deadline:
            os.killpg(group, 0)
            time.sleep(0.01)
        pytest.fail("processes are left")


@pytest.mark.parametrize(
    ("number", "group", "before"),
    [
        (signal.SIGINT, True, "empty"),
        (signal.SIGINT, True, "stale"),
        (signal.SIGINT, False, "empty"),
        (signal.SIGKILL, True, "empty"),
        (signal.SIGKILL, True, "stale"),
        (signal.SIGKILL, False, "stale"),
    ],
    ids=["ctrl-c", "ctrl-c over old files", "parent interrupted", "kill", "kill over old files", "parent killed"],
)
def test_a_run_that_is_stopped_halfway(
    number: signal.Signals,
    group: bool,
    before: str,
    many: tuple[Path, dict[str, bytes]],
    tmp_path: Path,
    llmaz: Llmaz,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every file is whole, old or new, and the next run repairs."""
    folder, good = many
    out = tmp_path / "out"
    old = b"# Rendered by llmaz from old.yaml. Do not edit.\nold: true\n"
    if before == "stale":
        for path in (*good, "ns-0/pruned.yaml"):
            (out / path).parent.mkdir(parents=True, exist_ok=True)
            (out / path).write_bytes(old)
    with halfway(folder, out, len(old)) as running:
        (os.killpg if group else os.kill)(running.pid, number)
        code, _, err = finished(running)
        gone(running.pid)
    left = contents(out)
    whole = {path: data for path, data in left.items() if path.endswith(".yaml")}
    assert all(data in (good.get(path), old) for path, data in whole.items())
    written = sum(good.get(path) == data for path, data in whole.items())
    assert written >= 10
    if group:
        assert written < FILES, "it was done before the signal came: no test"
    if number == signal.SIGINT:
        assert code == 130
        assert err.strip() == INTERRUPTED
        assert left.keys() == whole.keys()
    else:
        assert code == -signal.SIGKILL
    monkeypatch.chdir(folder)
    again = llmaz("render", "-o", out)
    assert again.code == 0, again.err
    assert contents(out) == good


def test_ctrl_c_at_any_moment(many: tuple[Path, dict[str, bytes]], tmp_path: Path) -> None:
    """From the first line of our own on: no traceback, and never the exit code that means stale."""
    folder, _ = many
    ready = "import renderer.cli; print('ready', flush=True); renderer.cli.main()"
    for delay in (0.0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3):
        running = process("render", "-o", str(tmp_path / "out"), "--check", code=ready, cwd=folder)
        assert running.stdout
        assert running.stdout.readline() == "ready\n"
        time.sleep(delay)
        os.killpg(running.pid, signal.SIGINT)
        code, _, err = finished(running)
        if code == 1 and "is stale; run llmaz render" in err:
            break  # it had done its work
        if code == -signal.SIGINT and "renderer" not in err:
            continue  # it had not begun
        assert code == 130, (delay, err)
        assert INTERRUPTED in err.splitlines(), (delay, err)


# --- exit codes and faults of ours


def test_exit_codes(folder: Path, llmaz: Llmaz) -> None:
    write(folder / "chat.yaml", playground("chat"))
    assert llmaz("render", "--check").code == 1
    assert llmaz("render").code == 0
    assert llmaz("render", "--check").code == 0
    assert llmaz("render", "--stdout").code == 0
    assert llmaz("validate").code == 0
    write(folder / "chat.yaml", playground("chat", size=1))
    assert llmaz("render", "--check").code == 1
    write(folder / "chat.yaml", playground("chat", model="nowhere"))
    for command in (["render"], ["render", "--check"], ["render", "--stdout"], ["validate"]):
        assert llmaz(*command).code == 2, command
    for usage in (
        ["render", "--nonsense"],
        ["nonsense"],
        ["render", "--check", "--stdout"],
        ["render", "--set", "x"],
        ["presets", "show", "x"],
    ):
        assert llmaz(*usage).code == 2, usage
    assert llmaz("--version").code == 0
    assert llmaz("--help").code == 0


@pytest.mark.parametrize("worth", [10**9, 1], ids=["one process", "several"])
@pytest.mark.parametrize(
    ("room", "stage"), [(build, "build_manifests"), (resolve, "referenced_objects"), (resolve, "shared_needs")]
)
def test_internal_fault(
    room: ModuleType, stage: str, worth: int, folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line that names the file at hand, exit code 3, and nothing written."""
    for name in ("chat", "code", "draw", "sing"):
        write(folder / f"{name}.yaml", playground(name))
    sound = getattr(room, stage)

    def faulty(plans: Sequence[Plan]) -> Any:
        if plans[0].name == "sing":
            raise ZeroDivisionError("a fault of ours")
        return sound(plans)

    monkeypatch.setattr(room, stage, faulty)
    monkeypatch.setattr(workers, "MIN_ITEMS", worth)
    done = llmaz("render")
    assert done.code == 3
    assert done.err.splitlines()[0] == "sing.yaml: internal fault: ZeroDivisionError: a fault of ours [E901]"
    assert "Traceback" not in done.err
    assert done.err.count("\n") == 2
    assert not (folder / "rendered").exists()


def test_a_problem_sorts_and_shows_once() -> None:
    one = Diagnostic("a.yaml", 9, 1, "E203", "", "late")
    two = Diagnostic("a.yaml", 10, 1, "E203", "", "later")
    assert RenderError([two, one, two]).problems == [one, two]


# --- the same bytes, whatever


def test_several_processes_make_the_same_as_one(folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus(folder, 50)
    write(folder / "two.yaml", playground("warned") + "  elasticConfig: {maxReplicas: 2, scaleTrigger: {hpa: {}}}\n")
    results = []
    for worth in (10**9, 1):
        monkeypatch.setattr(workers, "MIN_ITEMS", worth)
        done = llmaz("render", "-o", f"../{worth}")
        assert done.code == 0, done.err
        stdout = llmaz("render", "--stdout")
        check = llmaz("render", "-o", f"../{worth}", "--check")
        assert check.code == 0
        results.append((contents(folder.parent / str(worth)), done.warnings, stdout.out, stdout.err))
    assert results[0] == results[1]
    write(folder / "wrong.yaml", playground("wrong", model="nowhere"), playground("chat", namespace="A"))
    write(folder / "broken.yaml", "apiVersion: llmaz.io/v1alpha1\nkind: OpenModel\nmetadata: [\n")
    wrong = []
    for worth in (10**9, 1):
        monkeypatch.setattr(workers, "MIN_ITEMS", worth)
        wrong.append(llmaz("render"))
    assert wrong[0] == wrong[1]
    assert wrong[0].code == 2


def test_order_of_files_and_documents_does_not_matter(folder: Path, llmaz: Llmaz) -> None:
    """But for the headers, which name the files."""
    documents = [MODEL.format(name=f"m-{i}") for i in range(12)]
    documents += [playground(f"p-{i}", f"ns-{i % 3}", f"m-{i}") for i in range(12)]
    outputs = []
    for seed in range(4):
        shuffled = documents[:]
        random.Random(seed).shuffle(shuffled)
        top = folder / str(seed)
        for i in range(0, len(shuffled), 5):
            write(top / ("a", "b", "c/d")[(seed + i) % 3] / f"{i}.yaml", *shuffled[i : i + 5])
        assert llmaz("render", top, "-o", top / "out").code == 0
        outputs.append({path: data.split(b"\n", 1)[1] for path, data in contents(top / "out").items()})
    assert outputs[0] == outputs[1] == outputs[2] == outputs[3]
    assert len(outputs[0]) == 12


def test_current_folder_does_not_matter(folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    """Headers are relative to llmaz.yaml, else the git root."""
    for root, marker in ((folder / "configured", "llmaz.yaml"), (folder / "repository", ".git/HEAD")):
        write(root / "deep" / "er" / "chat.yaml", playground("chat"))
        config = CONFIG.format(spec="{}")
        write(root / marker, config if marker == "llmaz.yaml" else "")
        outputs = []
        stands: list[tuple[Path, Path | str]] = [
            (root, "."),
            (root, root),
            (root / "deep", ".."),
            (root / "deep" / "er", root),
            (folder, root),
        ]
        for i, (cwd, path) in enumerate(stands):
            monkeypatch.chdir(cwd)
            assert llmaz("render", path, "-o", folder / f"{root.name}-{i}").code == 0
            outputs.append(contents(folder / f"{root.name}-{i}"))
        assert [output == outputs[0] for output in outputs] == [True] * len(stands)
        assert outputs[0]["default/chat.yaml"].startswith(b"# Rendered by llmaz from deep/er/chat.yaml. Do not edit.\n")


def test_environment_does_not_matter(tmp_path: Path) -> None:
    """Not the hash seed, the locale, the zone, nor any variable that looks like a setting."""
    shutil.copytree(ROOT / "tests" / "cases" / "strings" / "input", tmp_path / "in")
    corpus(tmp_path / "in", 20)
    environments: list[dict[str, str | None]] = [
        {},
        {"PYTHONHASHSEED": "0"},
        {"PYTHONHASHSEED": "1"},
        {"PYTHONHASHSEED": "2", "TZ": "Asia/Kathmandu", "HOME": None, "USER": None},
        {"LC_ALL": "C", "LANG": None, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"LLMAZ_NAMESPACE": "x", "LLMAZ_OUTPUT": "x", "LLMAZ_RENDER_OUTPUT": "x", "NO_COLOR": "1", "COLUMNS": "20"},
        {"KUBECONFIG": "/nowhere", "HTTPS_PROXY": "http://127.0.0.1:1", "TMPDIR": "/nowhere", "PATH": None},
    ]
    outputs = []
    for i, environment in enumerate(environments):
        code, _, err = finished(process("render", "in", "-o", f"out-{i}", cwd=tmp_path, environment=environment))
        assert code == 0, (environment, err)
        outputs.append(contents(tmp_path / f"out-{i}"))
        code, out, err = finished(process("render", "in", "--stdout", cwd=tmp_path, environment=environment))
        assert code == 0, (environment, err)
        assert out == "---\n".join(outputs[0][path].decode() for path in sorted(outputs[0])), environment
    assert [output == outputs[0] for output in outputs] == [True] * len(outputs)
    assert len(outputs[0]) == 21


def test_stdout_is_what_would_be_written(folder: Path, llmaz: Llmaz) -> None:
    write(folder / "in.yaml", playground("b", "two"), playground("a", "two"), playground("z", "one"))
    done = llmaz("render", "--stdout")
    assert not (folder / "rendered").exists()
    assert llmaz("render").code == 0
    files = contents(folder / "rendered")
    assert done.out == "---\n".join(files[path].decode() for path in sorted(files))
