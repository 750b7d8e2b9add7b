"""From two recorded runs, the failing one and the same threads without a switch, to the states that may have made the
difference, the likeliest first. Which one did is then tried: :func:`harness.verdict.why.cause_of`.

For each thread, its reads are matched with those of the control run by (state, how many-eth time). Likeliest is a read
that saw another thread's value and another value than undisturbed, late, and in the thread that failed; then states that
several threads wrote; then all that one thread had written when another went on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from harness.run.report import Report

from .behind import Access, behind

Late = list[tuple[Access, str]]
Place = tuple[str, int]
_COLLECTION = "'s collection"


@dataclass
class Cause:
    """state   the process-wide variable
    write   the access that set what was read (None where none was seen)
    read    the access that saw another thread's value
    normal  what the same read sees when nobody interferes
    trail   every access to the state, in order; of a class's objects, to the one that ``write`` is about
    proved  with the state, and those of ``with_it``, each thread's own the same schedule passes
    then    where ``read`` is as usual, only early: the last access of its thread that sees another value of another state
            than undisturbed, ``then_normal``. No run proves that this one matters
    """

    state: str
    write: Access | None
    read: Access | None
    normal: str
    trail: list[Access]
    proved: bool = False
    with_it: tuple[str, ...] = ()
    then: Access | None = None
    then_normal: str = ""


def guilty(cause: Cause | None) -> tuple[str, ...]:
    """The states without which it does not fail."""
    return () if cause is None else (cause.state, *cause.with_it)


def candidates(failing: Report, control: Report) -> list[Cause]:
    """One for each state; empty where none was written (a lock order, a container that is not a state)."""
    end = next((f.at for f in failing.findings if f.kind == failing.outcome), len(failing.log))
    collected = any(made.ran for made in failing.collections)
    if collected:
        failing, control = _apart(failing), _apart(control)
    late = behind(failing, control, end)
    found = [_too_early(_rather(cause, failing), late) for cause in _read_from_another(failing, control, end)]
    written: dict[str, list[Access]] = {}
    in_turn: dict[Place, set[str]] = {}
    for access in failing.accesses:
        if access["kind"] == "write" and access["at"] <= end:
            written.setdefault(access["state"], []).append(access)
            in_turn.setdefault(_of(access), set()).add(access["thread"])
    leaked = next((f.signature for f in failing.findings if f.kind == "state leaked"), "")
    if collected and not leaked:
        return found  # what a finalizer counts is not what went wrong
    lost = {write["state"] for _, _, write in overwritten([access for access in failing.accesses if access["at"] <= end])}
    crossed = sorted(
        {state for (state, _), threads in in_turn.items() if len(threads) > 1},
        key=lambda state: (state not in leaked, state not in lost, state),
    )
    others = sorted(written, key=lambda state: (-written[state][-1]["at"], state))
    known = {cause.state for cause in found}
    failed = next((f.thread for f in failing.findings if f.kind == failing.outcome), "")
    unwritten = [cause for cause in _not_yet(failing, late, failed) if cause.state not in {*known, *crossed}]
    switched = min((at for _, forced, at in failing.switches if not forced), default=end)
    found += unwritten
    known |= {cause.state for cause in unwritten}
    for state in (*crossed, *others):
        if state not in known:
            known.add(state)
            writes = written[state]
            if state in crossed:  # of the objects of a class, one that several threads wrote
                writes = [write for write in writes if len(in_turn[_of(write)]) > 1]
            before = [write for write in writes if write["at"] < switched]
            write = (before or writes)[-1]
            found.append(Cause(state, write, None, "", _trail(failing, write)))
    return found


def _rather(cause: Cause, failing: Report) -> Cause:
    """Of a class's objects, one of which an update was lost comes before one of which another thread's value was read; so does
    a lost update before what the thread that started the others reads of it when they have ended, and before a read that is
    as usual."""
    assert cause.write is not None
    assert cause.read is not None
    of_object = bool(cause.write.get("of", 0))
    by_main = cause.write["thread"].startswith(cause.read["thread"] + ".")
    telling = not by_main and cause.normal != cause.read["value"]
    if telling and not of_object:
        return cause
    mine = [
        access for access in failing.accesses
        if access["state"] == cause.state and (access.get("of", 0) if of_object else access["at"] <= cause.read["at"])
    ]  # fmt: skip
    lost = [write for _, _, write in overwritten(mine)]
    same = [write for write in lost if write.get("of", 0) == cause.write.get("of", 0)]
    if not lost or (telling and same):
        return cause
    write = (same or lost)[0]
    return Cause(cause.state, write, None, "", _trail(failing, write))


def overwritten(accesses: list[Access]) -> list[tuple[Access, Access, Access]]:
    """(read, another thread's write after it, write) for each write of what was worked out from a value that had been
    replaced meanwhile: the first thread's update is lost, or the second's."""
    known: dict[tuple[Place, str], Access] = {}
    written: dict[Place, Access] = {}
    found = []
    for access in accesses:
        place, mine = _of(access), (_of(access), access["thread"])
        if access["kind"] == "read":
            known[mine] = access
            continue
        before = written.get(place)
        if before and before["thread"] != access["thread"] and mine in known and known[mine]["at"] < before["at"]:
            found.append((known[mine], before, access))
        written[place] = access
    return found


def _read_from_another(failing: Report, control: Report, end: int) -> list[Cause]:
    """Reads of what another thread wrote, for each state the likeliest."""
    thread = next((f.thread for f in failing.findings if f.kind == failing.outcome and f.thread), "")
    thread = _who(thread, end, failing, ended=True)
    usual = {(a["thread"], a["kind"], a["state"], a["n"]): a["value"] for a in control.accesses}
    written: dict[Place, Access] = {}
    best: dict[str, tuple[int, int, Cause]] = {}
    for access in failing.accesses:
        if access["at"] > end:
            break
        state = access["state"]
        if access["kind"] == "write":
            written[_of(access)] = access
            continue
        writer = written.get(_of(access))
        if writer is None or writer["thread"] == access["thread"]:
            continue
        normal = usual.get((access["thread"], "read", state, access["n"]))
        if access["thread"].endswith(_COLLECTION):
            if access["thread"] != thread:
                continue  # the failure is not a finalizer's, so neither is the guilty read
            # nobody runs it otherwise: the state as the run began
            normal = next((a["value"] for a in control.accesses if a["state"] == state and a["kind"] == "read"), None)
        differs = normal is not None and normal != access["value"]
        rank = (2 * differs + (access["thread"] == thread), access["at"])
        if state not in best or rank >= best[state][:2]:
            cause = Cause(state, writer, access, normal if normal is not None else "not read", _trail(failing, access))
            best[state] = (*rank, cause)
    return [cause for _, _, cause in sorted(best.values(), key=lambda item: item[:2], reverse=True)]


def _too_early(cause: Cause, late: Late) -> Cause:
    """Where the value that was read is as usual it is the time that is not: by then something else was not as usual yet."""
    read, write = cause.read, cause.write
    if read is None or write is None or cause.normal != read["value"]:
        return cause
    for access, normal in reversed(late):
        if access["thread"] == read["thread"] and access["state"] != cause.state and access["at"] > write["at"]:
            return replace(cause, then=access, then_normal=normal)
    return cause


def _not_yet(failing: Report, late: Late, thread: str) -> list[Cause]:
    """For each state the last read before another thread had written it, rather in the thread that failed."""
    last: dict[str, tuple[Access, str]] = {}
    for access, normal in late:
        if access["thread"] == thread or access["state"] not in last or last[access["state"]][0]["thread"] != thread:
            last[access["state"]] = access, normal
    ranked = sorted(last.values(), key=lambda item: (item[0]["thread"] == thread, item[0]["at"]), reverse=True)
    return [Cause(access["state"], None, access, normal, _trail(failing, access)) for access, normal in ranked]


def _who(thread: str, at: int, report: Report, ended: bool = False) -> str:
    """What a collection runs counts as somebody else than the thread that it interrupts. ``ended``: what failed may have
    passed the collection's last point; what accesses a state there comes after it."""
    inside = any(made.thread == thread and made.at <= at < made.until + ended and made.ran for made in report.collections)
    return thread + _COLLECTION if inside and thread else thread


def _apart(report: Report) -> Report:
    """The same accesses, those of finalizers under a name of their own, each counted for itself."""
    counts: dict[tuple[str, str, str], int] = {}
    apart = []
    for access in report.accesses:
        who = _who(access["thread"], access["at"], report)
        key = who, access["kind"], access["state"]
        counts[key] = counts.get(key, 0) + 1
        apart.append({**access, "thread": who, "n": counts[key]})
    return replace(report, accesses=apart)


def _of(access: Access) -> Place:
    """What it is an access to: the state, and of a class's objects which."""
    return access["state"], access.get("of", 0)


def _trail(report: Report, wanted: Access) -> list[Access]:
    """Every access to the same; where the object is not told, to all objects of the class."""
    state, of = _of(wanted)
    return [a for a in report.accesses if a["state"] == state and (not of or a.get("of", 0) in (0, of))]
