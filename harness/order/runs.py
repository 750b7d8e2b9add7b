"""Trials answered from the log, or else by processes of the user's pytest, some at a time."""

from __future__ import annotations

import os
import select
import shutil
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from harness.errors import CannotTest, UserError

from .child import Child, uninterrupted
from .command import PLUGIN, Command
from .events import HANG, Events, last_line
from .log import Log, digest_of
from .trial import Collected, Result, Trial

_LOOK = 0.25  # seconds between two looks at what has not ended
Tell = Callable[[str], None]


class Runs:
    """Of one command; ``made`` counts those that were not in the log. Nothing is left of them when it is closed."""

    def __init__(self, command: Command, log: Log, *, jobs: int, seconds: float, tell: Tell) -> None:
        self.command, self.log = command, log
        self.jobs, self.seconds, self.tell = jobs, seconds, tell
        self.made = 0
        self._folder = log.path.parent / "running"
        shutil.rmtree(self._folder, ignore_errors=True)  # of one that was killed: the log is ours alone
        self._living: dict[Child, Trial | None] = {}

    @property
    def collected(self) -> Collected:
        assert self.log.collected is not None
        return self.log.collected

    def collect(self, test: str) -> Collected:
        """The user's own command, once. A test that ends the process is left out the next time, and named.

        Raises UserError where it runs nothing, or ``test`` is not one that it collects.
        """
        while self.log.collected is None:
            child = self._start(self.command.argv, {"until": test, "without": list(self.log.broken)}, None)
            events = self._until_one_ends()[1]
            self._check(events, child, test)
            stopped = events.stopped_in
            target = (events.facts.get("until") or [""])[0]
            if stopped is not None and stopped[0] != target and (test or not self._alone_passes(events, stopped[0])):
                self.log.add_broken(*stopped)
                self.tell(f"left out, it ends the process: {stopped[0]} ({stopped[1]})")
            else:
                self.log.add_collected(self._collected(events, target))
                self.tell(f"run 1: the command itself: {len(events.became)} tests, {len(list(events.failing()))} failing")
            child.remove()
        return self.log.collected

    def _alone_passes(self, events: Events, test: str) -> bool:
        """One that ends the process only after others is itself a test that depends on others."""
        child = self._start(self.command.argv, self._job(events.facts["collected"], [test], [test], "auto"), None)
        outcome = self._until_one_ends()[1].became.get(test, ("",))[0]
        child.remove()
        return outcome == "passed"

    def _check(self, events: Events, child: Child, test: str) -> None:
        facts, command = events.facts, " ".join(self.command.argv[:3])
        if facts.get("only"):
            raise UserError(f"order: {command} …: no test would run here in one process ({', '.join(facts['only'])}); leave that out")
        if events.uncollected and not events.became:
            raise UserError(f"order: {events.uncollected[0]}; that must be mended first")
        if "collected" not in facts:
            how = "said nothing for so long as --timeout says" if events.status == HANG else f"ended with status {events.status}"
            raise UserError(f"order: {command} …: {how} before a test was collected: {last_line(child.folder / 'output')}")
        known = [key for key, _ in facts["collected"]]
        if not known:
            raise UserError(f"order: {command} …: collects no test")
        if test and len(facts.get("until", ())) != 1:
            found = facts.get("until", ())
            what = f"{len(found)} tests: {', '.join(found[:3])} …" if found else f"none of the {len(known)} tests that are collected"
            raise UserError(f"--test {test}: {what}{_near(test, known) if not found else ''}")

    def _collected(self, events: Events, target: str) -> Collected:
        facts = events.facts
        tests = [(key, path) for key, path in facts["collected"] if key not in self.log.broken]
        files = {path: digest_of(path) for path in sorted({*facts.get("files", ()), *(path for _, path in tests)})}
        return Collected(
            tuple(tests), tuple(events.failing()), target, facts["rootdir"], facts["python"], tuple(facts["positional"]),
            tuple(facts["args"]), tuple(facts["plain"]), files, dict(self.log.broken),
        )  # fmt: skip

    def results(self, trials: Sequence[Trial]) -> list[Result]:
        """In the order of the trials. Those that the log has are not run. Raises CannotTest where a test is not there."""
        todo = [trial for trial in dict.fromkeys(trials) if trial not in self.log.results]
        while todo or self._living:
            while todo and len(self._living) < self.jobs:
                self._start_trial(todo.pop(0))
            trial, events = self._until_one_ends()
            assert trial is not None
            self._keep(trial, events)
        return [self.log.results[trial] for trial in trials]

    def _start_trial(self, trial: Trial) -> None:
        if trial.command:
            ours = PLUGIN in trial.command
            job: dict[str, Any] = {"order": None, "paths": None, "gc": "", "neutral": ours, "as_given": ours}
            self._start(trial.command, job, trial)
            return
        names = [self.collected.tests[i][0] for i in (*trial.before, trial.target)]
        run = names[-1:] if trial.imported else names
        self._start(self.command.argv, self._job(self.collected.tests, run, names, trial.gc), trial)

    def _keep(self, trial: Trial, events: Events) -> None:
        target = self.collected.tests[trial.target][0]
        child = self._last
        seconds = time.monotonic() - child.began
        result = events.result(target, seconds, plain=bool(trial.command), scouts=trial.gc == "scouts")
        if result.missing:
            raise CannotTest(f"{result.missing[0]}: collected with all, but not when only its file is; what pytest collects must not depend on that")
        if "pytest" not in events.facts:
            raise CannotTest(f"a run ended with status {events.status} before pytest began: {last_line(child.folder / 'output')}")
        child.remove()
        self.log.add(trial, result)
        what = "the command as it is printed" if trial.command else f"{len(trial.before)} {'imported ' * trial.imported}before it" + f", gc {trial.gc}" * (trial.gc != "auto")
        self.tell(f"run {len(self.log.results) + 1}: {what}: {result.word} ({seconds:.1f} s)")

    def _job(self, tests: Sequence[Sequence[str]], run: Sequence[str], imported: Sequence[str], gc: str) -> dict[str, Any]:
        """Only files of tests in the list are collected: one that is imported is a part of what comes before."""
        where = {each[0]: each[1] for each in tests}
        count: Counter[str] = Counter()
        number = {}  # of a test among those of its function
        for test, _ in tests:
            function = test.partition("[")[0]
            number[test] = count[function]
            count[function] += 1
        return {"order": [(test, number[test]) for test in run], "paths": list(dict.fromkeys(where[test] for test in imported)), "gc": gc}

    def _start(self, argv: Sequence[str], job: dict[str, Any], trial: Trial | None) -> Child:
        defaults: dict[str, Any] = {"order": None, "paths": None, "gc": "auto", "neutral": True, "as_given": False, "until": "", "without": []}
        self.made += 1
        with uninterrupted():
            child = Child(argv, self.command.folder, self._folder / str(self.made), {**defaults, **job}, self.seconds)
            self._living[child] = trial
        return child

    def _until_one_ends(self) -> tuple[Trial | None, Events]:
        while True:
            for child in list(self._living):
                if child.ended():
                    events = child.close()
                    self._last = child
                    return self._living.pop(child), events
            _wait([child.process.pid for child in self._living], _LOOK)

    def close(self) -> None:
        for child in self._living:
            child.kill()
        self._living.clear()
        shutil.rmtree(self._folder, ignore_errors=True)


def _wait(pids: Sequence[int], seconds: float) -> None:
    """Until one of these has ended, or so long."""
    fds = []
    try:
        for pid in pids:
            fds.append(os.pidfd_open(pid))
        select.select(fds, [], [], seconds)
    finally:
        for fd in fds:
            os.close(fd)


def _near(test: str, known: Sequence[str]) -> str:
    import difflib

    near = difflib.get_close_matches(test, known, 1)
    return f" (near it: {near[0]})" if near else ""
