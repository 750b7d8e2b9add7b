"""How long a strategy that draws goes on: it has its turn, and the rest of the search is the exhaustive one's."""

from __future__ import annotations

STALE = 24  #: so many runs in a row that were no news, and it has nothing left to propose
MOST = 100  #: proposals in one search


class Turn:
    """``over`` after ``most`` proposals, or when its last ``STALE`` runs showed nothing that was not known."""

    def __init__(self, most: int = MOST) -> None:
        self._left = most
        self._stale = 0
        self._digests: set[str] = set()

    def saw(self, digest: str, mine: bool) -> bool:
        """A run of the search was told; ``mine``: the strategy proposed it. Is it news?"""
        news = digest not in self._digests
        self._digests.add(digest)
        if mine:
            self._stale = 0 if news else self._stale + 1
        return news

    def proposed(self) -> None:
        self._left -= 1

    @property
    def began(self) -> bool:
        """Has any run been told?"""
        return bool(self._digests)

    @property
    def over(self) -> bool:
        return self._stale >= STALE or self._left <= 0
