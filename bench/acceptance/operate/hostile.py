"""A stranger who means ill, for 03-hostile-peers: attacks ports for some seconds, then says what it did.

    hostile.py KIND SECONDS NAME=HOST:PORT...

KIND: fuzz (frames that are nearly right, 50 connections a second per port), idle (10,000 connections per
port without a word), slow (20 connections per port that send the beginning of something right, one byte
a second). NAME: control, data or http. HUMMER_HOSTILE_TLS=1: what is right begins with TLS.
"""
import functools
import itertools
import os
import random
import resource
import socket
import ssl
import struct
import sys
import time

IDLE_CONNECTIONS = 10_000
FUZZ_PER_SECOND = 50
CHANCE = random.Random(1)


def raise_limit():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 20_000 if hard == resource.RLIM_INFINITY else min(hard, 20_000)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    return max(soft, wanted)


@functools.cache
def client_hello():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        context.wrap_bio(incoming, outgoing).do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def beginning(name):
    """What a right connection could begin with."""
    if os.environ.get("HUMMER_HOSTILE_TLS") == "1":
        return client_hello()
    if name == "http":
        return b"POST /v1/jobs HTTP/1.1\r\nHost: hummer\r\nContent-Length: 8000000\r\n\r\n" + b"x" * 4000
    if name == "data":
        return struct.pack("<IBBHI", 0x314D5548, 1, 0, 0, 4000) + bytes(52) + b"y" * 4000
    return b"HUMC" + struct.pack("<II", 60_000, 7) + b"z" * 4000


def mutated(name):
    content = bytearray(beginning(name))
    for _ in range(CHANCE.choice((0, 1, 3, 30))):
        content[CHANCE.randrange(min(len(content), 200))] = CHANCE.randrange(256)
    if CHANCE.random() < 0.3:
        content = content[:CHANCE.randrange(len(content))]
    if CHANCE.random() < 0.2:
        content += CHANCE.randbytes(CHANCE.randrange(60_000))
    return bytes(content)


def begin(seconds):
    """When the attack is over that begins now."""
    print("attacks", flush=True)
    return time.monotonic() + seconds


def connect(address):
    stream = socket.socket()
    stream.setblocking(False)
    stream.connect_ex(address)
    return stream


def fuzz(targets, seconds):
    done = 0
    held = []
    # Made beforehand: the attackers share the machine's processors with what they attack.
    frames = {address: itertools.cycle([mutated(name) for _ in range(int(FUZZ_PER_SECOND * seconds))])
              for name, address in targets}
    end = begin(seconds)
    while time.monotonic() < end:
        for _, address in targets:
            stream = socket.socket()
            stream.settimeout(1)
            try:
                stream.connect(address)
                stream.setblocking(False)
                stream.send(next(frames[address]))
                held.append(stream)  # some are closed at once, others stay for a while
                done += 1
            except OSError:
                stream.close()
        while len(held) > 300 or (held and CHANCE.random() < 0.5):
            held.pop(CHANCE.randrange(len(held))).close()
        time.sleep(1 / FUZZ_PER_SECOND)
    return done


def idle(targets, seconds):
    most = raise_limit() // len(targets) - 100
    done = 0
    held = {address: [] for _, address in targets}
    per_second = IDLE_CONNECTIONS / max(seconds - 5, 1)
    end = begin(seconds)
    while (now := time.monotonic()) < end:
        due = min(IDLE_CONNECTIONS, int((now - end + seconds) * per_second))
        while done < due:
            for address, streams in held.items():
                if len(streams) >= most:
                    streams.pop(0).close()
                streams.append(connect(address))
            done += 1
        time.sleep(0.01)
    return done * len(targets)


def slow(targets, seconds):
    done = 0
    streams = []
    end = begin(seconds)
    while time.monotonic() < end:
        while len(streams) < 20 * len(targets):
            name, address = targets[len(streams) % len(targets)]
            streams.append([connect(address), beginning(name), 0])
            done += 1
        for entry in list(streams):
            try:
                entry[2] += entry[0].send(entry[1][entry[2]:entry[2] + 1])
                while entry[0].recv(4096):
                    pass
                raise OSError("closed")
            except BlockingIOError:
                continue
            except OSError:
                entry[0].close()
                streams.remove(entry)
        time.sleep(1)
    return done


if __name__ == "__main__":
    kind, seconds = sys.argv[1], float(sys.argv[2])
    ports = []
    for word in sys.argv[3:]:
        port_name, _, place = word.partition("=")
        host, _, port = place.rpartition(":")
        ports.append((port_name, (host, int(port))))
    count = {"fuzz": fuzz, "idle": idle, "slow": slow}[kind](ports, seconds)
    print(f"{kind}: {count} connections", flush=True)
