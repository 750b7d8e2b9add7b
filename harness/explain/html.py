"""An explanation as one self-contained page: lanes, zoom, dark and light, phone and desktop, no network.

The lanes are an ordered list laid out as a grid, so that what is drawn is also what a screen reader says and a search finds.
"""

from __future__ import annotations

import linecache
import re
from html import escape

from . import frames
from .account import account, difference, failing_stack, proof
from .cause import Access
from .event import Event
from .page import PAGE, SCRIPT, STYLE
from .story import Story
from .words import function, named, place, replay_line, sentence, short, short_path, what

_VERBS = {"read": "reads", "write": "writes"}
_SIGNS = {"read": ":", "write": " ="}


def render(story: Story) -> str:
    report = story.report
    return PAGE.format(
        style=STYLE,
        script=SCRIPT,
        title=escape(f"{story.schedule.scenario}: {report.outcome}"),
        scenario=escape(story.schedule.scenario),
        outcome=escape(report.outcome),
        message=escape(short_path(report.message).splitlines()[0] if report.message else report.outcome),
        cause=_marked(sentence(story.cause, report), story) if story.cause is not None else "",
        account="\n".join(f"<li>{_marked(line, story)}</li>" for line in account(story)),
        count=len(story.lanes),
        heads="\n".join(_head(story, i, name) for i, name in enumerate(story.lanes)),
        rails="".join(f'<i class="rail" style="--i:{i}"></i>' for i in range(len(story.lanes))),
        events="\n".join(_item(story, event) for event in story.events),
        sure=_sure(story),
        trail=_trail(story),
        frames=_frames(story),
        code=_code(story),
        replay=escape(replay_line(story.schedule, story.fix)),
        environment="".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in story.environment.items() if v),
    )


def _marked(text: str, story: Story) -> str:
    """With points, states, places and threads set off."""
    labels = {named(story, name): index for index, name in enumerate(story.lanes)}
    known = "|".join(re.escape(word) for word in sorted((*story.states, *labels), key=len, reverse=True))
    pattern = rf"(?:call|line|lock|unlock|marker|read|write):[^\s;]+|[\w./-]+\.py:\d+|torch\.[\w.]*\w|{known}"
    found, end = "", 0
    for match in re.finditer(pattern, text):
        word = match[0]
        found += escape(text[end : match.start()])
        found += f'<b class="t{labels[word] % 6}">{escape(word)}</b>' if word in labels else f"<code>{_breakable(word)}</code>"
        end = match.end()
    return found + escape(text[end:])


def _breakable(text: str) -> str:
    """Long names may be broken where their parts meet."""
    return re.sub(r"([._/:@,])(?=\w)", r"\1<wbr>", escape(text))


def _head(story: Story, index: int, name: str) -> str:
    role = f"<span>{escape(story.roles[name])}</span>" if name in story.roles else ""
    return f'<div class="head t{index % 6}" style="--i:{index}"><b>{escape(name)}</b> {role}</div>'


def _item(story: Story, event: Event) -> str:
    if event.kind == "hand over":
        return _arrow(story, event)
    if not event.lane:
        return f'<li class="all key"><div class="box">{escape(what(event))}</div></li>'
    index = story.lanes.index(event.lane)
    kind = "key " if event.key else ""
    said = f'<span class="sr">{escape(event.lane)} </span>'
    if event.kind in _VERBS:
        times = f" <small>{event.times} times</small>" if event.times > 1 else ""
        body = (
            f"{said}{_VERBS[event.kind]} <code>{_breakable(short(event.state))}</code>{_SIGNS[event.kind]} "
            f'<strong class="value">{escape(short(event.value))}</strong>{times}'
            f'<small class="at">{_breakable(function(event.function))}<br>{_breakable(short_path(event.file))}:{event.line}</small>'
        )
    else:
        body = said + escape(what(event))
    css = event.kind.replace(" ", "-")
    return f'<li class="{kind}{css} t{index % 6}" style="--i:{index}"><div class="box">{body}</div></li>'


