"""``threaded_cached_property_with_ttl`` of cached-property: each is made once, whoever asks. Repaired in 1.2.0.

Up to 1.1.0 all properties of an object share a dictionary, and each has its own lock.
"""

import threading

from cached_property import threaded_cached_property_with_ttl


class Report:
    def __init__(self) -> None:
        self.made: list[str] = []

    @threaded_cached_property_with_ttl(ttl=3600)
    def head(self) -> str:
        self.made.append("head")
        return "head"

    @threaded_cached_property_with_ttl(ttl=3600)
    def body(self) -> str:
        self.made.append("body")
        return "body"


def show(report: Report, names: list[str]) -> None:
    for name in names:
        getattr(report, name)


if __name__ == "__main__":
    report = Report()
    threads = [threading.Thread(target=show, args=(report, [name])) for name in ("head", "body")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    show(report, ["head", "body"])
    assert sorted(report.made) == ["body", "head"], report.made
