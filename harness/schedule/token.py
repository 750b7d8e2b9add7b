"""A schedule as one line to copy and paste: readable, safe in a shell, with format version and checksum.

``race1,flag.warm,threads=2,T0@write:torch.fx._symbolic_trace._is_fx_tracing_flag@1@T1,5f3a9c``

Fields are separated by commas; what is not said is the default. Characters that a shell or this format would read
otherwise are percent-encoded. A token is data: it is parsed, never evaluated.
"""

from __future__ import annotations

import hashlib
import json
import re
from urllib.parse import quote, unquote

from harness.errors import UserError

from .schedule import Directive, Schedule, action_of

FORMAT = "race1"
_SAFE = "/:._-+"
_CHECK = 6


def _q(text: str) -> str:
    return quote(text, safe=_SAFE)


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_CHECK]


def to_token(schedule: Schedule) -> str:
    parts = [FORMAT, _q(schedule.scenario), f"threads={schedule.threads}"]
    if schedule.first:
        parts.append(f"first={schedule.first}")
    if schedule.free:
        parts.append("mode=free")
    parts += [f"{name}={_q(json.dumps(value))}" for name, value in sorted(schedule.axes.items())]
    parts += [f"{d.thread}@{_q(d.point)}@{d.n}@{d.does}" for d in schedule.directives]
    text = ",".join(parts)
    return f"{text},{_checksum(text)}"


def looks_like_token(text: str) -> bool:
    """Where a scenario or a token may stand; whether it is whole, :func:`from_token` says."""
    return text.startswith("race") and "," in text


def from_token(token: str) -> Schedule:
    """Raises UserError, in one line, for anything that :func:`to_token` does not make."""
    token = token.strip()
    text, comma, check = token.rpartition(",")
    version = token.partition(",")[0]
    if not comma or not re.fullmatch(r"race\d{1,4}", version):
        raise UserError("not a token: it begins with race1, and ends in a checksum; was it copied whole?")
    if version != FORMAT:
        raise UserError(f"token of format {version}: this version reads {FORMAT}; make it again with `harness find`")
    if _checksum(text) != check:
        raise UserError("the token's checksum does not match: was it copied whole, and not edited?")
    try:
        schedule = _parse(text.split(",")[1:])
        if to_token(schedule) != token:
            raise ValueError("it says the same in another form")
    except (ValueError, TypeError, RecursionError) as error:
        raise UserError(f"malformed token: {error}") from None
    return schedule


def _parse(fields: list[str]) -> Schedule:
    if not fields:
        raise ValueError("no scenario")
    scenario, settings, axes = unquote(fields[0]), {}, {}
    directives: list[Directive] = []
    for item in fields[1:]:
        if "@" in item:
            thread, point, n, action = (unquote(part) for part in item.split("@"))
            directives.append(Directive(thread, point, int(n), action_of(action)))
            continue
        name, equals, value = item.partition("=")
        if not equals or directives or name in settings or name in axes:
            raise ValueError(f"unexpected {item!r}")
        if name in ("threads", "first", "mode"):
            settings[name] = value
        else:
            axes[name] = json.loads(unquote(value))
    if "threads" not in settings:
        raise ValueError("no threads=")
    mode = settings.get("mode", "gil")
    if mode not in ("gil", "free"):
        raise ValueError(f"mode {mode!r}: gil or free")
    threads, first = int(settings["threads"]), int(settings.get("first", "0"))
    return Schedule(scenario, threads, first, mode == "free", axes, tuple(directives))
