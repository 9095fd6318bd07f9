"""WordCount in DuckDB SQL. See peer.py."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import duckdb
import peer

QUERY = """
COPY (
  SELECT word, count(*) AS occurrences
  FROM (SELECT unnest(string_split(line, ' ')) AS word
        FROM read_csv('{file}', columns = {{'line': 'VARCHAR'}}, header = false, auto_detect = false,
                      delim = '\t', quote = '', escape = '', new_line = '\\n'))
  WHERE word <> ''
  GROUP BY word)
TO '{out}' (FORMAT csv, DELIMITER '\t', QUOTE '', ESCAPE '', HEADER false)
"""


def main():
    args = peer.arguments()
    connection = duckdb.connect()
    connection.execute(f"SET threads = {args.parallelism}")
    connection.execute("SET preserve_insertion_order = false")

    def job(file, out):
        os.mkdir(out)
        connection.execute(QUERY.format(file=file, out=os.path.join(out, "part.csv")))

    peer.measure("duckdb", duckdb.__version__, job, args)


main()
