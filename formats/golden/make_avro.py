#!/usr/bin/env python3
"""Writes the golden Avro files of formats/ anew, with fastavro (pip install fastavro cramjam backports.zstd).

    formats/golden/make_avro.py

The records of records.jsonl as records_CODEC.avro, by a schema with the fields in another order, and
in blocks of some records; evolved.avro, of all that a schema may have, beside evolved.txt, in which
the tests expect it; logical.avro, of logical types. evolved.jsonl and logical.jsonl are what fastavro
reads of these, as `hummer tail` is to show it. From a seed, marks included: the files are the same
each time.
"""
import datetime
import decimal
import io
import json
import uuid
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

LOGICAL = {
    "type": "record", "name": "Logical", "namespace": "org.example", "fields": [
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 3}},
        {"name": "amount", "type": {"type": "fixed", "name": "Amount", "size": 9, "logicalType": "decimal",
                                    "precision": 20, "scale": 0}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "at_millis", "type": {"type": "int", "logicalType": "time-millis"}},
        {"name": "at_micros", "type": {"type": "long", "logicalType": "time-micros"}},
        {"name": "millis", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]},
        {"name": "micros", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "local", "type": {"type": "long", "logicalType": "local-timestamp-micros"}},
        {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "number", "type": {"type": "int", "logicalType": "unheard-of"}},
        {"name": "reals", "type": {"type": "array", "items": ["double", "float"]}},
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


def logical():
    utc = datetime.timezone.utc
    for i in range(25):
        sign = -1 if i % 2 else 1
        moment = datetime.datetime(1960 + i * 7, 1 + i % 12, 1 + i, i % 24, i, 59 - i, i * 1001, utc)
        yield {
            "price": decimal.Decimal(sign * i * 7919).scaleb(-3), "amount": decimal.Decimal(sign * i ** 13),
            "day": datetime.date(1900 + 9 * i, 1 + i % 12, 28), "at_millis": datetime.time(i % 24, i, i, i * 1000),
            "at_micros": datetime.time(23 - i % 24, 59, i, i), "micros": moment,
            "millis": moment.replace(microsecond=i * 1000) if i % 3 else None,
            "local": moment.replace(tzinfo=None), "id": uuid.UUID(int=i * 2**100 + i), "number": i,
            "reals": [sign * i / 3, float("nan"), float("inf"), -float("inf"), 1e300][:i % 6],
        }


def shown(value, digits=None):
    """What is read of a file, as `hummer tail` shows it; `digits`: of times, as their types have them."""
    if isinstance(value, dict):
        few = ("at_millis", "millis")
        return {name: shown(each, "milliseconds" if name in few else "microseconds")
                for name, each in value.items()}
    if isinstance(value, list):
        return [shown(each) for each in value]
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, datetime.datetime):
        return value.isoformat(timespec=digits).replace("+00:00", "Z")
    if isinstance(value, datetime.time):
        return value.isoformat(timespec=digits)
    if isinstance(value, decimal.Decimal):
        return f"{value:f}"
    if isinstance(value, (datetime.date, uuid.UUID)):
        return str(value)
    if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    return value


def write_shown(name):
    with open(FOLDER / f"{name}.avro", "rb") as file:
        lines = [json.dumps(shown(each)) for each in fastavro.reader(file)]
    (FOLDER / f"{name}.jsonl").write_text("".join(line + "\n" for line in lines))


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
    write("logical.avro", LOGICAL, logical(), "deflate", 600)
    write_shown("evolved")
    write_shown("logical")


if __name__ == "__main__":
    main()
