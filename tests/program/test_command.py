"""What is typed behind ``harness run --``, and its form in a token."""

from __future__ import annotations

import pytest

from harness.errors import UserError
from harness.program import from_arguments, from_reference
from harness.schedule import Schedule, from_token, to_token


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["python", "prog.py", "3"], "python prog.py 3"),
        (["python3.11", "a folder/prog.py", "--seed", "3"], "python 'a folder/prog.py' --seed 3"),
        (["python", "-m", "package.module", "x,y@z"], "python -m package.module x,y@z"),
        (["python", "-m", "pytest", "-q"], "pytest -q"),
        (["pytest", "tests/test_a.py::test_b[1-2]"], "pytest 'tests/test_a.py::test_b[1-2]'"),
    ],
)
def test_a_token_holds_the_command(words: list[str], line: str) -> None:
    command = from_arguments(words, modules=("app", "torch.fx"), fine=("app.core",), restart=True, seconds=2.5)
    assert command.line == line
    again = from_token(to_token(Schedule(command.reference, 1))).scenario
    assert from_reference(again) == command


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "what is to be run"),
        (["prog.py"], "harness run -- python prog.py"),
        (["make", "test"], "only Python programs"),
        (["python"], "which program"),
        (["python", "-m"], "which module"),
        (["python", "-O", "prog.py"], "cannot be honoured"),
        (["python", "-c", "pass"], "cannot be honoured"),
        (["pytest", "-n", "4"], "leave it out"),
        (["pytest", "-n4"], "leave it out"),
        (["pytest", "--numprocesses=2"], "leave it out"),
    ],
)
def test_what_cannot_be_run_is_said(words: list[str], says: str) -> None:
    with pytest.raises(UserError, match=says):
        from_arguments(words)


@pytest.mark.parametrize("reference", ["run:", "run:--magic python a.py", "run:--module", "run:'", "run:--run-seconds x python a.py"])
def test_a_reference_that_is_none(reference: str) -> None:
    with pytest.raises(UserError):
        from_reference(reference)
