#!/usr/bin/env python3
"""Writes the golden logs, raw records and the gzip file of formats/ anew.

    formats/golden/make_logs.py

syslog_rfc3164.log and syslog_rfc5424.log are what util-linux's logger sends; ticks.varint is made by
protobuf's encoder of varints and Python's struct; excel.csv.gz is of GNU gzip, in two members.
"""
import socket
import struct
import subprocess
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
TEXTS = ["plain words", "a [bracket] and: a colon", "it's 100 %", "<34> looks like a priority", "ümlaut", "x" * 150]


def sent_by_logger(*words):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        subprocess.run(["logger", "--server", "127.0.0.1", "--udp", "--port", str(receiver.getsockname()[1]),
                        *words], check=True)
        return receiver.recv(65536)


def main():
    for form in ("rfc3164", "rfc5424"):
        with open(FOLDER / f"syslog_{form}.log", "wb") as file:
            for i, text in enumerate(TEXTS * 4):
                words = [f"--{form}", "--tag", f"app{i % 3}", "--priority", ("user.info", "local3.err")[i % 2]]
                if i % 4 == 1:
                    words.append(f"--id={i + 1}")
                if form == "rfc5424" and i % 3 == 0:
                    words += ["--sd-id", "zoo@123", "--sd-param", 'tiger="hungry"', "--sd-param", 'cat="a\\]b"']
                file.write(sent_by_logger(*words, "--", text) + b"\n")
    from google.protobuf.internal.encoder import _VarintBytes
    with open(FOLDER / "ticks.varint", "wb") as file:
        for i in range(100):
            tick = struct.pack("<Id?", i * 1_000_003 % 2**32, i / 8, i % 2 == 0)
            file.write(_VarintBytes(len(tick)) + tick)
    text = (FOLDER / "excel.csv").read_bytes()
    with open(FOLDER / "excel.csv.gz", "wb") as file:
        for part in (text[:5000], text[5000:]):
            file.write(subprocess.run(["gzip", "-9", "--no-name"], input=part, capture_output=True, check=True).stdout)


if __name__ == "__main__":
    main()
