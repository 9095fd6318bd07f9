#!/usr/bin/env python3
"""Writes the golden Avro files of formats/ anew, with fastavro (pip install fastavro cramjam backports.zstd).

    formats/golden/make_avro.py

The records of records.jsonl as records_CODEC.avro, by a schema with the fields in another order, and
in blocks of some records; evolved.avro, of all that a schema may have, beside evolved.txt, in which
the tests expect it. From a seed, marks included: the files are the same each time.
"""
import io
import json
from pathlib import Path

import fastavro

FOLDER = Path(__file__).resolve().parent

RECORDS = {
    "type": "record", "name": "Golden", "namespace": "org.example", "fields": [
        {"name": "firm", "type": "boolean"},
        {"name": "note", "type": ["string", "null"]},
        {"name": "unknown", "type": {"type": "array", "items": {"type": "map", "values": ["null", "double"]}}},
        {"name": "price", "type": "double"},
        {"name": "size", "type": "int"},
        {"name": "id", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "name", "type": "string"},
    ]}

EVOLVED = {
    "type": "record", "name": "Evolved", "fields": [
        {"name": "small", "type": "int"},
        {"name": "as_double", "type": "int"},
        {"name": "as_float", "type": "long"},
        {"name": "widened", "type": "float"},
        {"name": "raw", "type": "bytes"},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 4}},
        {"name": "side", "type": {"type": "enum", "name": "Side", "symbols": ["sell", "buy", "hold"]}},
        {"name": "side_text", "type": "Side"},
        {"name": "old_name", "type": "string"},
        {"name": "leg", "type": {"type": "record", "name": "Leg", "fields": [
            {"name": "venue", "type": "string"},
            {"name": "next", "type": ["null", "Leg"]},
            {"name": "lots", "type": {"type": "array", "items": "long"}}]}},
        {"name": "legs", "type": {"type": "array", "items": "Leg"}},
        {"name": "last", "type": ["null", "Leg"]},
        {"name": "counts", "type": {"type": "map", "values": ["null", "long"]}},
        {"name": "number", "type": ["null", "int", "string", "double"]},
        {"name": "nothing", "type": "null"},
        {"name": "marks", "type": {"type": "array", "items": ["int", "null"]}},
    ]}


def write(name, schema, records, codec, per_block):
    space = io.BytesIO()
    fastavro.writer(space, fastavro.parse_schema(json.loads(json.dumps(schema))), records, codec=codec,
                    sync_interval=per_block, sync_marker=bytes(range(16)))
    (FOLDER / name).write_bytes(space.getvalue())


def evolved():
    def leg(venue, depth=0):
        return {"venue": venue, "lots": list(range(depth)),
                "next": leg(venue + "'", depth - 1) if depth > 0 else None}
    for i in range(40):
        yield {
            "small": i - 20, "as_double": i * 1000003, "as_float": i * 2**40, "widened": i / 4,
            "raw": bytes([0, 255, i]), "hash": bytes([i] * 4), "side": ["sell", "buy", "hold"][i % 2],
            "side_text": ["sell", "buy", "hold"][i % 3], "old_name": f"n{i}", "leg": leg("v", i % 4),
            "legs": [leg("w", k) for k in range(i % 3)], "last": leg("z") if i % 2 else None,
            "counts": {f"k{k}": k if k % 2 else None for k in range(i % 4)},
            "number": [None, i, -i][i % 3], "nothing": None, "marks": [1, None, 3][:i % 4],
        }


def line(r):
    """As the test shows a record."""
    def lots(each):
        return each["venue"] + "[" + " ".join(map(str, each["lots"])) + "]"
    return "|".join([
        str(r["small"]), f"{r['as_double']}.0", str(r["as_float"]), f"{r['widened']:.2f}", r["raw"].hex(),
        r["hash"].hex(), str(["buy", "sell"].index(r["side"])), r["side_text"], r["old_name"], lots(r["leg"]),
        " ".join(map(lots, r["legs"])), lots(r["last"]) if r["last"] else "-",
        " ".join(f"{k}={'-' if v is None else v}" for k, v in r["counts"].items()),
        "-" if r["number"] is None else str(r["number"]),
        " ".join("-" if m is None else str(m) for m in r["marks"])])


def main():
    records = []
    for i, text in enumerate((FOLDER / "records.jsonl").read_text(encoding="utf-8").splitlines()):
        record = json.loads(text)
        record.setdefault("note", None)
        record["unknown"] = [{"a": None, "b": 1.5}] * (i % 3)
        records.append(record)
    for codec in ("null", "deflate", "snappy", "zstandard"):
        write(f"records_{codec}.avro", RECORDS, records, codec, 2000)
    write("evolved.avro", EVOLVED, evolved(), "null", 600)
    (FOLDER / "evolved.txt").write_text("".join(line(each) + "\n" for each in evolved()))


if __name__ == "__main__":
    main()
