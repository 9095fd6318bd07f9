"""What the rows of keyed state must give, by DuckDB: it makes the same records in SQL, with its own
words for what workload.hpp does, and aggregates and joins them. Nothing is read from our programs.

  .venv/bin/python bench/stateful/peers/duckdb_stateful.py < sizes

Each line of standard input is a report of stateful_hummer; each line of the output has the same row's
number of results and their hash.
"""

import json
import sys

import duckdb

# The factors of mixed().
FIRST, SECOND = 11400714819323198485, 15485907386658061715
MACROS = f"""
CREATE MACRO wrapped(wide) AS (wide % 18446744073709551616::UHUGEINT)::UBIGINT;
CREATE MACRO times(a, b) AS wrapped(a::UHUGEINT * b::UHUGEINT);
CREATE MACRO folded(x) AS xor(x, x >> 32);
CREATE MACRO mixed(x) AS folded(times(folded(times(x, {FIRST})), {SECOND}));
CREATE MACRO below(draw, bound) AS
  ((draw::UHUGEINT * bound::UHUGEINT) // 18446744073709551616::UHUGEINT)::UBIGINT;
CREATE MACRO letters(draw) AS (draw & 1085102592571150095::UBIGINT) + 7016996765293437281::UBIGINT;
"""


class Sql:
    """The tables of one row's input and the query over them."""

    auctions_per_person = 3
    bids_per_person = 10
    salt = 0  # of the draws: another one gives other rows

    def __init__(self, database, size):
        self.database = database
        self.made = set()
        self.row = size["row"]
        self.records = size["records"]
        self.keys = size["keys"]
        self.window = size["window_ms"]
        self.per_window = size["records_per_window"]

    def time(self, event):
        return f"(({event})::UBIGINT * {self.window} // {self.per_window})"

    def start(self, time="time"):
        return f"({time} // {self.window} * {self.window})"

    def indexes(self, count=None):
        """A table of each index with the draw that belongs to it, and the one after that."""
        count = count or self.records
        name = f"indexes_{count}"
        if name not in self.made:
            self.made.add(name)
            self.database.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS "
                                  f"SELECT range::UBIGINT AS i FROM range({count})")
            mix(self.database, name, ["i"], f"xor(i, {self.salt}::UBIGINT)", "draw")
            mix(self.database, name, ["i", "draw"], "draw", "further")
        return name

    def key(self):
        if self.row in ("count", "function", "broadcast"):
            return f"wrapped(i::UHUGEINT * 2654435761 % {self.keys})"
        if self.row != "nexmark7":
            return f"below(draw, {self.keys})"
        first = f"(1::UBIGINT << below(draw, {self.keys.bit_length()}))"
        return f"({first} - 1 + below(further, least({first}, {self.keys} - {first} + 1)))"

    def keyed(self, *columns):
        columns = "".join(f", {column}" for column in columns)
        return f"(SELECT {self.key()} AS key, {self.time('i')} AS time{columns} FROM {self.indexes()})"

    def persons(self, others):
        count = self.records // (1 + others)
        return (f"(SELECT i AS id, {self.time(f'i * {1 + others}')} AS time, letters(draw) AS name "
                f"FROM {self.indexes(count)})")

    def sellers(self):
        return self.persons(self.auctions_per_person)

    def bidders(self):
        return self.persons(self.bids_per_person)

    def others(self, others, columns, count=None):
        count = count or self.records // (1 + others) * others
        newest = f"(i // {others})"
        among = "CASE WHEN draw >> 63 = 1 THEN 50 ELSE 5000 END"
        person = f"{newest} - below(times(draw, 2), least({among}, {newest} + 1))"
        return (f"(SELECT {person} AS person, {self.time(f'i + i // {others} + 1')} AS time, {columns} "
                f"FROM {self.indexes(count)})")

    def auctions(self):
        return self.others(self.auctions_per_person, "i AS item, below(further, 100000) AS cents")

    def bids(self, count=None):
        return self.others(self.bids_per_person,
                           "below(further, 1000) AS item, further & 1048575 AS cents", count)

    def with_sessions(self, table, key):
        """Numbers the sessions of each key."""
        return (f"(SELECT *, sum(fresh) OVER (PARTITION BY {key} ORDER BY time "
                f"ROWS UNBOUNDED PRECEDING) AS session FROM (SELECT *, CASE WHEN time - lag(time) OVER "
                f"(PARTITION BY {key} ORDER BY time) < {self.window} THEN 0 ELSE 1 END AS fresh "
                f"FROM {table}))")

    def query(self):
        """SQL of the results, and how many columns they have."""
        return getattr(self, self.row)()

    def count(self):
        return f"SELECT key, count(*) FROM {self.keyed()} GROUP BY key", 2

    function = broadcast = count

    def ysb(self):
        return (f"SELECT key, {self.start()} AS start, count(*) FROM "
                f"{self.keyed('below(times(draw, 4294967296), 3) AS kind')} WHERE kind = 0 "
                "GROUP BY ALL", 3)

    def nexmark7(self):
        return (f"SELECT key, {self.start()} AS start, max(price) FROM "
                f"{self.keyed('further & 1048575 AS price')} GROUP BY ALL", 3)

    def cm(self):
        return (f"SELECT key, {self.start()} AS start, sum(cpu) // count(*) FROM "
                f"{self.keyed('further & 1048575 AS cpu')} GROUP BY ALL", 3)

    def nexmark8(self):
        return (f"SELECT id, name, item, cents FROM {self.sellers()} p JOIN {self.auctions()} a "
                f"ON p.id = a.person AND {self.start('p.time')} = {self.start('a.time')}", 4)

    def nexmark11(self):
        both = self.with_sessions(
            f"(SELECT id, time, name, 0::UBIGINT AS item, 0::UBIGINT AS cents, true AS is_person FROM "
            f"{self.bidders()} UNION ALL SELECT person, time, 0, item, cents, false FROM {self.bids()})",
            "id")
        return (f"WITH both_sides AS MATERIALIZED {both} SELECT p.id, p.name, b.item, b.cents "
                "FROM both_sides p JOIN both_sides b ON p.id = b.id AND p.session = b.session "
                "WHERE p.is_person AND NOT b.is_person", 4)

    def interval_join(self):
        return (f"SELECT id, name, item, cents FROM {self.bidders()} p JOIN {self.bids()} b "
                f"ON p.id = b.person WHERE b.time BETWEEN p.time AND p.time + {self.window}", 4)

    def co_group(self):
        return (f"SELECT id, {self.start()} AS start, sum(p), sum(a), sum(cents) FROM "
                f"(SELECT id, time, 1 AS p, 0 AS a, 0 AS cents FROM {self.sellers()} UNION ALL "
                f"SELECT person, time, 0, 1, cents FROM {self.auctions()}) GROUP BY ALL", 5)

    def sessions(self):
        return ("SELECT person, min(time), max(time) + "
                f"{self.window}, count(*) FROM {self.with_sessions(self.bids(self.records), 'person')} "
                "GROUP BY person, session", 4)

    def top_n(self):
        return (f"SELECT key, start, place, price FROM (SELECT *, row_number() OVER (PARTITION BY key, "
                f"start ORDER BY price DESC) AS place FROM (SELECT key, {self.start()} AS start, price "
                f"FROM {self.keyed('further & 1048575 AS price')})) WHERE place <= 3", 4)

    def deduplicate(self):
        return f"SELECT DISTINCT key FROM {self.keyed()}", 1

    def count_window(self):
        return (f"SELECT key, key % 1000 * 100 FROM (SELECT key, unnest(range(count(*) // 100)) FROM "
                f"{self.keyed()} GROUP BY key)", 2)

    def trigger(self):
        counts = f"(SELECT key, {self.start()} AS start, count(*) AS n FROM {self.keyed()} GROUP BY ALL)"
        return (f"WITH counts AS MATERIALIZED {counts} SELECT key, start, n FROM counts UNION ALL "
                "SELECT key, start, (hundred + 1) * 100 FROM "
                "(SELECT key, start, unnest(range(n // 100)) AS hundred FROM counts)", 3)

    def async_map(self):
        return f"SELECT mixed(key) FROM {self.keyed()}", 1


