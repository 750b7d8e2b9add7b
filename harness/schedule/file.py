"""The same schedule as a readable JSON file, with where it was found and what it was before it was reduced."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from pathlib import Path
from typing import Any

from harness.errors import UserError

from .schedule import Schedule

FORMAT = 1


def write_file(path: Path, schedule: Schedule, **about: Any) -> None:
    """Atomic: either the whole file or none, with the mode that a new file has. ``about`` holds plain data (original,
    outcome, torch, python, …).

    Raises UserError where it cannot be written.
    """
    data = {"format": FORMAT, "schedule": schedule.to_json(), **about}
    write_text(path, json.dumps(data, indent=1) + "\n")


def write_text(path: Path, text: str) -> None:
    """Atomic: either the whole file or none, with the mode that a new file has. Raises UserError where it cannot be."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    if path.exists() and not path.is_file():  # a rename would take a device's or a pipe's place
        raise UserError(f"{path}: not a file that can be written")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        _remove(temporary)
        raise UserError(f"{path}: {error.strerror}") from None
    except BaseException:
        _remove(temporary)
        raise


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def read_file(path: Path) -> tuple[Schedule, dict[str, Any]]:
    """(schedule, all that the file says). Raises UserError in one line."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not a schedule file: {error}") from None
    if not isinstance(data, dict) or "schedule" not in data:
        raise UserError(f"{path}: not a schedule file: it has no schedule")
    if data.get("format") != FORMAT:
        raise UserError(f"{path}: of format {data.get('format')!r}; this version reads {FORMAT}")
    try:
        return Schedule.from_json(data["schedule"]), data
    except (ValueError, TypeError) as error:
        raise UserError(f"{path}: malformed schedule: {error}") from None
