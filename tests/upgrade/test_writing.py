"""What `llmaz upgrade --write` writes, where it refuses to, and what is left after it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import inputs
from tests.diff.repository import Repository
from tests.upgrade.test_places import DIGEST, app, in_version, written

if TYPE_CHECKING:
    from tests.conftest import Llmaz

OLD, NEW = app("chat", in_version("v0.26.0")), app("chat", in_version("v0.33.0"))


@pytest.fixture
def repository(folder: Path) -> Repository:
    repo = Repository(folder)
    repo.write(chat=OLD)
    repo.commit()
    return repo


def test_a_committed_file_is_written(repository: Repository, llmaz: Llmaz) -> None:
    os.chmod("chat.yaml", 0o640)
    done = llmaz("upgrade", "vllm", "--write")
    assert (done.code, done.err) == (0, "1 file written\n")
    assert Path("chat.yaml").read_text() == NEW
    assert os.stat("chat.yaml").st_mode & 0o777 == 0o640
    assert repository.git("status", "--porcelain") == " M chat.yaml\n"
    again = llmaz("upgrade", "vllm", "--write")  # nothing is to be written, so nothing is refused
    assert (again.code, again.err) == (0, "0 files written\n")


@pytest.mark.parametrize("is_staged", [False, True])
def test_a_changed_file_is_refused(is_staged: bool, repository: Repository, llmaz: Llmaz) -> None:
    repository.write(chat=f"{OLD}# more\n")
    if is_staged:
        repository.git("add", "chat.yaml")
    done = llmaz("upgrade", "vllm", "--write")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "chat.yaml: this file has changes that are not committed [E715]\n"
        "    hint: commit them first, so that the upgrade can be told from them; or add --force\n1 error\n"
    )
    assert Path("chat.yaml").read_text() == f"{OLD}# more\n"
    assert llmaz("upgrade", "vllm", "--write", "--force").code == 0
    assert Path("chat.yaml").read_text() == f"{NEW}# more\n"


@pytest.mark.parametrize("name", ["new", "ignored"])
def test_a_file_that_is_in_no_commit_is_refused(name: str, repository: Repository, llmaz: Llmaz) -> None:
    Path(".gitignore").write_text("ignored.yaml\n")
    repository.write(**{name: app(name, in_version("v0.26.0"))})
    done = llmaz("upgrade", "vllm", "--write")
    assert done.code == 2
    assert f"{name}.yaml: this file has changes that are not committed [E715]" in done.err
    assert Path("chat.yaml").read_text() == OLD  # none is written where one is refused


def test_line_ends_of_a_checkout_are_no_change(repository: Repository, llmaz: Llmaz) -> None:
    Path("chat.yaml").write_bytes(OLD.replace("\n", "\r\n").encode())  # as with core.autocrlf
    assert llmaz("upgrade", "vllm", "--write").code == 0
    assert Path("chat.yaml").read_bytes() == NEW.replace("\n", "\r\n").encode()


def test_another_file_may_be_changed(repository: Repository, llmaz: Llmaz) -> None:
    repository.write(other=app("other", ""))
    assert llmaz("upgrade", "vllm", "--write").code == 0


def test_a_read_only_file_is_refused(folder: Path, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    written(folder, chat=OLD)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    done = llmaz("upgrade", "vllm", "--write")
    assert done.code == 2
    assert done.err.startswith("chat.yaml: cannot be written: it is read-only [E140]\n")
    assert Path("chat.yaml").read_text() == OLD


@pytest.mark.parametrize("path", ["link.yaml", "linked", "linked/chat.yaml"])
def test_nothing_is_written_through_a_link(path: str, repository: Repository, llmaz: Llmaz) -> None:
    (repository.folder / "apps").mkdir()
    (repository.folder / "apps" / "chat.yaml").write_text(OLD)
    (repository.folder / "chat.yaml").unlink()
    Path("link.yaml").symlink_to("apps/chat.yaml")
    Path("linked").symlink_to("apps")
    repository.commit()
    done = llmaz("upgrade", "vllm", path, "--write", "--force")
    assert done.code == 2
    assert "[E144]" in done.err
    assert (repository.folder / "apps" / "chat.yaml").read_text() == OLD
    assert Path("link.yaml").is_symlink()


def test_an_edit_that_breaks_another_environment_is_not_written(folder: Path, llmaz: Llmaz) -> None:
    """dev keeps its version, in which the option of the new one does not exist."""
    config = (
        inputs.CONFIG
        + f"""
  environments:
    dev: {{playgrounds: {{chat: {{backendRuntimeConfig: {{version: 'v0.10.0@{DIGEST}'}}}}}}}}
    prod: {{}}
