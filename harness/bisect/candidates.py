"""Which releases lie between two ends, in the order of PEP 440, and which of them are not tested, and why."""

from __future__ import annotations

import re
from collections.abc import Iterable

from packaging.version import InvalidVersion, Version

from harness import releases
from harness.errors import UserError
from harness.releases import NIGHTLY, Published

_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")


def choose(
    old: str, new: str, python: str, *, index: str = "", cached_only: bool = False, yanked: bool = False, pre: bool = False
) -> tuple[list[str], dict[str, str]]:
    """(releases to be tested, both ends among them; those between that are left out, with why).

    Raises UserError for ends that are none, in the wrong order, or not to be had.
    """
    dates = [bool(_DATE.fullmatch(end)) for end in (old, new)]
    if any(dates):
        if not all(dates):
            raise UserError("--old and --new: two releases, or two dates of nightly builds")
        index, pre = index or NIGHTLY, True
    known = _cached(python) if cached_only else releases.published(index)
    if all(dates):
        known = [each for each in known if _day(each.version)]
        old, new = _dated(known, old, new)
    low, high = _version("--old", old), _version("--new", new)
    if low >= high:
        raise UserError(f"--old {old}, --new {new}: the older release first, and not the same")
    for name, end in (("--old", low), ("--new", high)):
        _must_be_there(name, end, known, python, cached_only, yanked)
    chosen, left_out = [], {}
    for each in known:
        version = Version(each.version)
        if not low <= version <= high:
            continue
        why = "" if version in (low, high) else _why_not(each, python, yanked, pre)
        if why:
            left_out[each.version] = why
        elif each.version not in chosen:
            chosen.append(each.version)
    return chosen, left_out


def _cached(python: str) -> list[Published]:
    found = {each.torch: Published(each.torch, "", frozenset({python})) for each in releases.installed() if each.python == python}
    mine = releases.cache.this_release()
    if mine and releases.cache.here(mine, python):
        found[mine] = Published(mine, "", frozenset({python}))
    return sorted(found.values(), key=lambda each: Version(each.version))


def _version(name: str, text: str) -> Version:
    try:
        return Version(Version(text).public)
    except InvalidVersion:
        raise UserError(f"{name} {text!r}: no version of torch (2.12.1, say, or a nightly's date as 2026-11-01)") from None


def _must_be_there(name: str, end: Version, known: Iterable[Published], python: str, cached_only: bool, yanked: bool) -> None:
    each = next((each for each in known if Version(each.version) == end), None)
    if each is None and cached_only:
        raise UserError(f"{name} {end}: no environment of it is at hand; make one: harness env add {end}")
    if each is None:
        near = sorted(known, key=lambda other: _apart(Version(other.version), end))[:3]
        raise UserError(f"{name} {end}: no such release (near it: {', '.join(other.version for other in near) or 'none'})")
    if each.yanked and not yanked:
        raise UserError(f"{name} {end}: was yanked ({each.yanked}); --yanked takes it all the same")
    if python not in each.pythons:
        have = ", ".join(sorted(each.pythons, key=lambda text: int(text[2:]))) or "none"
        raise UserError(f"{name} {end}: no wheel for Python {python} on this machine (there are for: {have}); choose one with --python")


def _apart(one: Version, other: Version) -> list[int]:
    ours, theirs = ((*version.release, 0, 0)[:3] for version in (one, other))
    return [abs(a - b) for a, b in zip(ours, theirs, strict=True)]


def _why_not(each: Published, python: str, yanked: bool, pre: bool) -> str:
    if each.yanked and not yanked:
        return f"yanked ({each.yanked})"
    if Version(each.version).is_prerelease and not pre:
        return "a pre-release"
    if python not in each.pythons:
        return f"no wheel for Python {python}"
    return ""


def _day(version: str) -> str:
    """``20261101`` of ``2.16.0.dev20261101``."""
    dev = Version(version).dev
    return str(dev) if dev is not None and len(str(dev)) == 8 else ""


def _dated(known: list[Published], old: str, new: str) -> tuple[str, str]:
    """The last nightly on or before the old date, the first on or after the new one."""
    first, last = (text.replace("-", "") for text in (old, new))
    before = [each.version for each in known if _day(each.version) <= first]
    after = [each.version for each in known if _day(each.version) >= last]
    for name, date, found in (("--old", old, before), ("--new", new, after)):
        if not found:
            days = f"{_day(known[0].version)} to {_day(known[-1].version)}" if known else "no nightly at all"
            raise UserError(f"{name} {date}: the index has no nightly of that time (it has {days})")
    return before[-1], after[0]
