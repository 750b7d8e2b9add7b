"""What a scan of small modules found, under the names that their sources have here."""

from __future__ import annotations

from collections.abc import Callable

from harness.states import Table

Scan = Callable[..., "Scanned"]


class Scanned:
    def __init__(self, names: list[str], table: Table) -> None:
        self.names, self.table = names, table

    @property
    def states(self) -> list[str]:
        return [
            state.replace(self.names[0], "a", 1).replace(self.names[-1], "b", 1)
            for state in self.table.states
        ]

    def sites(self, write: bool) -> set[tuple[str, str]]:
        """(function, state) pairs, with the module names of the source."""
        found = set()
        for code in self.table.codes.values():
            for accesses in code.sites.values():
                found |= {(code.name, access.state) for access in accesses if access.write is write}
        return {tuple(self._short(text) for text in pair) for pair in found}  # type: ignore[misc]

    def _short(self, text: str) -> str:
        for letter, name in zip("ab", self.names, strict=False):
            text = text.replace(name + ".", letter + ".")
        return text
