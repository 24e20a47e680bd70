"""What a hostile repository can do with files, links and names: nothing but fail. docs/security.md promises it.

Nothing outside of the tree is read into a message, nothing outside of the output folder is written or deleted.
"""

from __future__ import annotations

import os
import resource
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from renderer.output import file_header, manifest_files
from renderer.output.folder_writer import OutputFolder, write_file
from renderer.output.manifest_files import OutputFile
from renderer.source.paths import FileTooLargeError, OutsideError, read_file, read_file_inside
from tests.inputs import CONFIG, backend_runtime, playground

if TYPE_CHECKING:
    from tests.conftest import Llmaz

PLAYGROUND = playground("chat", "demo", backend="llamacpp")
SECRET = "https://me:ghp_SECRETSECRETSECRET@git.example"  # noqa: S105 - of nobody


def own_runtime(listed: str) -> str:
    """A runtime that says so where its lists of options are."""
    options = f'{{style: exact, version: "(.+)", {listed}}}'
    return "---\n" + backend_runtime(options, "--a, x, -k")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A repository with one Playground, and the current folder; beside it `home`, which is none of its business."""
    folder = tmp_path / "repository"
    (folder / ".git").mkdir(parents=True)
    (folder / "chat.yaml").write_text(PLAYGROUND)
    home = tmp_path / "home"
    home.mkdir()
    (home / "credentials").write_text(SECRET)
    (home / "token-1.txt").write_text(SECRET)
    (home / "config.yaml").write_text(f"token: {SECRET}\n")
    monkeypatch.chdir(folder)
    before = listed(home)
    yield folder
    assert listed(home) == before


def listed(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder, with the contents of files."""
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


# --- files that are written


def test_a_temporary_file_is_opened_through_no_link(repository: Path, tmp_path: Path, llmaz: Llmaz) -> None:
    """Whoever commits links with the names that a run would use does not have their targets overwritten."""
    (repository / "rendered" / "demo").mkdir(parents=True)
    for process in range(os.getpid() - 50, os.getpid() + 500):
        (repository / "rendered" / "demo" / f"chat.yaml.llmaz-{process}").symlink_to("../../../home/credentials")
    assert llmaz("render").code == 0
    assert (repository / "rendered" / "demo" / "chat.yaml").is_file()
    assert (tmp_path / "home" / "credentials").read_text() == SECRET


def test_a_temporary_file_is_a_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where somebody knows its name: it is opened exclusively."""
    monkeypatch.setattr(os, "urandom", bytes)
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / f"a.yaml.llmaz-{os.getpid()}-{'00' * 8}").symlink_to(victim)
    with pytest.raises(FileExistsError):
        OutputFolder(str(tmp_path)).write("a.yaml", "theirs\n")
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("link", ["rendered", "rendered/demo", "rendered/demo/chat.yaml"])
@pytest.mark.parametrize("target", ["../home", "nowhere", "elsewhere"])
@pytest.mark.parametrize(
    "words", [("render", "chat.yaml"), ("render", "--check", "chat.yaml"), ("render", "-o", "rendered")]
)
def test_nothing_is_written_through_a_link(
    link: str, target: str, words: tuple[str, ...], repository: Path, llmaz: Llmaz
) -> None:
    (repository / "elsewhere").mkdir()
    (repository / link).parent.mkdir(parents=True, exist_ok=True)
    (repository / link).symlink_to(os.path.relpath(repository / target, (repository / link).parent))
    before = listed(repository)
    done = llmaz(*words)
    errors = [line for line in done.err.splitlines() if "[E144]" in line]
    assert (done.code, errors[0].split(": ")[0]) == (2, link)
    assert listed(repository) == before


@pytest.mark.parametrize("folder", ["/{home}", "../home", "a/../../home", ".git/hooks", "A/.Git", "a\\0b", "a\\nb"])
def test_the_output_folder_of_the_configuration_lies_in_the_tree(
    folder: str, repository: Path, tmp_path: Path, llmaz: Llmaz
) -> None:
    named = folder.replace("/{home}", str(tmp_path / "home"))
    (repository / "llmaz.yaml").write_text(f'{CONFIG}{{output: {{dir: "{named}"}}}}\n')
    before = listed(repository)
    done = llmaz("render")
    assert done.code == 2
    assert "[E145]" in done.err
    assert listed(repository) == before


def test_the_command_line_may_name_any_folder(repository: Path, tmp_path: Path, llmaz: Llmaz) -> None:
    """A link on the way to it is the user's own, where it lies in no tree; below the folder none is followed."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert llmaz("render", "-o", tmp_path / "link" / "out").code == 0
    assert (tmp_path / "real" / "out" / "demo" / "chat.yaml").is_file()
    (tmp_path / "real" / "out" / "demo" / "chat.yaml").unlink()
    (tmp_path / "real" / "out" / "demo").rmdir()
    (tmp_path / "real" / "out" / "demo").symlink_to(tmp_path / "home")
    assert "[E144]" in llmaz("render", "-o", tmp_path / "link" / "out").err


