"""A kind of state: how functions show that there is one, and at which instructions they touch it."""

from __future__ import annotations

from collections.abc import Iterator, Set
from types import CodeType, ModuleType
from typing import NamedTuple, Protocol

from ..codes import Access
from ..flow import Event


class Found(NamedTuple):
    """One function of a scanned module and what its instructions access. ``fine``: of the scenario's own code."""

    module: ModuleType
    qualname: str
    code: CodeType
    events: list[Event]
    fine: bool


class Kind(Protocol):
    """Two passes: ``makes`` over the functions that ``may_make`` lets through gives the states; ``sites`` over those
    that use one of ``words`` gives the accesses."""

    name: str
    #: its states belong to the modules scanned; others are dropped, since their readers were not looked for
    within: bool

    def may_make(self, code: CodeType, fine: bool) -> bool: ...

    def makes(self, found: Found) -> Iterator[str]: ...

    def words(self, states: Set[str]) -> set[str]:
        """Names that a function which touches one of ``states`` must use."""
        ...

    def sites(self, found: Found, states: Set[str]) -> Iterator[tuple[int, Access]]: ...


def last_words(states: Set[str]) -> set[str]:
    return {state.replace(":", ".").rpartition(".")[2] for state in states}
