"""Error cases: every folder beside this file is refused with exactly its stderr.txt.

A folder's name begins with the first code of its text, where that has one: `pytest -k E203`. It holds the input files,
`stderr.txt`, and where it needs one `args.txt` (the whole command line; else it is `render -o out -v`). Nothing is
written, the exit code is 2, and every code of the wording table has a case. `fixed/` is the whole input as it should
be: the page of the code shows the difference.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from renderer.diagnostics.wordings import WORDINGS
from tests.paths import TESTS
from tests.programs import tool

if TYPE_CHECKING:
    from tests.conftest import Golden, Llmaz

ERRORS = TESTS / "errors"
CASES = sorted(path.name for path in ERRORS.glob("*-*"))
FIXED = sorted(path.parent.name for path in ERRORS.glob("*-*/fixed"))
CODE = re.compile(r"\[([ENW]\d{3})\]$", re.MULTILINE)
PROGRAMS = {"--kustomize": "kustomize", "--charts": "helm"}  # that an option asks
OURS = ("stderr.txt", "args.txt", "fixed")
# Codes that no folder can show, with the test that does.
ELSEWHERE = {
    "E804": "diff/test_policy.py::test_a_base_whose_policy_is_broken_allows_nothing",
    "E106": "test_robustness.py::test_file_of_50_megabytes",
    "E124": "test_robustness.py::test_odd_file_names",
    "E126": "cli/test_cli.py::test_machines_hear_what_is_stale",
    "E127": "cli/test_cli.py::test_machines_hear_what_is_stale",
    "E128": "cli/test_cli.py::test_machines_hear_what_is_stale",
    "E140": "test_robustness.py::test_full_disk",
    "E111": "hostile/test_work.py::test_a_line_has_a_length",
    "E112": "hostile/test_work.py::test_a_file_has_so_many_values",
    "E113": "hostile/test_work.py::test_a_key_has_a_length",
    "E114": "hostile/test_work.py::test_aliases_expand_to_so_much_text",
    "E115": "hostile/test_work.py::test_so_many_problems_of_a_file_are_told",
    "E116": "hostile/test_work.py::test_so_many_problems_of_an_object_are_told",
    "W117": "hostile/test_work.py::test_so_many_warnings_of_an_object_are_told",
    "W223": "explain/test_rendered_files.py::test_a_stale_file",
    "E160": "hostile/test_work.py::test_so_many_environments_are_rendered",
    "E161": "cli/test_environment.py::test_a_package_without_its_shared_library",
    "E180": "hostile/test_processes.py::test_nothing_is_written_where_one_is_killed",
    "E181": "hostile/test_processes.py::test_memory_that_runs_out_is_told_as_that",
    "E150": "hostile/test_text.py::test_a_command_whose_output_is_lost_fails",
    "E151": "hostile/test_text.py::test_what_the_system_refuses_is_no_fault_of_ours",
    "W860": "integrations/test_helm_files.py::test_templates_that_helm_ignores",
    "E838": "check/test_check.py::test_size_of_data",
    "E861": "diff/test_guard.py::test_a_file_with_our_line_that_no_input_makes",
    "E862": "diff/test_guard.py::test_the_old_output_folder",
    "E863": "diff/test_guard.py::test_a_change_allows_itself_no_file",
    "E864": "diff/test_guard.py::test_a_config_that_becomes_a_link",
    "E865": "diff/test_charts.py::test_a_chart_that_is_changed_by_hand",
    "N705": "upgrade/test_learnt_versions.py::test_what_breaks_and_what_may",
    "E715": "upgrade/test_writing.py::test_a_changed_file_is_refused",
    "E726": "integrations/gitops/test_argocd.py::test_parameters_that_are_wrong",
    "E745": "diff/test_upgrade.py::test_without_venv_or_pip",
    "E746": "diff/test_upgrade.py::test_a_version_that_pip_does_not_find",
    "E747": "diff/test_upgrade.py::test_a_version_that_is_older_than_the_input",
    "E748": "diff/test_upgrade.py::test_a_renderer_that_does_not_run",
    "E765": "scaffold/test_init.py::test_a_folder_that_no_workflow_can_name",
    "E562": "check/programs/test_process.py::test_a_program_that_is_missing",
    "E780": "source/test_commit.py::test_without_git",
    "E781": "source/test_commit.py::test_outside_of_a_repository",
    "E782": "source/test_commit.py::test_a_name_of_no_commit",
    "E783": "source/test_commit.py::test_commits_without_a_common_one",
    "E784": "hostile/test_git.py::test_a_partial_clone_asks_nobody",
    "E785": "hostile/test_git.py::test_files_that_are_too_much_together",
    "E786": "hostile/test_git.py::test_a_path_of_another_repository",
    "E787": "hostile/test_git.py::test_a_repository_of_somebody_else",
    "N914": "cli/test_cli.py::test_flavors_that_nothing_uses_are_told_when_asked",
    "N788": "output/test_submodules.py::test_without_git_it_is_a_note",
    "E960": "adopt/test_llmaz_objects.py::test_every_code_is_shown",
    "W960": "adopt/test_llmaz_objects.py::test_every_code_is_shown",
    "N960": "adopt/test_llmaz_objects.py::test_every_code_is_shown",
    "E961": "adopt/test_llmaz_objects.py::test_every_code_is_shown",
    "N961": "adopt/test_llmaz_objects.py::test_every_code_is_shown",
    "E962": "adopt/test_llmaz_objects.py::test_every_code_is_shown",
    "N962": "adopt/test_llmaz_objects.py::test_every_code_is_shown",
    "E963": "adopt/test_llmaz_objects.py::test_every_code_is_shown",
    **dict.fromkeys(
        ("E965", "W965", "W966", "W967", "W968", "W969", "N965", "N966", "N967"),
        "adopt/sources/test_sources.py::test_each_code_is_shown",
    ),
}


def everything(folder: Path) -> dict[Path, bytes | None]:
    """Every path below the folder, with what it holds where that is a file."""
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.mark.parametrize("name", CASES)
def test_error(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz, golden: Golden) -> None:
    case, work = ERRORS / name, tmp_path / "input"
    shutil.copytree(case, work, symlinks=True, ignore=lambda folder, names: OURS if Path(folder) == case else ())
    monkeypatch.chdir(work)
    before = everything(work)
    arguments = case / "args.txt"
    words = shlex.split(arguments.read_text()) if arguments.exists() else ["render", "-o", "out", "-v"]
    for option, program in PROGRAMS.items():
        if option in words:
            monkeypatch.setenv("PATH", str(tool(program).parent), prepend=os.pathsep)
    done = llmaz(*words)
    assert done.code == 2, done.err
    assert "Traceback" not in done.err
    assert everything(work) == before
    golden(f"errors/{name}/stderr.txt", done.err)


@pytest.mark.parametrize("name", FIXED)
def test_fixed_input_is_valid(name: str, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz) -> None:
    monkeypatch.chdir(ERRORS / name / "fixed")
    done = llmaz("validate", "--strict")
    assert done.code == 0, done.err
    assert set(CODE.findall(done.err)) <= {"N480"}  # of facts that a case is not about


@pytest.mark.parametrize("name", CASES)
def test_a_folder_begins_with_its_first_code(name: str) -> None:
    codes = CODE.findall((ERRORS / name / "stderr.txt").read_text())
    is_about_notes = name.startswith("N")
    assert (
        re.findall(r"^[A-Z]\d{3}(?=-)", name)
        == [code for code in codes if is_about_notes or not code.startswith("N")][:1]
    )


def shown(*patterns: str) -> set[str]:
    """The codes that goldens of standard error hold."""
    text = "".join(path.read_text() for pattern in patterns for path in TESTS.glob(pattern))
    return set(CODE.findall(text))


def test_every_code_is_shown() -> None:
    codes = shown("errors/*/stderr.txt", "data/chain/variants/*/stderr.txt")
    codes |= {code for code in shown("cases/*/stderr.txt") if code.startswith("W")}
    codes |= {code for code in shown("adopt/*/*/report.txt") if code[1:].startswith("95") or code in ("N964", "W964")}
    assert sorted(set(WORDINGS) - codes - set(ELSEWHERE)) == []
    assert sorted(codes - set(WORDINGS)) == []
    assert sorted(codes & set(ELSEWHERE)) == [], "a folder shows these: ELSEWHERE need not list them"


@pytest.mark.parametrize("test", sorted(set(ELSEWHERE.values())))
def test_elsewhere_is_there(test: str) -> None:
    """The tests that ELSEWHERE names exist, and name their codes."""
    file, _, name = test.partition("::")
    text = (TESTS / file).read_text()
    assert f"def {name}(" in text
    for code in (code for code, where in ELSEWHERE.items() if where == test):
        assert code in text
