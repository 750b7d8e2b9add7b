"""What another thread does in the middle of a trace neither sees the trace nor changes it; all is as before afterwards."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import threading
import torch
import torch.fx as fx
import torch.fx._symbolic_trace as symbolic_trace
import torch.fx.traceback as traceback
from torch.fx.experimental.proxy_tensor import make_fx
from harness.fixes.thread_local_fx import thread_local_fx

@fx.wrap
def leaf(x):
    return x + 1

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, x):
        return leaf(self.linear(x) * self.weight)

def graph(net):
    return [(node.op, str(node.target)) for node in fx.symbolic_trace(net).graph.nodes]

def patched():
    return (torch.nn.Module.__call__.__code__, torch.nn.Module.__getattr__.__code__, symbolic_trace.Tracer.trace.__code__,
            type(symbolic_trace), type(traceback), symbolic_trace._PatchedFnSetAttr.patch, leaf)

net, x = Net(), torch.ones(4)
usual = graph(net)
warm = torch.compile(lambda x: x * 2 + 1, backend="eager")  # wrapped before the fix is in force
warm(x)
before = patched()  # the first compile patches Tracer.trace for good
with thread_local_fx():
    assert graph(net) == usual
    seen = {}

    def meanwhile():
        seen["eager"] = list(net(torch.ones(2, 3)).shape)
        seen["warm"] = warm(x).tolist()
        seen["trace"] = graph(net) == usual
        seen["first"] = list(torch.compile(net, backend="eager")(torch.ones(2, 3)).shape)
        seen["make_fx"] = [node.op for node in make_fx(lambda y: y + 1)(x).graph.nodes]
        seen["tag"] = traceback.current_meta.get("custom")

    def traced(y):
        thread = threading.Thread(target=meanwhile)
        thread.start()
        thread.join()
        return leaf(y)

    with traceback.preserve_node_meta():
        traceback.current_meta["custom"] = "main's"
        ops = [node.op for node in fx.symbolic_trace(traced).graph.nodes]
    assert ops == ["placeholder", "call_function", "output"], ops
    assert seen == {"eager": [2, 3], "warm": [3.0] * 4, "trace": True, "first": [2, 3],
                    "make_fx": ["placeholder", "call_function", "output"], "tag": None}, seen
    try:  # in the same thread it is still refused
        fx.symbolic_trace(lambda y: warm(y))
    except RuntimeError as error:
        assert "symbolically trace a dynamo-optimized" in str(error), error
    else:
        raise AssertionError("a nested trace went through")
assert patched() == before, [pair for pair in zip(patched(), before) if pair[0] != pair[1]]
assert graph(net) == usual
print("as it should be")
"""


def test_a_trace_is_its_own_thread_s() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "as it should be", done.stderr[-2000:]


def test_without_it_the_program_fails() -> None:
    """The control arm."""
    without = PROGRAM.replace("with thread_local_fx():", "if True:")
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", without], capture_output=True, text=True, check=False)
    assert done.returncode != 0
