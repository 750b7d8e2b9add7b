"""JSONL files as a list of records of which only the line offsets are in memory.

A record is one of
  {"messages": [{"role": ..., "content": ...}, ...]}     a chat
  {"prompt": "...", "response": "..."}                   one turn; the response may be missing
  {"text": "..."}                                        plain text
  {"prompt_ids": [...], "response_ids": [...]}           tokens, as `dflash regenerate` writes them
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dflash.errors import UserError

Record = dict[str, Any]


def parse(line: bytes) -> Record:
    """One record; raises ValueError saying what is wrong with the line."""
    if not line.strip():
        raise ValueError("the line is empty")
    try:
        record = json.loads(line)
    except UnicodeDecodeError:
        raise ValueError("the line is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg} at column {error.colno})") from None
    if not isinstance(record, dict):
        raise ValueError("the line is not a JSON object")
    if "prompt_ids" in record:
        for key in ("prompt_ids", "response_ids"):
            ids = record.get(key)
            if not isinstance(ids, list) or not all(isinstance(i, int) for i in ids):
                raise ValueError(f"{key} must be a list of integers")
    elif "messages" in record:
        turns = record["messages"]
        if not isinstance(turns, list) or not turns:
            raise ValueError("messages must be a list that is not empty")
        for turn in turns:
            if not isinstance(turn, dict) or not all(
                isinstance(turn.get(k), str) for k in ("role", "content")
            ):
                raise ValueError("every message needs a role and a content, both strings")
    elif not any(isinstance(record.get(k), str) and record[k] for k in ("prompt", "text")):
        raise ValueError("no messages, prompt or text in it")
    return record


class Records(Sequence[Record]):
    """Every line is read and checked once; after that, records are read from disk as asked for.

    Raises UserError naming file and line; with `skip_bad`, bad lines are left out and counted in `skipped`.
    """

    def __init__(self, paths: Sequence[str | Path], skip_bad: bool = False) -> None:
        self.paths = [Path(p) for p in paths]
        self.skipped = 0
        self._file, self._offset = array("l"), array("q")
        for number, path in enumerate(self.paths):
            for line_number, offset, line in _lines(path):
                if line.startswith(b'{"skipped"'):  # a prompt that regeneration was told to skip
                    self.skipped += 1
                    continue
                try:
                    parse(line)
                except ValueError as error:
                    if not skip_bad:
                        raise UserError(
                            f"{path}:{line_number}: {error} (--skip-bad leaves such lines out)"
                        ) from None
                    self.skipped += 1
                else:
                    self._file.append(number)
                    self._offset.append(offset)
        if not len(self):
            names = ", ".join(map(str, self.paths)) or "the list of files"
            raise UserError(f"{names}: no records found ({self.skipped} bad lines skipped)")

    def __len__(self) -> int:
        return len(self._offset)

    def __getitem__(self, index: int) -> Record:  # type: ignore[override]
        path = self.paths[self._file[index]]
        try:
            with path.open("rb") as file:
                file.seek(self._offset[index])
                return parse(file.readline())
        except (OSError, ValueError) as error:
            raise UserError(f"{path}: changed or vanished while it was read ({error})") from None


def _lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Line number from 1, byte offset and content."""
    try:
        with path.open("rb") as file:
            offset = 0
            for number, line in enumerate(file, 1):
                yield number, offset, line
                offset += len(line)
    except OSError as error:
        raise UserError(f"{path}: can't be read ({error.strerror})") from None
