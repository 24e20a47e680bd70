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
        """The first of the words that are most similar; '' when none is as similar as `cutoff` (1: equal).

        Of more than MAX_KNOWN words only those count that begin with the same character, and the first of these.
        """
        if not 0 < len(word) <= MAX_WORD:
            return ""
        known = self._meant.get((word, cutoff))
        if known is None:
            from rapidfuzz.distance import Indel
            from rapidfuzz.process import extractOne

            among = self._initials.get(word[0], ()) if self._initials else self._words
            best = extractOne(word, among, scorer=Indel.normalized_similarity, score_cutoff=cutoff)
            known = self._meant[word, cutoff] = best[0] if best else ""
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