def mix(database, table, kept, value, into):
    """Adds the column `into`, which is mixed(value), to those that are kept. Step by step: in one query
    the copies that macros make of their arguments would multiply."""
    columns = ", ".join(kept)
    for step in (f"times({value}, {FIRST})", f"folded({into})", f"times({into}, {SECOND})",
                 f"folded({into})"):
        database.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS "
                         f"SELECT {columns}, {step} AS {into} FROM {table}")


def hashed(database, sql, width):
    """The results' number and their hash, as Checksum of workload.hpp makes it."""
    names = [f"v{i}" for i in range(width)]
    casts = ", ".join(f"{name}::UBIGINT AS {name}" for name in names)
    database.execute(f"CREATE OR REPLACE TEMP TABLE hashes AS SELECT {casts}, 0::UBIGINT AS h "
                     f"FROM ({sql}) AS results({', '.join(names)})")
    for name in names:
        mix(database, "hashes", names, f"xor(h, {name})", "h")
    return database.execute("SELECT count(*), sum(h::HUGEINT) FROM hashes").fetchone()


def main():
    database = duckdb.connect()
    database.execute(MACROS)
    for line in sys.stdin:
        size = json.loads(line)
        results, total = hashed(database, *Sql(database, size).query())
        print(json.dumps({"row": size["row"], "results": results, "hash": f"{total % 2**64:016x}"}),
              flush=True)


if __name__ == "__main__":
    main()
