"""What a run tells: a JSONL file, TensorBoard on request, a progress bar."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, TextIO

from dflash.errors import UserError


class Log:
    """`log.jsonl`, one object per line with `step` and `kind` ("train", "validate"); a context manager."""

    def __init__(self, directory: Path, tensorboard: bool = False, resume_step: int | None = None) -> None:
        self.path = directory / "log.jsonl"
        directory.mkdir(parents=True, exist_ok=True)
        if resume_step is None:
            self.path.write_text("")
        else:
            self._cut(resume_step)
        self.file: TextIO = self.path.open("a")
        self.board: Any = None
        if tensorboard:
            try:
                from torch.utils.tensorboard import SummaryWriter
            except ImportError:
                raise UserError(
                    "output.tensorboard needs the package tensorboard: install the 'dflash' extra"
                ) from None
            # The reader hides what was logged at this step and after it; the resumed step itself stays.
            purge = None if resume_step is None else resume_step + 1
            self.board = SummaryWriter(str(directory / "tensorboard"), purge_step=purge)

    def _cut(self, step: int) -> None:
        """Drop what was logged after the checkpoint that is resumed, and a torn last line."""
        if not self.path.exists():
            return
        whole = []
        for line in self.path.read_text().splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                break
            if entry["step"] <= step:
                whole.append(line + "\n")
        self.path.write_text("".join(whole))

    def write(self, step: int, kind: str, **values: Any) -> None:
        """Numbers that aren't finite become null, which JSON has."""
        clean = {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in values.items()}
        self.file.write(json.dumps({"step": step, "kind": kind, **clean}) + "\n")
        self.file.flush()
        if self.board is not None:
            for key, value in clean.items():
                if isinstance(value, (int, float)):
                    self.board.add_scalar(f"{kind}/{key}", value, step)
                elif isinstance(value, list):
                    for i, item in enumerate(value, 1):
                        self.board.add_scalar(f"{kind}/{key}/{i}", item, step)

    def close(self) -> None:
        self.file.close()
        if self.board is not None:
            self.board.close()

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
