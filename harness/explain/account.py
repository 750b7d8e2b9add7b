"""The story in sentences: made from the log, nothing is typed in for a scenario."""

from __future__ import annotations

from harness.schedule import Directive

from .cause import Access, Cause
from .story import Story
from .words import named, ours, place, short, short_path


def account(story: Story) -> list[str]:
    """What went wrong, for a reader who has not met it: a few sentences, in order of time."""
    cause, report = story.cause, story.report
    told = [f"{len(story.lanes)} threads of one process: " + ", ".join(named(story, t) for t in story.lanes) + "."]
    timed: list[tuple[int, str]] = [
        (e.at, f"{e.to} goes on, and {e.lane} waits where it is, half-way through.")
        for e in story.events if e.kind == "hand over" and e.asked
    ]  # fmt: skip
    timed += [(e.at, f"{e.lane} is interrupted by a {e.text}.") for e in story.events if e.kind == "collect"]
    if cause is not None:
        told.append(_shared(cause.state))
        if cause.write is None and cause.read is not None:
            seen = f"{named(story, cause.read['thread'])} reads {short(cause.read['value'])} at {place(cause.read)}"
            timed.append((cause.read["at"], f"{seen}. Undisturbed it would read {short(cause.normal)}: nobody has written that yet."))
        if cause.write is not None:
            setter = f"{named(story, cause.write['thread'])} sets it to {short(cause.write['value'])}"
            timed.append((cause.write["at"], f"{setter} at {place(cause.write)}."))
            if cause.read is not None:
                timed += _the_read(story, cause, cause.read, cause.write)
        last = cause.trail[-1] if cause.trail else None
        if report.outcome == "state leaked" and last is not None and last["kind"] == "write":
            puts = f"The last to write it is {named(story, last['thread'])}, which puts {short(last['value'])} there"
            timed.append((last["at"], f"{puts} at {place(last)}, and so it stays."))
    told += [text for _, text in sorted(timed, key=lambda item: item[0])]
    message = short_path(report.message).splitlines()[0] if report.message else report.outcome
    told += [f"Does it depend on garbage collection? {story.on_gc[:1].upper()}{story.on_gc[1:]}."] if report.collections and story.on_gc else []
    return [*told, f"The outcome is “{report.outcome}”: {message}"]


def _shared(state: str) -> str:
    owner, colon, name = state.rpartition(":")
    if colon:
        return f"They share an object of the class {short(owner)}: what one thread writes to its attribute {name}, all read."
    return f"They share {state}. It belongs to the process, not to a thread: what one thread writes there, all read."


def _the_read(story: Story, cause: Cause, read: Access, write: Access) -> list[tuple[int, str]]:
    undisturbed = {"": "", "not read": " Undisturbed it would not get there."}
    as_usual = f"Undisturbed it would read {short(cause.normal)}" + (" too, but later." if cause.then is not None else ".")
    normal = undisturbed.get(cause.normal, f" {as_usual}")
    reader = named(story, read["thread"])
    told = [
        (read["at"], f"{reader} reads {short(read['value'])} at {place(read)}: the value is {write['thread']}'s, not its own.{normal}")
    ]
    looks = [e for e in story.events if e.kind == "read" and e.lane == read["thread"] and e.state not in story.states]
    other = next((e for e in looks if e.at > read["at"]), None)
    if cause.then is not None:
        then = f"{reader} goes on with that and reads {cause.then['state']} as {short(cause.then['value'])}, at {place(cause.then)}"
        told.append((cause.then["at"], f"{then}. Undisturbed it would read {short(cause.then_normal)}."))
    elif other is not None:
        told.append((other.at, f"{reader} reads {other.state} too, which by now is {short(other.value)}."))
    writes = [a for a in cause.trail if a["kind"] == "write" and a["thread"] == write["thread"] and a["at"] > read["at"]]
    if writes and writes[0]["value"] != write["value"]:
        told.append(
            (writes[0]["at"], f"Only now does {write['thread']} set it to {short(writes[0]['value'])}, at {place(writes[0])}.")
        )
    return told


def proof(story: Story) -> str:
    """What the counterfactual run with the state of each thread's own has shown; empty where it was not shown."""
    if story.cause is None or not story.cause.proved:
        return ""
    others = f" and {', '.join(story.cause.with_it)}" if story.cause.with_it else ""
    return f"with this state{others} each thread's own, the same schedule passes"


def difference(story: Story) -> str:
    """The one directive by which the nearest passing schedule differs."""
    other = story.counterfactual
    if other is None:
        return ""
    does = _does(other.directive)
    if other.instead is None:
        return f"without “{does} after {_after(other.directive)}” it passes: no smaller change of those tried does"
    way = "earlier" if other.points < 0 else "later"
    count = abs(other.points)
    return (
        f"it passes where {does} after {_after(other.instead)}, {count} point{'s' * (count > 1)} of that thread {way}, "
        f"and not after {_after(other.directive)}{_then(story)}"
    )


def _does(directive: Directive) -> str:
    if directive.does.startswith("gc"):
        return f"{directive.thread} collects generation {directive.does[2:]}"
    return f"{directive.thread} hands over to {directive.does}"


def _after(directive: Directive) -> str:
    return directive.point + (f" (passing {directive.n})" if directive.n > 1 else "")


def _then(story: Story) -> str:
    """What the read that made the difference sees in the schedule that passes."""
    cause, other = story.cause, story.counterfactual
    if cause is None or cause.read is None or other is None:
        return ""
    read = cause.read
    same = [
        a for a in other.report.accesses
        if (a["thread"], a["kind"], a["state"], a["n"]) == (read["thread"], "read", read["state"], read["n"])
    ]  # fmt: skip
    if not same:
        return f"; {read['thread']} does not read it then"
    return f"; {read['thread']} reads {short(same[0]['value'])} then"


def failing_stack(story: Story) -> list[str]:
    """Where the exception came from, or what a deadlock's threads stand at; without our own frames. Empty for a leak."""
    stack = story.failure.stack if story.failure is not None else []
    return [short_path(line) for line in stack if not ours(line)]
