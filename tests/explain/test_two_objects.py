"""States that are attributes of a class: what is told is told of the object that was accessed."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.programs import write

from harness.control.actions import HandOver
from harness.explain.words import sentence
from harness.run.launch import Launcher
from harness.schedule import Directive, Schedule
from harness.verdict.why import cause_of

BANK = """
class Account:
    def __init__(self, balance):
        self.balance = balance
class Bank:
    def __init__(self, axes):
        self.a, self.b = Account(100), Account(0)
{withdraw}
def body(bank):
    a, b = bank.a, bank.b
    withdraw(a, bank)
    b.balance += 70
def check(bank, results):
    assert bank.a.balance + bank.b.balance == 100, "money was made"
scenario = Scenario([body, body], setup=Bank, check=check)
"""
OWN = """
def withdraw(account, bank):
    seen = account.balance
    marker("seen")
    account.balance = seen - 70
"""
THROUGH = """
def withdraw(account, bank):
    seen = bank.a.balance
    marker("seen")
    bank.a.balance = seen - 70
"""


@pytest.mark.parametrize("withdraw", [OWN, THROUGH], ids=["local", "attribute of an attribute"])
def test_the_lost_update_is_told_and_no_other_object(tmp_path: Path, withdraw: str) -> None:
    reference = write(tmp_path, BANK.format(withdraw=withdraw), "bank")
    schedule = Schedule(reference, 2, directives=(Directive("T0", "marker:seen", 1, HandOver("T1")),))
    with Launcher(reference) as launcher:
        report, cause = cause_of(launcher, schedule)
    assert cause is not None
    assert sentence(cause, report) == (
        "T0 wrote bank.Account:balance = 30, worked out from 100, which T1 had replaced by 30"
    )
    assert [(a["thread"], a["kind"], a["value"]) for a in cause.trail] == [
        ("T0", "read", "100"), ("T1", "read", "100"), ("T1", "write", "30"), ("T0", "write", "30"),
    ]  # fmt: skip
    other = [
        (a["thread"], a["kind"], a["value"])
        for a in report.accesses
        if (a["state"], a["of"]) == (cause.state, 2)
    ]
    assert other == [("T1", "read", "0"), ("T1", "write", "70"), ("T0", "read", "70"), ("T0", "write", "140")]
