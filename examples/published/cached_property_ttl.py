"""``threaded_cached_property_with_ttl`` of cached-property: each is made once, whoever asks. Repaired in 1.2.0.

Up to 1.1.0 all properties of an object share a dictionary, made at the first use, and each has its own lock. Between the look
and the store the interpreter gives up no GIL: only ``--mode free`` comes between.
"""

from harness import Scenario


class Report:
    """Counts how often each property is made."""

    def __init__(self) -> None:
        self.made: list[str] = []


def prepare() -> None:
    from cached_property import threaded_cached_property_with_ttl

    def head(self: Report) -> str:
        self.made.append("head")
        return "head"

    def body(self: Report) -> str:
        self.made.append("body")
        return "body"

    for function in (head, body):
        setattr(Report, function.__name__, threaded_cached_property_with_ttl(ttl=3600)(function))


def shows_head(report: Report) -> None:
    report.head  # noqa: B018


def shows_body(report: Report) -> None:
    report.body  # noqa: B018


def check(report: Report, results: list[object]) -> None:
    shows_head(report)
    shows_body(report)
    assert sorted(report.made) == ["body", "head"], report.made


cached_property_ttl = Scenario(
    bodies=[shows_head, shows_body],
    setup=lambda axes: Report(),
    prepare=prepare,
    check=check,
    threads=(2, 2),
    fine=["cached_property"],
)
