#!/usr/bin/env python3
"""Writes the golden files of Protobuf anew, with its own compiler and Python library.

    formats/golden/make_protobuf.py          # needs protoc, and pip install protobuf

golden.desc is the descriptor set of golden.proto and golden2.proto. records.pb has the records of
records.jsonl, everything.pb and older.pb messages of all that there is, beside everything.txt and
older.txt, in which the tests expect them. known.desc, with what it imports, and known.pb are of
known.proto: maps and messages of Protobuf's own. everything.jsonl, older.jsonl and known.jsonl are
what Protobuf's library writes as JSON, but that integers of 64 bits are numbers, as `hummer tail`
shows them. Messages have their lengths ahead.
"""
import json
import subprocess
from pathlib import Path

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

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


def plain(descriptor, value):
    """Of a message as JSON: the same with numbers where there are texts of digits."""
    if descriptor.full_name in ("google.protobuf.Int64Value", "google.protobuf.UInt64Value"):
        return int(value)
    if not isinstance(value, dict):
        return value
    made = {}
    for name, each in value.items():
        field = descriptor.fields_by_name[name]
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            of = field.message_type.fields_by_name["value"]
            made[name] = {key: plain_value(of, item) for key, item in each.items()}
        elif isinstance(each, list):
            made[name] = [plain_value(field, item) for item in each]
        else:
            made[name] = plain_value(field, each)
    return made


def plain_value(field, value):
    if field.cpp_type in (field.CPPTYPE_INT64, field.CPPTYPE_UINT64):
        return int(value)
    return value if field.message_type is None else plain(field.message_type, value)


def write_shown(name, messages):
    with open(FOLDER / name, "w", encoding="utf-8") as file:
        for each in messages:
            value = json_format.MessageToDict(each, preserving_proto_field_name=True,
                                              always_print_fields_with_no_presence=True)
            file.write(json.dumps(plain(each.DESCRIPTOR, value), sort_keys=True) + "\n")


def classes(descriptor_file):
    """What makes the messages of a descriptor set."""
    files = descriptor_pb2.FileDescriptorSet.FromString((FOLDER / descriptor_file).read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return lambda name: message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


def known_messages(make):
    for i in range(30):
        made = make()
        if i % 5:
            made.at.seconds, made.at.nanos = (i - 15) * 10**8, [0, 5, 5000, 5000000][i % 4]
            made.took.seconds, made.took.nanos = i - 15, (i - 15) * [0, 7, 7000, 7000000][i % 4]
        if i % 3:
            made.real.value, made.big.value, made.flag.value = i / 4, -i * 2**50, i % 2 == 1
            made.text.value, made.raw.value, made.wide.value = "ü\"" * (i % 3), bytes([i]), i * 2**58
        for k in range(i % 4):
            made.names[k - 1] = f"n{k}"
            made.flags[k % 2 == 0] = k
            made.parts[f"p{k}"].real = float("nan") if k % 2 else k / 3
            made.parts[f"p{k}"].bits.append(2**64 - 1 - k)
            made.sides[f"s{k}"] = k
            made.times.add(seconds=k)
        yield made


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
    for name, options, files in (("golden", [], ["golden.proto", "golden2.proto"]),
                                 ("known", ["--include_imports"], ["known.proto"])):
        subprocess.run(["protoc", f"--proto_path={FOLDER}", *options,
                        f"--descriptor_set_out={FOLDER}/{name}.desc", *files], check=True)
    make = classes("golden.desc")
    record, each_of, part_of, older = (
        make("golden." + name) for name in ("Record", "Everything", "Part", "Older"))

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
    write_shown("everything.jsonl", everything)
    write_shown("older.jsonl", olders)
    known = list(known_messages(classes("known.desc")("golden.Known")))
    write("known.pb", known)
    write_shown("known.jsonl", known)


if __name__ == "__main__":
    main()
