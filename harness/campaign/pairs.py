"""Coverage: of the pairs of a write and an access that two threads could bring together, how many met.

A pair is a state, a thread that writes it and another that reads (``r``) or writes (``w``) it: ``0>1r``. It is *seen*
when both accesses occurred, in whatever runs; it is *met* when in one run the access found what the writer had
written, and the writer had not ended: there the second thread saw the first one half-way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.run.report import Report


class Pairs:
    def __init__(self) -> None:
        self._kinds: dict[str, set[str]] = {}  # state -> "0w", "1r": thread and kind of access
        self._met: dict[str, set[str]] = {}

    def learn(self, report: Report) -> None:
        wrote: dict[str, str] = {}  # state -> who wrote it last
        ended: set[str] = set()
        for thread, point, _ in report.log:
            root = thread.partition(".")[0][1:]
            kind, _, state = point.partition(":")
            if point == "end" and "." not in thread:
                ended.add(root)
            if kind not in ("read", "write"):
                continue
            self._kinds.setdefault(state, set()).add(root + kind[0])
            writer = wrote.get(state)
            if writer is not None and writer != root and writer not in ended:
                self._met.setdefault(state, set()).add(f"{writer}>{root}{kind[0]}")
            if kind == "write":
                wrote[state] = root

    def to_json(self) -> dict[str, list[str]]:
        """State to its pairs; ``+`` marks those that met. States that one thread alone touches are left out."""
        found = {}
        for state, kinds in sorted(self._kinds.items()):
            met = self._met.get(state, set())
            pairs = [
                f"{writer[:-1]}>{access}" + ("+" if f"{writer[:-1]}>{access}" in met else "")
                for writer in sorted(kinds)
                for access in sorted(kinds)
                if writer[-1] == "w" and writer[:-1] != access[:-1]
            ]
            if pairs:
                found[state] = pairs
        return found


def _flat(cell: int, pairs: dict[str, list[str]]) -> Iterator[tuple[int, str, str]]:
    for state, texts in pairs.items():
        for text in texts:
            yield cell, state, text


class Coverage:
    """The union over units: pairs of one cell are apart from another's."""

    def __init__(self) -> None:
        self.seen: set[tuple[int, str, str]] = set()
        self.met: set[tuple[int, str, str]] = set()

    def add(self, cell: int, pairs: dict[str, list[str]]) -> None:
        flat: Iterable[tuple[int, str, str]] = _flat(cell, pairs)
        for number, state, text in flat:
            pair = (number, state, text.rstrip("+"))
            self.seen.add(pair)
            if text.endswith("+"):
                self.met.add(pair)

    def __str__(self) -> str:
        return f"{len(self.met)} of {len(self.seen)} state pairs"
