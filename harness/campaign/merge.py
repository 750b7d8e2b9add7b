"""Stores of parts of a campaign, put together."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from harness.errors import UserError

from .store import Content, Store, file_of


def merge(paths: Sequence[Path]) -> Content:
    """Every unit and failure of any of them, once.

    Raises UserError where they are of different campaigns, or say different things of the same unit.
    """
    together: Content | None = None
    where: dict[int, Path] = {}
    for path in paths:
        with Store(path) as store:
            part = store.content
        if together is None:
            together = Content(part.plan)
        elif why := part.plan.difference(together.plan):
            raise UserError(f"{path}: of another campaign than {paths[0]}: {why}")
        for number, unit in part.units.items():
            if number in together.units and together.units[number] != unit:
                scenario = part.plan.unit(number).cell.scenario
                raise UserError(
                    f"{path}: unit {number} ({scenario}) differs from {where[number]}: the scenario is not deterministic"
                )
            together.units.setdefault(number, unit)
            together.seconds.setdefault(number, part.seconds[number])
            where.setdefault(number, path)
        for key, failure in part.failures.items():
            known = together.failures.get(key)
            if known is None or (known["minimal"] is None and failure["minimal"] is not None):
                together.failures[key] = failure
    assert together is not None, "at least one store"
    return together


def write(content: Content, path: Path) -> None:
    """A new store, whole or not at all. Raises UserError where there is something already."""
    target = file_of(path)
    if target.exists():
        raise UserError(f"{target}: is there already; name a store that is to be made")
    temporary = target.with_name(f"{target.name}.{secrets.token_hex(4)}")
    try:
        with Store(temporary, content.plan) as store, store.all_or_nothing():
            for key in sorted(content.failures):
                store.add_failure(key, content.failures[key])
            for number in sorted(content.units):
                store.add_unit(number, content.units[number], content.seconds[number])
        try:
            os.rename(temporary, target)
        except OSError as error:
            raise UserError(f"{target}: {error.strerror}") from None
    finally:
        for leftover in (temporary, temporary.with_name(f"{temporary.name}-journal")):
            with suppress(OSError):
                leftover.unlink()
