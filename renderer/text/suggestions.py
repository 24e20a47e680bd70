"""The known word that was meant by an unknown one.

Words are compared by the Indel similarity: twice the length of their longest common subsequence, over their length
together. rapidfuzz takes a tenth of a microsecond for two names; it is imported when the first word is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

MAX_WORD: Final = 253  # characters, as many as any name of Kubernetes has: a longer word stands for none
MAX_KNOWN: Final = 2_000  # words that one is compared with
_MOST_ALIKE = 16  # words of the same similarity


class Vocabulary:
    """Known words, ready to be compared with; what was meant by a word is worked out once."""

    __slots__ = ("_initials", "_meant", "_words")

    def __init__(self, words: tuple[str, ...]) -> None:
        self._words = words
        self._meant: dict[tuple[str, float], str] = {}
        self._initials: dict[str, list[str]] = {}
        for word in words if len(words) > MAX_KNOWN else ():
            same = self._initials.setdefault(word[:1], [])
            if len(same) < MAX_KNOWN:
                same.append(word)

    def closest(self, word: str, cutoff: float) -> str:
        """The most similar of the words, of several the first of those that begin most as it does; '' when none is as
        similar as `cutoff` (1: equal).

        Of more than MAX_KNOWN words only those count that begin with the same character, and the first of these.
        """
        if not 0 < len(word) <= MAX_WORD:
            return ""
        known = self._meant.get((word, cutoff))
        if known is None:
            from rapidfuzz.distance import Indel
            from rapidfuzz.process import extract

            among = self._initials.get(word[0], ()) if self._initials else self._words
            near = extract(word, among, scorer=Indel.normalized_similarity, score_cutoff=cutoff, limit=_MOST_ALIKE)
            alike = [name for name, score, _ in near if score == near[0][1]]
            best = max(alike, key=lambda name: shared_letters(word, name), default="")
            known = self._meant[word, cutoff] = best
        return known


vocabulary = lru_cache(maxsize=16)(Vocabulary)


def closest(word: str, known: Sequence[str], cutoff: float) -> str:
    """The known word that is most similar to this one; '' when none reaches `cutoff` (1: equal)."""
    return vocabulary(tuple(known)).closest(word, cutoff)


def within_letters(word: str, known: Sequence[str], letters: int) -> str:
    """The known word to which the fewest changes of one letter lead, at most `letters` of them, where two neighbours
    that change places are one; '' for none.
    """
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import extractOne

    best = extractOne(word, known, scorer=OSA.distance, score_cutoff=letters) if 0 < len(word) <= MAX_WORD else None
    return best[0] if best else ""


def similarities(word: str, known: Sequence[str]) -> dict[str, float]:
    """How similar each known word is to this one (1: equal), the most similar first, of equal ones that which begins
    most as it does, then the first by the alphabet. Upper and lower case are the same.
    """
    from rapidfuzz.distance import Indel

    folded = word.lower()[:MAX_WORD]
    scores = {name: Indel.normalized_similarity(folded, name.lower()) for name in sorted(known)}
    order = sorted(scores, key=lambda name: (-scores[name], -shared_letters(folded, name.lower())))
    return {name: scores[name] for name in order}


def shared_letters(word: str, other: str) -> int:
    """How many letters two words both begin with."""
    from rapidfuzz.distance import Prefix

    return Prefix.similarity(word, other)
