"""`$(NAME)` in command lines, as the kubelet fills it in."""

from __future__ import annotations

import pytest

from renderer.kubernetes.variable_references import as_process_sees, fill_in, plain_variables, references

VARIABLES = {"A": "one", "B_2": "two words", "EMPTY": "", "LATER": "$(A)"}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("$(A)", "one"),
        ("--x=$(A)/$(B_2)", "--x=one/two words"),
        ("$(EMPTY)", ""),
        ("$(UNKNOWN)", "$(UNKNOWN)"),  # left as it is
        ("$$(A)", "$(A)"),  # escaped, and not filled in
        ("$$$(A)", "$one"),
        ("$$$$(A)", "$$(A)"),
        ("$(LATER)", "$(A)"),  # a value is not filled in again
        ("$(A", "$(A"),
        ("$A", "$A"),  # a shell's
        ("${A}", "${A}"),
        ("$", "$"),
        ("100$", "100$"),
        ("$()", "$()"),
        ("a$(A)$(UNKNOWN)$(B_2)", "aone$(UNKNOWN)two words"),
    ],
)
def test_words(text: str, word: str) -> None:
    assert as_process_sees(text, VARIABLES) == word


def test_variables_are_filled_in_with_those_before_them() -> None:
    env = [
        {"name": "A", "value": "a"},
        {"name": "B", "value": "$(A)-$(C)"},
        {"name": "C", "value": "c"},
        {"name": "D", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
        {"name": "E"},
    ]
    assert plain_variables({"env": env}) == {"B": "a-$(C)", "C": "c", "E": ""}


def test_what_is_written_again_keeps_its_escapes() -> None:
    assert fill_in("$$(A) $(A)", VARIABLES) == "$$(A) one"
    assert list(references({"command": ["sh", "$(A)"], "args": ["$$(B)", "$(C)$(D)", 1]})) == ["A", "C", "D"]
