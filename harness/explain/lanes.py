"""The lanes in plain characters: threads side by side, time downwards.

``|`` has the baton, ``:`` is parked, ``>>`` marks the write and the read that made the difference, and the failure.
"""

from __future__ import annotations

import textwrap

from .event import Event
from .story import Story
from .words import function, named, short_path, what

_MARGIN = 3


def draw(story: Story, width: int = 110) -> list[str]:
    """Lines of at most ``width`` columns where three lanes or fewer stand side by side; more share one column of text."""
    return _Drawing(story, width).lines()


class _Drawing:
    def __init__(self, story: Story, width: int) -> None:
        self.story = story
        beside = len(story.lanes) <= 3
        self.step = (width - _MARGIN) // max(1, len(story.lanes)) if beside else 4
        self.text = None if beside else _MARGIN + self.step * len(story.lanes)  # where all texts begin
        self.room = (self.step - 4) if self.text is None else max(30, width - self.text - 6)
        self.column = {name: _MARGIN + self.step * i for i, name in enumerate(story.lanes)}
        self.alive: set[str] = set()

    def lines(self) -> list[str]:
        if not self.story.lanes:
            return []
        found = [self._head()] if self.text is None else [*(f"   {named(self.story, t)}" for t in self.story.lanes), self._head()]
        for event in self.story.events:
            found += self._arrow(event) if event.kind == "hand over" else self._event(event)
        return found

    def _head(self) -> str:
        line = ""
        for name in self.story.lanes:
            line = line.ljust(self.column[name]) + (named(self.story, name)[: self.room] if self.text is None else name)
        return line

    def _row(self, active: str, sign: str = "|") -> list[str]:
        row = [" "] * (max(self.column.values()) + 1)
        for name in self.alive:
            row[self.column[name]] = sign if name == active else ":"
        return row

    def _event(self, event: Event) -> list[str]:
        if event.kind == "start":
            self.alive.add(event.lane)
        if not event.lane:
            return [">> " + line for line in textwrap.wrap(what(event), len(self._row("")) + self.room) or [""]]
        found = []
        sign = "X" if event.kind == "fail" and event.key else "|"
        for index, text in enumerate(self._texts(event)):
            row = "".join(self._row(event.lane, sign if index == 0 else "|"))
            if event.key and index == 0:
                row = ">>" + row[2:]
            after = self.column[event.lane] + 3 if self.text is None else self.text
            others = row[after:] if self.text is None else ""
            line = row[:after].ljust(after) + text
            # lanes to the right go on beside the text
            found.append(line + others[len(text) :] if len(text) < len(others) else line)
        if event.kind == "end":
            self.alive.discard(event.lane)
        return [line.rstrip() for line in found]

    def _texts(self, event: Event) -> list[str]:
        text = what(event) if self.text is None else f"{event.lane} {what(event)}"
        lines = textwrap.wrap(text, self.room, break_on_hyphens=False)
        if len(lines) > 4:
            lines = [*lines[:3], lines[3][: self.room - 2] + " …"]
        if event.file:
            at = f"  {function(event.function)}, {short_path(event.file).rpartition('/')[2]}:{event.line}"
            lines += textwrap.wrap(at, self.room, subsequent_indent="    ", break_on_hyphens=False)
        return lines or [""]

    def _arrow(self, event: Event) -> list[str]:
        row = self._row("")
        start, end = self.column[event.lane], self.column[event.to]
        low, high = min(start, end), max(start, end)
        for i in range(low, high + 1):
            row[i] = "-"
        row[start], row[end] = "+", ">" if end > start else "<"
        text = f" hands over {event.text} " if event.asked else f" {event.text} " if event.text else ""
        if self.text is None and len(text) <= high - low - 4:
            row[low + 2 : low + 2 + len(text)] = text
            return ["".join(row).rstrip()]
        line = "".join(row)
        return [(line.ljust(self.text or 0) + f"{event.lane} hands over to {event.to}{': ' if text else ''}{event.text}").rstrip()]
