#!/usr/bin/env python3
"""Writes tests/data/readings.txt and what every pipeline of golden_test.cpp must make of it, by plain
loops that share nothing with the engine. Run again, it writes the same bytes.

A line: time in ms, side (a or b), key, value. Times fall back by less than 50 ms.
"""
import collections
import pathlib
import random

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
KEYS = ["ant", "bee", "cow", "dog", "eel", "fox", "gnu"]


def readings():
    draw = random.Random(20261121)
    return [(5 * i + draw.randrange(50), draw.choice("ab"), draw.choice(KEYS), draw.randrange(1000))
            for i in range(800)]


def windows(time, size, slide):
    last = time // slide * slide
    return [start for start in range(last - size + slide, last + slide, slide)
            if start <= time < start + size]


def per_window(rows, size, slide):
    sums = collections.Counter()
    for time, _, key, value in rows:
        for start in windows(time, size, slide):
            sums[key, start] += value
    return [f"{key}\t{start}\t{start + size}\t{total}" for (key, start), total in sums.items()]


def sessions(rows, gap):
    times = collections.defaultdict(list)
    for time, _, key, _ in rows:
        times[key].append(time)
    lines = []
    for key, all_times in times.items():
        current = []
        for time in sorted(all_times) + [None]:
            if current and (time is None or time - current[-1] >= gap):
                lines.append(f"{key}\t{current[0]}\t{current[-1] + gap}\t{len(current)}")
                current = []
            current.append(time)
    return lines


def pairs(rows, together):
    left = [row for row in rows if row[1] == "a"]
    right = [row for row in rows if row[1] == "b"]
    return [f"{a[2]}\t{a[0]}\t{a[3]}\t{b[0]}\t{b[3]}" for a in left for b in right
            if a[2] == b[2] and together(a[0], b[0])]


def best(rows, n, size):
    groups = collections.defaultdict(list)
    for number, (time, _, key, value) in enumerate(rows):
        groups[key, time // size * size].append((value, time))
    return [f"{key}\t{start}\t{rank}\t{value}\t{time}" for (key, start), all_rows in groups.items()
            for rank, (value, time) in enumerate(sorted(all_rows, reverse=True)[:n], 1)]


def main():
    rows = readings()
    counts = collections.Counter(key for _, _, key, _ in rows)
    golden = {
        "totals": [f"{key}\t{count}" for key, count in counts.items()],
        "tumbling": per_window(rows, 100, 100),
        "sliding": per_window(rows, 100, 20),
        "sessions": sessions(rows, 40),
        "window_join": pairs(rows, lambda a, b: a // 60 == b // 60),
        "interval_join": pairs(rows, lambda a, b: -20 <= b - a <= 30),
        "timers": [line for line in per_window(rows, 200, 200)],
        "top_n": best(rows, 3, 250),
        "distinct": sorted({f"{key}\t{value % 10}" for _, _, key, value in rows}),
    }
    (DATA / "golden").mkdir(parents=True, exist_ok=True)
    (DATA / "readings.txt").write_text("".join(f"{t} {s} {k} {v}\n" for t, s, k, v in rows))
    for name, lines in golden.items():
        (DATA / "golden" / f"{name}.txt").write_text("".join(f"{line}\n" for line in sorted(lines)))


if __name__ == "__main__":
    main()
