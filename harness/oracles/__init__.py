"""What turns a silent failure into a finding, one file each.

In the run's process: :mod:`~harness.oracles.checked` (the scenario's own check), :mod:`~harness.oracles.leaked` (saved
and restored state), :mod:`~harness.oracles.unraisable` (exceptions that Python only prints),
:mod:`~harness.oracles.probed` (functions called when the threads have ended). Over runs:
:mod:`~harness.oracles.sequential` (what no sequential order gives),
:mod:`~harness.oracles.compiled` (what torch compiled, ran and traced, against those orders). Runs without a switch go
through all of them too.
"""
