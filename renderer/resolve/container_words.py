"""The words of templates for a container, whose `args`, `command` and variables Kubernetes reads once more."""

from __future__ import annotations

from renderer.template import Words
from renderer.text import escapes


class ContainerWords(dict[str, object]):
    """Words for the arguments and variables of a container, where texts hold what Kubernetes would read there."""

    def __init__(self, literal: Words) -> None:
        super().__init__({word: _for_container(value) for word, value in literal.items()})
        self.literal = literal  # the words as they are


def container_words(words: Words) -> Words:
    """The words as Kubernetes gives them to the container: the same ones, where no text means anything to it."""
    for value in filter(None, words.values()):  # no `any`: this runs for each app, over all words
        if type(value) is str:
            if "$" in value:
                return ContainerWords(words)
        elif type(value) is tuple and "$" in "".join(value):
            return ContainerWords(words)
    return words


def _for_container(value: object) -> object:
    if isinstance(value, tuple):
        return tuple(map(_for_container, value))
    return escapes.container_text(value) if isinstance(value, str) else value


def literal_words(words: Words) -> Words:
    """The words for what Kubernetes leaves as it is: probes, hooks, files."""
    return words.literal if isinstance(words, ContainerWords) else words
