#!/usr/bin/env python3
"""Writes the golden files of Protobuf anew, with its own compiler and Python library.

    formats/golden/make_protobuf.py          # needs protoc, and pip install protobuf

golden.desc is the descriptor set of golden.proto and golden2.proto. records.pb has the records of
records.jsonl, everything.pb and older.pb messages of all that there is, beside everything.txt and
older.txt, in which the tests expect them. Messages have their lengths ahead.
"""
import json
import subprocess
from pathlib import Path

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

FOLDER = Path(__file__).resolve().parent


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def write(name, messages):
    parts = [each.SerializeToString(deterministic=True) for each in messages]
    (FOLDER / name).write_bytes(b"".join(varint(len(part)) + part for part in parts))


def part(make, venue, depth):
    each = make(venue=venue, lots=range(-1, depth))
    if depth > 0:
        each.next.CopyFrom(part(make, venue + "'", depth - 1))
    return each


def show_part(each):
    return each.venue + "[" + " ".join(map(str, each.lots)) + "]"


def show(e):
    choice = e.WhichOneof("choice")
    return "|".join([
        *(str(getattr(e, name)) for name in ("i32", "i64", "u32", "u64", "s32", "s64", "f32", "f64", "sf32",
                                             "sf64")),
        f"{e.real:.3f}", f"{e.wide:.3f}", str(int(e.flag)), e.text, e.raw.hex(), str(e.side), show_part(e.part),
        show_part(e.maybe) if e.HasField("maybe") else "-", " ".join(map(show_part, e.parts)),
        " ".join(map(str, e.packed)), " ".join(map(str, e.unpacked)), " ".join(e.texts),
        " ".join(f"{k}={v}" for k, v in sorted(e.counts.items())),
        str(e.number) if choice == "number" else "-", e.word if choice == "word" else "-",
        show_part(e.piece) if choice == "piece" else "-", str(e.zero) if e.HasField("zero") else "-",
        str(e.small)])


def main():
    subprocess.run(["protoc", f"--proto_path={FOLDER}", f"--descriptor_set_out={FOLDER}/golden.desc",
                    "golden.proto", "golden2.proto"], check=True)
    files = descriptor_pb2.FileDescriptorSet.FromString((FOLDER / "golden.desc").read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    record, each_of, part_of, older = (
        message_factory.GetMessageClass(pool.FindMessageTypeByName("golden." + name))
        for name in ("Record", "Everything", "Part", "Older"))

    records = []
    for i, line in enumerate((FOLDER / "records.jsonl").read_text(encoding="utf-8").splitlines()):
        fields = {k: v for k, v in json.loads(line).items() if v is not None}
        made = record(**fields, unknown=range(i % 5))
        if i % 4 == 0:
            made.also_unknown.CopyFrom(part(part_of, "x", 2))
        records.append(made)
    write("records.pb", records)

    everything = []
    for i in range(60):
        k = (i - 30) * 76543211
        made = each_of(
            i32=k % 2**31 - 2**30, i64=k * 987654321, u32=k % 2**32, u64=(k * 2**30) % 2**64, s32=-i, s64=-k,
            f32=k % 2**32, f64=(k * 7) % 2**64, sf32=i - 30, sf64=k, real=i / 8, wide=-i / 16, flag=i % 2,
            text="ü" * (i % 3), raw=bytes([i, 255, 0][:i % 4]), side=[0, 1, -1][i % 3],
            parts=[part(part_of, "p", n) for n in range(i % 4)], packed=[n - 5 for n in range(i % 7)],
            unpacked=range(i % 3), texts=["t", ""][:i % 3], counts={f"k{n}": n for n in range(i % 3)}, small=i)
        if i % 2:
            made.maybe.CopyFrom(part(part_of, "m", i % 3))
            made.zero = 0
        if i % 3:
            made.part.CopyFrom(part(part_of, "q", 1))
        if i % 5 == 1:
            made.number = 0
        elif i % 5 == 2:
            made.word = "w"
        elif i % 5 == 3:
            made.piece.CopyFrom(part(part_of, "c", 0))
        everything.append(made)
    write("everything.pb", everything)
    (FOLDER / "everything.txt").write_text("".join(show(each) + "\n" for each in everything), encoding="utf-8")

    olders = []
    for i in range(8):
        made = older(id=i, marks=range(i), packed=range(-i, 0))
        if i % 2:
            made.size, made.name, made.price, made.firm, made.level = i, f"n{i}", i / 2, False, 4
            made.extra.add(more=i)
            made.extra.add()
        olders.append(made)
    write("older.pb", olders)
    (FOLDER / "older.txt").write_text("".join(
        f"{o.id}|{o.size}|{o.name}|{o.price:.1f}|{int(o.firm)}|{o.level}|{o.other}|"
        f"{' '.join(map(str, o.marks))}|{' '.join(map(str, o.packed))}\n" for o in olders))


if __name__ == "__main__":
    main()
