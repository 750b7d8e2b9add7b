"""Why a run failed, and how to tell it: lanes, sentences, and one file for each format."""

from collections.abc import Callable

from . import html, markdown, perfetto, text
from .cause import Cause, candidates
from .counterfactual import Counterfactual, nearest_pass
from .event import Event
from .story import Story, tell
from .text import as_text

#: Format name to what makes it: a story in, the file's text out.
FORMATS: dict[str, Callable[[Story], str]] = {
    "text": text.render,
    "markdown": markdown.render,
    "html": html.render,
    "perfetto": perfetto.render,
}

__all__ = [
    "FORMATS",
    "Cause",
    "Counterfactual",
    "Event",
    "Story",
    "as_text",
    "candidates",
    "nearest_pass",
    "tell",
]
