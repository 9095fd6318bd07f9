"""How long the kernel lets a thread run before another has its turn (Linux 6.12 and later).

    time_slices.ask(pids, milliseconds)      of all threads that they have, and will start
    time_slices.ask(pids, 0)                 the kernel's own again

Many processes on few cores push each other's state out of the caches at each turn; nodes of a cluster
have cores of their own. Long turns leave less of that in a measurement.
"""

import ctypes
import pathlib
import struct

SCHED_SETATTR = 314  # of x86-64


def ask(pids, milliseconds):
    """False where the kernel knows of no such wish."""
    attributes = struct.pack("=IIQiIQQQ", 48, 0, 0, 0, 0, milliseconds * 1_000_000, 0, 0)
    libc = ctypes.CDLL(None, use_errno=True)
    threads = [int(task.name) for pid in pids for task in pathlib.Path(f"/proc/{pid}/task").iterdir()]
    return all(libc.syscall(SCHED_SETATTR, thread, attributes, 0) == 0 for thread in threads)