def test_what_another_repository_has_rendered_stays(repository: Path, tmp_path: Path, llmaz: Llmaz) -> None:
    """Files of ours behind a link are not pruned."""
    other = tmp_path / "other"
    write_file(str(other / "theirs.yaml"), file_header.header("a.yaml"))
    (repository / "rendered").mkdir()
    (repository / "rendered" / "linked").symlink_to(other)
    assert llmaz("render").code == 0
    assert (other / "theirs.yaml").is_file()


@pytest.mark.parametrize("path", ["../x.yaml", "a/../../x.yaml", "./x/y.yaml", "a//x.yaml", "/x/y.yaml"])
def test_no_path_leaves_the_output_folder(path: str, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="not a name of a folder"):
        OutputFolder(str(tmp_path / "out")).write(path, "x\n")
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


def test_folders_that_are_written_to_are_closed_again(tmp_path: Path) -> None:
    """However many there are."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 60
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 60, limit[1]))
    try:
        output = OutputFolder(str(tmp_path))
        manifest_files.write(output, [OutputFile(f"n{i}/app/x.yaml", "x\n") for i in range(300)])
        assert output.read_start("n7/app/x.yaml", 10) == b"x\n"
        for i in range(300):
            output.delete(f"n{i}/app/x.yaml")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [("presets", "vendor", "vllm", "--to", "models"), ("init", "models")])
def test_other_commands_write_through_no_link_either(words: tuple[str, ...], repository: Path, llmaz: Llmaz) -> None:
    (repository / "elsewhere").mkdir()
    (repository / "models").symlink_to("elsewhere")
    done = llmaz(*words, *(["--repo-url", "https://git.example/a.git"] if words[0] == "init" else []))
    assert (done.code, done.err[:6]) == (2, "models")
    assert "[E144]" in done.err
    assert list((repository / "elsewhere").iterdir()) == []


# --- what is not ours in the output folder


@pytest.mark.parametrize(
    "name", ["zz.yaml", "zz.yml", "zz.json", "zz.jsonnet", "Kustomization", "x/Chart.yaml", ".zz.yaml"]
)
def test_a_foreign_file_is_an_error_of_the_check_and_a_warning_of_render(
    name: str, repository: Path, llmaz: Llmaz
) -> None:
    assert llmaz("render").code == 0
    foreign = repository / "rendered" / "demo" / name
    foreign.parent.mkdir(exist_ok=True)
    foreign.write_text("kind: ClusterRoleBinding\n")
    check, part, again = llmaz("render", "--check"), llmaz("render", "--check", "chat.yaml"), llmaz("render")
    assert (check.code, part.code, again.code) == (2, 2, 0)
    assert f"\nrendered/demo/{name}: not written by llmaz" in check.err  # behind a note: this is no repository of git
    assert "[E129]" in check.err
    assert again.err.startswith(f"rendered/demo/{name}: warning: not written by llmaz")
    assert "[W129]" in again.err
    assert foreign.is_file()
    (repository / "llmaz.yaml").write_text(f'{CONFIG}{{output: {{foreign: ["demo/{name}"]}}}}\n')
    assert llmaz("render", "--check").code == 0


def test_a_forged_first_line_hides_nothing(repository: Path, llmaz: Llmaz) -> None:
    """A file with our first line that nothing makes is stale, also in what looks like a chart of ours."""
    assert llmaz("render").code == 0
    (repository / "rendered" / "demo" / "zz.yaml").write_text(file_header.header("chat.yaml") + "kind: Secret\n")
    assert llmaz("render", "--check").code == 1
    (repository / "rendered" / "demo" / "zz.yaml").unlink()
    (repository / "rendered" / "chart").mkdir()
    for name in ("Chart.yaml", "evil.yaml"):
        (repository / "rendered" / "chart" / name).write_text(file_header.header("llmaz.yaml") + "kind: Secret\n")
    done = llmaz("render", "--check")
    assert done.code == 2
    assert "rendered/chart/evil.yaml: not written by llmaz" in done.err


def test_a_link_in_the_output_folder_is_foreign(repository: Path, llmaz: Llmaz) -> None:
    """Also one to a file of ours."""
    assert llmaz("render").code == 0
    (repository / "rendered" / "demo" / "linked.yaml").symlink_to("chat.yaml")
    assert "rendered/demo/linked.yaml: not written by llmaz" in llmaz("render", "--check").err


def test_what_no_tool_would_sync_may_lie_there(repository: Path, llmaz: Llmaz) -> None:
    assert llmaz("render").code == 0
    (repository / "rendered" / "README.md").write_text("ours\n")
    (repository / "rendered" / "demo" / "OWNERS").write_text("ours\n")
    assert llmaz("render", "--check").code == 0


# --- files that are read


@pytest.mark.parametrize("listed_as", ["../home/token-1.txt", "{home}/token-1.txt", "linked-1.txt"])
def test_option_lists_are_read_in_the_tree_alone(
    listed_as: str, repository: Path, tmp_path: Path, llmaz: Llmaz
) -> None:
    (repository / "linked-1.txt").symlink_to("../home/token-1.txt")
    runtime = own_runtime(f"list: {listed_as.format(home=tmp_path / 'home')}")
    (repository / "chat.yaml").write_text(PLAYGROUND.replace("llamacpp", "mine") + runtime)
    for form in ("text", "json", "github", "sarif", "gitlab"):
        done = llmaz("validate", "--format", form)
        assert done.code == 2
        assert "SECRET" not in done.out + done.err


@pytest.mark.parametrize("name", ["../home/anything", "{home}/anything", "linked"])
def test_lists_of_removed_options_likewise(name: str, repository: Path, tmp_path: Path, llmaz: Llmaz) -> None:
    (tmp_path / "home" / "anything").write_text("-k SECRETSECRET\n")
    (repository / "linked").symlink_to("../home/anything")
    (repository / "own-1.txt").write_text("--a 1\n")
    runtime = own_runtime(f"list: own-1.txt, removed: {name.format(home=tmp_path / 'home')}")
    (repository / "chat.yaml").write_text(PLAYGROUND.replace("llamacpp", "mine") + runtime)
    done = llmaz("validate")
    assert done.code == 2
    assert "SECRET" not in done.err
    (tmp_path / "home" / "anything").unlink()


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/stdin", "/proc/self/environ"])
def test_a_device_is_no_list(device: str, repository: Path, llmaz: Llmaz) -> None:
    (repository / "linked-1.txt").symlink_to(device)
    (repository / "chat.yaml").write_text(PLAYGROUND.replace("llamacpp", "mine") + own_runtime("list: linked-1.txt"))
    assert llmaz("validate").code == 2


@pytest.mark.parametrize("command", ["render", "validate", "check", "routes", "diff"])
def test_a_path_of_the_command_line_leads_nowhere_else(command: str, repository: Path, llmaz: Llmaz) -> None:
    """`models` in a workflow file means the folder, not what a commit made a link of."""
    (repository / "llmaz.yaml").write_text(f'{CONFIG}{{passThrough: ["models/**"]}}\n')
    (repository / "models").symlink_to("../home")
    words = ["--", "models"] if command == "diff" else ["models", "chat.yaml"]
    done = llmaz(command, *words)
    assert done.code == 2
    assert "SECRET" not in done.out + done.err
    assert not (repository / "rendered").exists()


def test_the_configuration_is_read_in_the_tree_alone(repository: Path, tmp_path: Path, llmaz: Llmaz) -> None:
    (tmp_path / "home" / "llmaz.yaml").write_text(f"{CONFIG}{{{SECRET}: 1}}\n")
    (repository / "llmaz.yaml").symlink_to("../home/llmaz.yaml")
    done = llmaz("validate")
    assert (done.code, "SECRET" in done.err) == (2, False)
    assert "points outside the tree" in done.err
    (tmp_path / "home" / "llmaz.yaml").unlink()


@pytest.mark.parametrize("name", ["a\nevil: true\n#.yaml", "a\r.yaml", "\x1b.yaml", "\u202e.yaml", "\udcff.yaml"])
def test_a_named_file_adds_no_line_to_what_is_rendered(name: str, repository: Path, llmaz: Llmaz) -> None:
    """The first line of a rendered file says the name of its input."""
    try:
        (repository / name).write_text(PLAYGROUND)
    except OSError:
        pytest.skip("this file system takes no such name")
    (repository / "chat.yaml").unlink()
    for words in (["render", name], ["render", "--stdout", name], ["validate", name], ["render"]):
        done = llmaz(*words)
        assert (done.code, done.out) == (2, "")
        assert "[E124]" in done.err
    assert not (repository / "rendered").exists()


def test_links_within_the_tree_are_fine(repository: Path, llmaz: Llmaz) -> None:
    (repository / "models").mkdir()
    (repository / "chat.yaml").rename(repository / "models" / "chat.yaml")
    (repository / "again").symlink_to("models")
    assert llmaz("render", "again").code == 0


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))])
def test_a_pipe_or_device_is_not_read(make: object, tmp_path: Path) -> None:
    """/dev/zero never ends, and a pipe never begins."""
    path = tmp_path / "x.yaml"
    try:
        make(path)  # type: ignore[operator]
    except PermissionError:
        path = Path("/dev/zero")
    with pytest.raises(OSError, match="not a regular file"):
        read_file(str(path))


@pytest.mark.parametrize("target", ["/dev/zero", "/dev/stdin", "../../home/config.yaml"])
@pytest.mark.parametrize("name", ["Chart.yaml", "values.yaml", "demo/chat.yaml", "x.json", "llmaz.yaml"])
def test_a_link_in_the_output_folder_is_not_read(name: str, target: str, repository: Path) -> None:
    """Neither to look for a chart, nor for our first line."""
    path = repository / "rendered" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
    in_the_way = name == "demo/chat.yaml"  # of a manifest, but of no file of the chart
    for words, code in (
        (["render", "--check"], 2),
        (["render"], 2 if in_the_way else 0),
        (["render", "--to", "helm", "-o", "rendered"], 0 if in_the_way else 2),
    ):
        program = [sys.executable, "-c", "from renderer.cli import main; main()", *words]
        done = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.PIPE)
        assert done.returncode == code, done.stderr
        assert "SECRET" not in done.stderr


def test_a_file_is_read_up_to_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"12345")
    assert read_file(str(path), limit=5) == b"12345"
    with pytest.raises(FileTooLargeError):
        read_file(str(path), limit=4)
    with path.open("wb") as sparse:
        sparse.truncate(2**40)
    with pytest.raises(FileTooLargeError):
        read_file(str(path))


def test_what_lies_inside_is_judged_after_links(tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "x").write_text("x")
    (tmp_path / "inside-too").write_text("y")
    (tmp_path / "in" / "deep" / "up").symlink_to("../x")
    (tmp_path / "in" / "out").symlink_to("../inside-too")
    assert read_file_inside(str(tmp_path / "in"), str(tmp_path / "in" / "deep" / "up")) == b"x"
    for path in ("out", "../inside-too", "deep/../../inside-too"):
        with pytest.raises(OutsideError):
            read_file_inside(str(tmp_path / "in"), str(tmp_path / "in" / path))
    with pytest.raises(OSError, match="null"):
        read_file_inside(str(tmp_path), str(tmp_path / "a\0b"))


# --- odd folders


def test_a_folder_that_cannot_be_read_is_an_error_at_that_folder(
    repository: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch
) -> None:
    """(Modes say nothing to root.)"""
    scandir = os.scandir
    (repository / "locked").mkdir()

    def locked(path: str) -> object:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", locked)
    for command in ("render", "check"):
        done = llmaz(command, ".")
        assert (done.code, done.err.splitlines()[0]) == (2, "locked/: cannot be read: Permission denied [E120]")


@pytest.mark.skipif(sys.platform != "linux", reason="limits of paths differ")
@pytest.mark.parametrize("depth", [1_500, 4_000])
def test_a_deep_tree_is_read_in_seconds(depth: int, repository: Path) -> None:
    """Deeper than a path of Linux can say, too."""
    subprocess.run(["git", "init", "--quiet"], check=True)
    descriptor = os.open(".", os.O_RDONLY)
    try:
        for _ in range(depth):
            os.mkdir("d")
            os.chdir("d")
        Path("x.yaml").write_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}\n")
        os.fchdir(descriptor)
        for words in (["validate"], ["render"], ["render", "--check"], ["check", "."], ["routes"]):
            program = [sys.executable, "-c", "from renderer.cli import main; main()", *words]
            done = subprocess.run(program, capture_output=True, text=True, timeout=20, check=False)
            assert done.returncode == (0 if depth == 1_500 else 2), done.stderr[-500:]
            assert "E901" not in done.stderr
    finally:
        os.fchdir(descriptor)
        os.close(descriptor)
        subprocess.run(["rm", "-rf", "d"], check=True)
