"""run a schedule again; exit 1 reproduced, 0 not, 125 not aligned"""

from __future__ import annotations

import argparse
from collections import Counter

from harness.errors import CannotTest
from harness.fixes import fix_of_a_run
from harness.run.job import Job
from harness.run.launch import Launcher
from harness.run.twins import difference

from . import options as shared


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("schedule", metavar="TOKEN|FILE")
    parser.add_argument("--fix", default="none", metavar="F", help="a fix in force during every run")
    parser.add_argument("--times", type=shared.count, default=1, metavar="N")
    shared.add_torch(parser)
    parser.add_argument("--jobs", type=shared.count, metavar="N", help="runs at the same time (default: one a core)")


def run(options: argparse.Namespace) -> int:
    schedule = shared.schedule_from(options.schedule)
    fix = fix_of_a_run(options.fix)
    with Launcher(schedule.scenario, free=schedule.free, jobs=options.jobs, python=shared.interpreter(options), fixes=[fix.name]) as launcher:
        shared.check_schedule(schedule, launcher)
        reports = [report for _, report in launcher.map(Job(schedule, fix.name) for _ in range(options.times))]
    lost = next((report for report in reports if report.unused), None)
    if lost is not None and not any(report.failed for report in reports):
        raise CannotTest(f"not aligned: {lost.unused[0]} was never passed; search again with `harness find {schedule.scenario}`")
    digest, same = Counter(report.digest for report in reports).most_common(1)[0]
    report = next(report for report in reports if report.digest == digest)
    failed = sum(report.failed for report in reports)
    if options.json:
        shared.emit(
            {
                "times": options.times,
                "same": same,
                "reproduced": failed,
                "outcome": report.outcome,
                "signature": report.signature,
                "digest": digest,
            }
        )
    else:
        print(f"{report.outcome}: {report.message}" if report.message else report.outcome)
        print(f"{failed} of {options.times} runs failed, {same} of {options.times} with digest {digest}")
        for report in reports[1:]:
            if says := difference(reports[0], report):
                print(f"NOT under control: {says}")
                break
    return int(failed > 0)
