"""The interpreter's own primitives, taken before anything is replaced.

The controller itself stands on these alone: were it to use a cooperative lock, it would wait for itself.
"""

import _thread
import os
import select as _select
import sys
import time

# A checkout may be imported after replacement (a scenario file run twice): keep what was taken first.
allocate_lock = _thread.allocate_lock
start_new_thread = _thread.start_new_thread
start_joinable_thread = getattr(_thread, "start_joinable_thread", None)
get_ident = _thread.get_ident
get_native_id = _thread.get_native_id
sleep = time.sleep
monotonic = time.monotonic
current_frames = sys._current_frames
fork, forkpty = os.fork, os.forkpty
wait, wait3, wait4 = os.wait, os.wait3, os.wait4
waitid, waitpid = os.waitid, os.waitpid
read, select = os.read, _select.select
