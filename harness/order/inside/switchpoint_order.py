"""The pytest plugin of ``harness order``, in the process of the user's own pytest: it sets the order and tells what happens.

It needs pytest and the standard library alone, for that pytest may be of another environment. Without a job, in a command
that a user pasted, it only keeps the order of the command line and does what ``--order-gc`` says.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from switchpoint_gc import Collections
from switchpoint_tell import Events, file_of, own, root_of, text, where

JOB = "SWITCHPOINT_ORDER"  # the file with what is to be done; see harness/order/child.py
#: Would run several tests in one go, stop early, choose by an earlier run, wait for a person, or write over reports.
_NEUTRAL: dict[str, Any] = {
    "numprocesses": None, "dist": "no", "tx": [], "maxfail": 0, "lf": False, "failedfirst": False, "newfirst": False,
    "stepwise": False, "usepdb": False, "trace": False, "xmlpath": None, "reruns": 0,
}  # fmt: skip


def _job() -> dict[str, Any]:
    """Read once, and gone from the environment: a pytest that a test starts is none of ours."""
    path = os.environ.pop(JOB, None)
    if path is None:
        return {}
    with open(path, encoding="utf-8") as file:
        job: dict[str, Any] = json.load(file)
    for name, value in job["environ"].items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    return job


def keys_of(items: Iterable[pytest.Item]) -> list[str]:
    """Node ids; the second of two that are alike has its number behind it."""
    seen: dict[str, int] = {}
    keys = []
    for item in items:
        seen[item.nodeid] = n = seen.get(item.nodeid, 0) + 1
        keys.append(item.nodeid if n == 1 else f"{item.nodeid} ({n})")
    return keys


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("order", "tests in the order of the command line (harness order)")
    group.addoption("--order-gc", metavar="WHEN", default="auto", help="when garbage is collected: docs/order.md")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> Iterator[None]:
    job = _job()
    plain = _plain(config)
    if job.get("neutral", True):
        _neutral(config, job)
    if job.get("paths") is not None:
        config.args = list(job["paths"])
    when = job["gc"] if job.get("gc") else config.getoption("order_gc")
    try:
        collections = Collections(when, root_of(config))
    except ValueError as error:
        raise pytest.UsageError(f"--order-gc: {error}") from None
    config.pluginmanager.register(Agent(config, job, collections, plain), "switchpoint_order_agent")
    yield


def _neutral(config: pytest.Config, job: dict[str, Any]) -> None:
    for name, value in _NEUTRAL.items():
        if hasattr(config.option, name):
            setattr(config.option, name, value)
    if getattr(config.option, "randomly_seed", None) == "default":  # a seed that nobody named is another one each time
        config.option.randomly_reorganize = config.option.randomly_reset_seed = False
    if job and hasattr(config.option, "basetemp"):
        config.option.basetemp = job["basetemp"]


def _plain(config: pytest.Config) -> list[str]:
    """What a command needs to run its tests in one process, in their order, to the end, without this plugin."""
    option, words = config.option, []
    if getattr(option, "numprocesses", None):
        words += ["-n", "0"]
    if hasattr(option, "randomly_seed"):
        words += ["-p", "no:randomly"] if option.randomly_seed == "default" else ["--randomly-dont-reorganize"]
    if option.maxfail:
        words.append("--maxfail=0")
    return words


class Agent:
    def __init__(self, config: pytest.Config, job: dict[str, Any], collections: Collections, plain: list[str]) -> None:
        self.config, self.job, self.collections = config, job, collections
        self.tell = Events(job["events"] if job else os.devnull)
        self.raised: dict[tuple[str, str], tuple[str, str, str]] = {}
        self.keys: dict[pytest.Item, str] = {}
        self.target: pytest.Item | None = None
        collections.tell = self.tell
        option = config.option
        self.tell(
            pytest=pytest.__version__, rootdir=root_of(config), args=list(config.invocation_params.args),
            positional=list(getattr(option, "file_or_dir", ())), python=sys.executable,
            plain=plain,
            only=[name for name in ("collectonly", "setupplan", "setuponly", "forked") if getattr(option, name, False)],
        )  # fmt: skip

    # what is run, in which order

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Iterator[None]:
        yield
        found = dict(zip(keys_of(items), items))  # noqa: B905  # no strict= in older Pythons
        order = self.job.get("order")
        if self.job.get("as_given", True):
            items[:] = self._as_given(items)
        elif order is not None:
            chosen = self._chosen(found, order)
            self.tell(missing=[key for key, _ in order if key not in chosen])
            items[:] = chosen.values()
            self.keys = {item: key for key, item in chosen.items()}
        elif self.job["neutral"]:
            self._until(items, found)
        if order is None:
            self.keys = dict(zip(items, keys_of(items)))  # noqa: B905
        self.target = items[-1] if items else None

    def _chosen(self, found: dict[str, pytest.Item], order: list[tuple[str, int]]) -> dict[str, pytest.Item]:
        """An id that has the time in it, say, is another in each run: then the n-th of its function."""
        alike: dict[str, list[pytest.Item]] = {}
        for key, item in found.items():
            alike.setdefault(key.partition("[")[0], []).append(item)
        chosen: dict[str, pytest.Item] = {}
        for key, n in order:
            of_function = alike.get(key.partition("[")[0], [])
            if key in found:
                chosen[key] = found[key]
            elif n < len(of_function):
                chosen[key] = of_function[n]
        return chosen

    def _until(self, items: list[pytest.Item], found: dict[str, pytest.Item]) -> None:
        """All as collected, told; without those to be left out, and none after the one that was asked about."""
        self.tell(collected=[[key, file_of(item)] for key, item in found.items()])
        without, until = set(self.job["without"]), self.job["until"]
        left = {key: item for key, item in found.items() if key not in without}
        if until:
            matching = [key for key, item in left.items() if self._is(item, until)]
            self.tell(until=matching)
            left = dict(list(left.items())[: list(left).index(matching[0]) + 1]) if len(matching) == 1 else {}
        items[:] = left.values()

    def _is(self, item: pytest.Item, name: str) -> bool:
        path, _, rest = name.partition("::")
        mine = item.nodeid.partition("::")[2]
        here = os.path.join(str(self.config.invocation_params.dir), path)
        return item.nodeid == name or (rest == mine and os.path.realpath(here) == os.path.realpath(file_of(item)))

    def _as_given(self, items: list[pytest.Item]) -> list[pytest.Item]:
        """By the first argument that names the item; those of one argument stay as they are."""
        named = [name for name in getattr(self.config.option, "file_or_dir", ()) if "::" in name]
        return sorted(items, key=lambda item: next((i for i, name in enumerate(named) if self._is(item, name)), len(named)))

    # what happens

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Iterator[None]:
        with self.collections.decided():
            yield

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.tell(start=self.keys.get(item, item.nodeid))
        self.collections.before(item is self.target)
        yield
        self.collections.after()
        self.tell(end=self.keys.get(item, item.nodeid))

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        self.collections.start(item is self.target)
        with self.collections.within(item is self.target, file_of(item)):
            yield

    pytest_runtest_call = pytest_runtest_setup

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        with self.collections.within(item is self.target, file_of(item)):
            yield

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Iterator[None]:
        yield
        if call.excinfo is not None:  # a unittest's is put there by another plugin
            kind = call.excinfo.type
            module = "" if kind.__module__ in ("builtins", "_pytest.outcomes") else kind.__module__ + "."
            self.raised[item.nodeid, call.when] = module + kind.__qualname__, text(call.excinfo.value), where(call.excinfo)

    def pytest_runtest_logreport(self, report: Any) -> None:
        outcome = report.outcome
        event: dict[str, Any] = {}
        if outcome == "failed":
            said = str(report.longrepr or "").strip()
            known = self.raised.get((report.nodeid, report.when), ("", said, ""))
            event = dict(zip(("kind", "message", "where"), known))  # noqa: B905
            event["message"] = event["message"][:2000]
        if outcome != "passed" or report.when == "call":
            self.tell(report=report.nodeid, when=report.when, outcome=outcome, **event)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            last = (str(report.longrepr).strip().splitlines() or [""])[-1]
            self.tell(uncollected=report.nodeid, message=last[2 * last.startswith("E ") :].strip()[:300])

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        self.tell(stopped=f"{type(excinfo.value).__name__}: {text(excinfo.value)}"[:300])

    def pytest_internalerror(self, excrepr: Any) -> None:
        self.tell(stopped=f"INTERNALERROR: {str(excrepr).strip().splitlines()[-1]}"[:300])

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus: Any) -> None:
        files = sorted({getattr(module, "__file__", None) or "" for module in list(sys.modules.values())} - {""})
        self.tell(finished=int(exitstatus), files=[file for file in files if own(file)])
