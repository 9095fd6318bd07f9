"""What the workloads of bench/late_merge must give, by DuckDB: the rows of bench/stateful in SQL
(duckdb_stateful.py), with a seed and with keys by Zipf's law. Nothing is read from our programs.

  .venv/bin/python bench/late_merge/peers/duckdb_late_merge.py < sizes

Each line of standard input is a report of late_merge_hummer; each line of the output has the same
workload's number of results and their hash.
"""

import json
import pathlib
import sys

import duckdb

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "stateful/peers"))
from duckdb_stateful import FIRST, MACROS, SECOND, Sql, hashed  # noqa: E402

WORD = 2**64


def mixed(x):
    for factor in (FIRST, SECOND):
        x = x * factor % WORD
        x ^= x >> 32
    return x


def zipf_entries(keys, exponent):
    """The table of zipf.hpp: the least draw of each entry, its first key, and how many it has."""
    entries, total, rank = [], 0.0, 1
    while rank <= keys:
        size = min(max(1, (1 << (rank.bit_length() - 1)) >> 6), keys + 1 - rank)
        total += size * (rank + (size - 1) / 2) ** -exponent
        entries.append((total, rank - 1, size))
        rank += size
    rows, least = [], 0
    for cumulated, first, size in entries:
        following = int(cumulated / total * 2.0**64) if cumulated < total else WORD
        if following > least:
            rows.append((least, first, size))
        least = following
    return rows


class LateMergeSql(Sql):
    auctions_per_person = bids_per_person = 4

    def __init__(self, database, size):
        super().__init__(database, {**size, "row": size["workload"]})
        self.salt = mixed(size["seed"])
        self.skew = float(size["skew"])
        if self.skew:
            database.execute("CREATE OR REPLACE TEMP TABLE entries "
                             "(least UBIGINT, first_key UBIGINT, size UBIGINT)")
            database.executemany("INSERT INTO entries VALUES (?, ?, ?)",
                                 zipf_entries(self.keys, self.skew))

    def keyed(self, *columns):
        key, rows = f"below(draw, {self.keys})", self.indexes()
        if self.skew:
            key, rows = "first_key + below(further, size)", f"{rows} ASOF JOIN entries ON draw >= least"
        columns = "".join(f", {column}" for column in columns)
        return f"(SELECT {key} AS key, {self.time('i')} AS time{columns} FROM {rows})"

    def ro(self):
        return self.count()


def main():
    database = duckdb.connect()
    database.execute(MACROS)
    for line in sys.stdin:
        size = json.loads(line)
        results, total = hashed(database, *LateMergeSql(database, size).query())
        print(json.dumps({"workload": size["workload"], "results": results,
                          "hash": f"{total % WORD:016x}"}), flush=True)


if __name__ == "__main__":
    main()
