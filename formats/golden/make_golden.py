#!/usr/bin/env python3
"""Writes the golden files of formats/ anew, with Python's own csv and json modules.

    formats/golden/make_golden.py

The same records as excel.csv (the module's default: CRLF, quotes where needed), unix.csv (all in
quotes, LF), tabs.csv (tabs, single quotes) and records.jsonl. From a seed; the tests read all of them
and expect the same records.
"""
import csv
import json
import random
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
WORDS = ["", "plain", "with, comma", 'say "hi"', "line\nend", "carriage\r\nreturn", "tab\there", "it's",
         "ümlaut", "日本", " blanks ", "a;b", '"', "''", "\\", "x" * 200, "null", "true", "12"]


def record(draw):
    note = draw.choice(WORDS + [None] * 6)
    return {
        "id": draw.choice([draw.randrange(-2**63, 2**63), draw.randrange(-999, 999), 2**63 - 1, -2**63]),
        "name": draw.choice(WORDS),
        "price": draw.choice([draw.random() * 10**draw.randrange(-300, 300), round(draw.uniform(0, 1e6), 2),
                              0.0, -1.5, 1e22, 5e-324, 123456789.125, float(draw.randrange(10**17))]),
        "size": draw.randrange(-2**31, 2**31),
        "firm": draw.random() < 0.5,
        "note": note,
    }


def main():
    draw = random.Random(42)
    records = [record(draw) for _ in range(400)]
    names = list(records[0])

    def rows():
        for each in records:
            yield [("true" if v else "false") if isinstance(v, bool) else "NULL" if v is None else v
                   for v in each.values()]

    for name, options in {
        "excel.csv": {},
        "unix.csv": {"dialect": "unix"},
        "tabs.csv": {"delimiter": "\t", "quotechar": "'", "lineterminator": "\n"},
    }.items():
        with open(FOLDER / name, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, **options)
            writer.writerow(names)
            writer.writerows(rows())
    with open(FOLDER / "records.jsonl", "w", encoding="utf-8") as file:
        for i, each in enumerate(records):
            # As ASCII with escapes, and as UTF-8; optional members left out or null.
            kept = {k: v for k, v in each.items() if v is not None or i % 2}
            file.write(json.dumps(kept, ensure_ascii=i % 3 == 0) + "\n")


if __name__ == "__main__":
    main()