def _arrow(story: Story, event: Event) -> str:
    start, end = story.lanes.index(event.lane), story.lanes.index(event.to)
    low, span = min(start, end), abs(end - start)
    way = "right" if end > start else "left"
    asked = " asked" if event.asked else ""
    why = f" <small>{escape(event.text)}</small>" if event.text else ""
    said = f'<span class="label"><span>{escape(event.lane)} hands over to {escape(event.to)}</span>{why}</span>'
    return f'<li class="arrow {way}{asked}" style="--i:{low};--span:{span}">{said}<i class="shaft"></i></li>'


def _sure(story: Story) -> str:
    shown = []
    if text := proof(story):
        shown.append(f"<p><b>Proved by a run.</b> {_marked(text[0].upper() + text[1:], story)}.</p>")
    elif story.cause is not None:
        shown.append("<p>The cause is the likeliest by the log; no run has proved it.</p>")
    if (text := difference(story)) and story.counterfactual is not None:
        again = replay_line(story.counterfactual.schedule, story.fix)
        shown.append(
            f"<p><b>The nearest schedule that passes</b>: {_marked(text, story)}.</p>"
            f"<pre class=wrap>{escape(again)}</pre>"
        )
    elif story.schedule.directives:
        shown.append("<p>No schedule was found that differs in one hand-over and passes.</p>")
    return "\n".join(shown) or "<p>It fails without any hand-over asked for.</p>"


def _trail(story: Story) -> str:
    if story.cause is None:
        return "<p>No process-wide state was seen to make the difference.</p>"
    keys = (story.cause.write, story.cause.read)
    rows = []
    for n, access in enumerate(story.cause.trail[:60], 1):
        css = f"t{story.lanes.index(access['thread']) % 6}" if access["thread"] in story.lanes else ""
        rows.append(
            f'<tr class="{"key" if access in keys else ""}"><td>{n}</td><td><b class="{css}">{escape(access["thread"])}</b></td>'
            f"<td>{escape(access['kind'])}</td><td><code>{escape(short(access['value']))}</code></td>"
            f"<td><code>{_breakable(place(access))}</code></td></tr>"
        )
    more = f"<p>… {len(story.cause.trail) - 60} more</p>" if len(story.cause.trail) > 60 else ""
    head = "<tr><th>#</th><th>thread</th><th>access</th><th>value</th><th>place</th></tr>"
    return f'<div class="scroll"><table><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table></div>{more}'


def _frames(story: Story) -> str:
    """A section of the page; empty where frames were not asked for."""
    if story.framed is None:
        return ""
    lines = escape("\n".join(frames.told(story.framed, story.states)))
    title = "The frames that Dynamo's hook was given"
    return f'<section aria-labelledby="h-frames"><h2 id="h-frames">{title}</h2><pre>{lines}</pre></section>\n'


def _code(story: Story) -> str:
    cause = story.cause
    sides = (("writer", cause.write), ("reader", cause.read)) if cause is not None else ()
    found = [_excerpt(story, name, access) for name, access in sides if access is not None]
    if stack := failing_stack(story):
        found.append(f"<h3>The failure</h3><pre>{escape(chr(10).join(stack))}</pre>")
    return "\n".join(found) or "<p>No code location was recorded.</p>"


def _excerpt(story: Story, name: str, access: Access) -> str:
    lines = []
    for number in range(max(1, access["line"] - 3), access["line"] + 4):
        text = linecache.getline(access["file"], number).rstrip("\n")
        line = escape(f"{number:5}  {text}")
        lines.append(f"<mark>{line}</mark>" if number == access["line"] else line)
    stack = escape("\n".join(map(short_path, access["stack"])))
    return (
        f"<h3>The {name}: {escape(named(story, access['thread']))}</h3><p><code>{escape(place(access))}</code></p>"
        f"<pre>{chr(10).join(lines)}</pre><details><summary>Stack of the {name}</summary><pre>{stack}</pre></details>"
    )
