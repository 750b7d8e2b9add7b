"""An explanation as Markdown, ready for an upstream report."""

from __future__ import annotations

from . import frames
from .account import account, difference, failing_stack, proof
from .cause import Access
from .lanes import draw
from .story import Story
from .words import named, place, replay_line, sentence, short, short_path, source


def render(story: Story) -> str:
    schedule, report, cause = story.schedule, story.report, story.cause
    mode = "only without the GIL" if schedule.free else "realizable under the GIL"
    lines = [f"# {_title(story)}", "", "## Environment", ""]
    lines += [f"- {name}: {value}" for name, value in story.environment.items() if value]
    lines += ["", "## Steps to reproduce", "", "The order of the threads is fixed by one line of text:", ""]
    lines += ["```", replay_line(schedule, story.fix), "```", "", f"Scenario `{schedule.scenario}`, {mode}:", ""]
    lines += [f"- T{schedule.first} starts"]
    lines += [f"- {directive.thread} after `{directive.point}`{_nth(directive.n)}: {_does(directive.does)}" for directive in schedule.directives]
    lines += ["", "## What happens", "", *(f"{i}. {line}" for i, line in enumerate(account(story), 1))]
    lines += ["", "```", report.message or report.outcome, "```", "", "## Interleaving", ""]
    lines += ["```", *draw(story, 100), "```", ""]
    if story.framed is not None:
        lines += ["## Frames of Dynamo's hook", "", "```", *frames.told(story.framed, story.states), "```", ""]
    if cause is not None:
        lines += [f"Every access to `{cause.state}`, in order:", "", "| thread | access | value | place |", "|---|---|---|---|"]
        lines += [
            f"| {a['thread']} | {a['kind']} | `{_cell(short(a['value']))}` | `{_cell(place(a))}` |" for a in cause.trail[:40]
        ]
        lines += [f"| … | {len(cause.trail) - 40} more | | |"] if len(cause.trail) > 40 else []
        lines.append("")
    lines += ["## Code", ""]
    if cause is not None:
        for name, access in (("writer", cause.write), ("reader", cause.read)):
            if access is not None:
                lines += _code(story, name, access)
    if stack := failing_stack(story):
        lines += ["The failure:", "", "```", *stack, "```", ""]
    lines += ["## Proof by counterfactual", ""]
    shown = [text for text in (proof(story), difference(story)) if text]
    lines += [f"- {text[0].upper()}{text[1:]}." for text in shown]
    if cause is not None and not cause.proved:
        lines.append(f"- That it goes through `{cause.state}` no run has proved: by the log it is the likeliest.")
    elif not shown:
        lines.append("- None found.")
    if story.counterfactual is not None:
        lines += ["", "The schedule that passes:", "", "```", replay_line(story.counterfactual.schedule, story.fix), "```"]
    return "\n".join(lines) + "\n"


def _title(story: Story) -> str:
    report = story.report
    head = report.message.splitlines()[0].partition(". ")[0] if report.message else report.outcome
    through = f" (through {story.cause.state})" if story.cause is not None else ""
    return f"Race between threads: {head[:120]}{through}" if head else sentence(story.cause, report)


def _nth(n: int) -> str:
    return f" (passing {n})" if n > 1 else ""


def _does(does: str) -> str:
    return f"collect generation {does[2:]}" if does.startswith("gc") else f"hand over to {does}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("`", "'")


def _code(story: Story, name: str, access: Access) -> list[str]:
    lines = [f"The {name}, {named(story, access['thread'])}, at `{place(access)}`:", ""]
    code = source(access["file"], access["line"])
    lines += ["```python", code, "```", ""] if code else []
    lines += ["<details><summary>Stack</summary>", "", "```", *map(short_path, access["stack"]), "```", "", "</details>", ""]
    return lines