"""
    )

    def chat(tag: str, option: str) -> str:
        return app("chat", in_version(tag, more=f", args: [{option}=auto]"))

    def other(tag: str, option: str) -> str:
        return app("other", in_version(tag, more=f", args: [{option}=auto]"))

    old, new = "--guided-decoding-backend", "--structured-outputs-config.backend"
    written(folder, llmaz=config, chat=chat("v0.10.0", old), other=other("v0.10.0", old))
    done = llmaz("upgrade", "vllm", "--write")
    assert done.code == 1
    assert (folder / "llmaz.yaml").read_text() == config
    assert (folder / "chat.yaml").read_text() == chat("v0.33.0", old)
    assert (folder / "other.yaml").read_text() == other("v0.33.0", new)
    assert [line.partition(":")[0] for line in done.err.splitlines() if "[E431]" in line] == ["chat.yaml"]
    assert done.err.splitlines()[-1] == "2 files written; 1 break left to you"


def test_warnings_fail_with_strict_alone(folder: Path, llmaz: Llmaz) -> None:
    """A value that no list of the new version has is a warning where the version has no list."""
    more = ", args: [--max-num-partial-prefills, '4']"
    written(folder, chat=app("chat", in_version("v0.26.0", more=more)))
    done = llmaz("upgrade", "vllm=0.99.0")
    assert done.code == 0
    assert "warning: " in done.out
    assert "[W431]" in done.out
    assert "[W712]" in done.err
    assert llmaz("upgrade", "vllm=0.99.0", "--strict").code == 2  # W712 is an error then


@pytest.mark.parametrize("words", [("vllm", "--force"), ("vllm", "--format", "yaml"), ()])
def test_wrong_use(words: tuple[str, ...], folder: Path, llmaz: Llmaz) -> None:
    written(folder, chat=OLD)
    assert llmaz("upgrade", *words).code == 2
    assert (folder / "chat.yaml").read_text() == OLD


@pytest.mark.parametrize(("paths", "is_written"), [((), True), (("apps",), False)])
def test_nothing_outside_of_paths_is_written(
    paths: tuple[str, ...], is_written: bool, folder: Path, llmaz: Llmaz
) -> None:
    """The model of an app below PATHS has an option that ended: other apps, which are not rendered, have that too."""

    def model(option: str) -> str:
        engines = f"  engines: {{vllm: {{args: [{option}=auto]}}}}\n"
        return inputs.gpu_model("own") + engines

    old, new = "--guided-decoding-backend", "--structured-outputs-config.backend"
    (folder / "apps").mkdir()
    written(folder, llmaz=f"{inputs.CONFIG}\n  namespace: llm\n", models=model(old))
    written(folder / "apps", chat=app("chat", in_version("v0.10.0"), "own"))
    done = llmaz("upgrade", "vllm=0.33.0", *paths, "--write")
    assert (folder / "apps" / "chat.yaml").read_text() == app("chat", in_version("v0.33.0"), "own")
    assert (folder / "models.yaml").read_text() == model(new if is_written else old)
    assert ("[E431]" in done.err) is not is_written
    assert done.code == (0 if is_written else 1)
