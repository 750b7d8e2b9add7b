"""The scenario's own check: an ``AssertionError`` is a wrong value, anything else an error."""

from __future__ import annotations

from typing import Any

from harness.control.controller import Abandoned
from harness.run.outcome import Finding, of_error
from harness.scenario import Scenario


def checked(scenario: Scenario, shared: Any, results: list[Any], at: int) -> list[Finding]:
    if scenario.check is None:
        return []
    try:
        scenario.check(shared, results)
    except (KeyboardInterrupt, Abandoned):
        raise
    except BaseException as error:  # pytest.fail and sys.exit too
        return [of_error(error, "check", at)]
    return []
