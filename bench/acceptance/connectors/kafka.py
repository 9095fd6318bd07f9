"""Apache Kafka for the items of this folder: brokers, a proxy that holds commits back, Kafka's own
reader.

    with Brokers(folder, count=3) as brokers:
        brokers.tell("kill 1")
        lines = read_committed(brokers.addresses, topic)     # by kafka-clients

    with EndHolder() as holder, Brokers(folder, advertised=holder.port) as brokers:
        holder.serve(brokers.port)
        holder.hold("asked")        # the next commit of a transaction does not reach the broker
        holder.hold("answered")     # … or its answer does not come back
        holder.wait()               # until one is held

Skipped is raised where there is no Java, or no Maven to fetch Kafka with.
"""

import pathlib
import socket
import struct
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))

from cluster import ROOT, Failed, Skipped  # noqa: E402

TESTING = ROOT / "connectors/kafka/testing"
JARS = ROOT / "build/kafka-4.3.1"
END_TRANSACTION = 26


class Brokers:
    def __init__(self, folder, count=1, advertised=None, properties=(), protocol="PLAINTEXT",
                 port=0):
        words = [TESTING / "cluster", "run", folder, "--brokers", str(count), "--protocol", protocol,
                 "--port", str(port)]
        if advertised:
            properties = (*properties, f"advertised.listeners=CLIENT://127.0.0.1:{advertised}")
        for each in properties:
            words += ["--property", each]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        line = self.process.stdout.readline()
        if not line.startswith("ready "):
            if self.process.wait() == 77:
                raise Skipped("no Java, or no Maven, to run Apache Kafka with")
            raise Failed("the brokers did not start")
        self.addresses = line.split()[1]
        self.port = int(self.addresses.split(",")[0].split(":")[1])

    def tell(self, command):
        print(command, file=self.process.stdin, flush=True)
        if self.process.stdout.readline() != "done\n":
            raise Failed(f"brokers: {command}")

    def end(self):
        self.process.stdin.close()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


def read_committed(addresses, topic):
    """(partition, key, value) of what kafka-clients reads with isolation.level=read_committed."""
    done = subprocess.run(["java", "-cp", f"{JARS}/*", TESTING / "ReadCommitted.java", addresses,
                           topic], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise Failed(f"ReadCommitted: {done.stderr[-800:]}")
    return [line.split(" ") for line in done.stdout.splitlines()]


def receive(connection, size):
    parts = b""
    while len(parts) < size:
        part = connection.recv(size - len(parts))
        if not part:
            return None
        parts += part
    return parts


def receive_frame(connection):
    head = receive(connection, 4)
    return head and receive(connection, struct.unpack(">i", head)[0])


def send_frame(connection, frame):
    connection.sendall(struct.pack(">i", len(frame)) + frame)


class EndHolder:
    """Stands between clients and one broker, and holds back the end of a transaction when it is told
    to: ahead of the broker, or its answer behind it. What it holds never goes on: whoever waits for
    it is to be killed."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        self.lock = threading.Lock()
        self.how = None
        self.held = threading.Event()

    def serve(self, broker_port):
        def accept():
            while True:
                try:
                    client = self.listener.accept()[0]
                except OSError:
                    return
                threading.Thread(target=self.connect, args=(client, broker_port),
                                 daemon=True).start()
        threading.Thread(target=accept, daemon=True).start()

    def hold(self, how):
        with self.lock:
            self.how = how
            self.held.clear()

    def wait(self, seconds):
        return self.held.wait(seconds)

    def take_hold(self):
        with self.lock:
            how, self.how = self.how, None
            return how

    def connect(self, client, broker_port):
        try:
            broker = socket.create_connection(("127.0.0.1", broker_port))
        except OSError:
            client.close()
            return
        silenced = set()
        threading.Thread(target=self.forward_answers, args=(broker, client, silenced),
                         daemon=True).start()
        try:
            while (frame := receive_frame(client)) is not None:
                if struct.unpack(">h", frame[:2])[0] == END_TRANSACTION:
                    how = self.take_hold()
                    if how == "asked":
                        self.held.set()
                        continue
                    if how == "answered":
                        silenced.add(frame[4:8])
                send_frame(broker, frame)
        except OSError:
            pass
        for each in (client, broker):
            each.close()

    def forward_answers(self, broker, client, silenced):
        try:
            while (frame := receive_frame(broker)) is not None:
                if frame[:4] in silenced:
                    self.held.set()
                    continue
                send_frame(client, frame)
        except OSError:
            pass
        for each in (client, broker):
            each.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
