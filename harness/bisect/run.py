"""From the log as it is to its end: the next release, its environment, its test, a line in the log."""

from __future__ import annotations

from collections.abc import Callable

from harness import releases
from harness.errors import CannotTest, UserError
from harness.releases import Environment
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.schedule import from_token
from harness.script import make

from . import race, script
from .log import Log
from .question import Question
from .search import Found, conclude, next_release
from .step import Step


def environment_of(question: Question, release: str, tell: Callable[[str], None]) -> Environment:
    """At hand, or made. Raises what :func:`harness.releases.add` does."""
    found = releases.at_hand(release, question.python)
    return found or releases.add(release, question.python, source=question.source, index=question.index, tell=tell)


def carry_out(
    log: Log, *, jobs: int | None = None, tell: Callable[[str], None] = lambda _: None,
    environment: Callable[[Question, str, Callable[[str], None]], Environment] = environment_of,
) -> Found:
    """Test what is still to be tested. Whatever ends it, the log has all steps that were made.

    Raises CannotTest where an end can't be tested; UserError where the ends are equal or an environment can't be made.
    """
    question = log.question
    for step in log.steps.values():
        tell(f"torch {step.torch}: {step.word} (from {log.path})")
    at_hand = {release for release in question.releases if releases.at_hand(release, question.python)}
    while (release := next_release(question.releases, log.steps, at_hand)) is not None:
        try:
            where = environment(question, release, tell)
            if question.kind == "script":
                step = script.ask(question, release, where)
            else:
                step = race.ask(question, log.steps, release, where, jobs)
        except CannotTest as error:
            step = Step(release, "skip", str(error))
        if step.result == "skip" and release in (question.old, question.new):
            raise CannotTest(f"torch {release}, one of the ends, can't be tested: {step.why}")
        log.add(step)
        tell(f"torch {release}: {step.word}, {step.why} ({step.seconds:.1f} s)")
    return conclude(question.releases, log.steps)


def stand_alone(log: Log, found: Found, environment: Callable[[Question, str, Callable[[str], None]], Environment] = environment_of) -> str:
    """A script that fails on the last release with the failure; empty, and why, where there can't be one.

    Kept in the log, so that a finished bisect says the same again without a run.
    """
    if log.script is None and log.question.kind != "script":
        failing = found.last_old if found.kind == "fixed" else found.first_new
        schedule = from_token(failing.token)
        where = environment(log.question, failing.torch, lambda _: None)
        try:
            with Launcher(schedule.scenario, free=schedule.free, jobs=1, python=where.interpreter) as launcher:
                log.keep_script(make(schedule, launcher.run(Job(schedule)), launcher.about, where.interpreter))
        except (UserError, CannotTest) as error:
            log.keep_script(f"# {error}\n")
    return log.script or ""
