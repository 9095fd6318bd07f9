"""How busy a machine is by others' work: speeds measured beside it would say nothing.

    if busy.share() > busy.IDLE_SHARE: ...   # refuse to measure
"""

import pathlib
import time

IDLE_SHARE = 0.10  # of all processors; up to this a machine counts as idle


def share(seconds=2):
    """Of all processors, by whoever works while this script waits."""
    def times():
        line = pathlib.Path("/proc/stat").read_text().split("\n")[0]
        fields = [int(word) for word in line.split()[1:]]
        return sum(fields[:8]), fields[3] + fields[4]
    all_before, idle_before = times()
    time.sleep(seconds)
    all_behind, idle_behind = times()
    return 1 - (idle_behind - idle_before) / max(1, all_behind - all_before)
