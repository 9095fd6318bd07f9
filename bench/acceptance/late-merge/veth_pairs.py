"""Two hosts as network namespaces of this machine, joined by cables (veth pairs) of a given speed.

    with VethPairs() as network:
        subprocess.run([*network.on("left"), "hummer", ...])
        network.carried_bytes("eth1")

eth0 is for control, and as fast as it goes. eth1 and eth2 carry 1 Gbit/s in each direction: at both
ends a token bucket filter (tbf) says so, in front of which 1000 packets may wait, as in the usual
queue of an interface, 12 ms; what comes beyond is dropped. TCP has Linux' usual control of
congestion there, cubic, whatever this machine has: with BBR senders keep queues short.

The namespaces have no names. A process holds each, which ends with this one, whatever ends it, and
the cables go with it. Where there is no right to make them, no command, or no tbf in the kernel,
beginning is Skipped, with what is missing.
"""
import contextlib
import pathlib
import signal
import subprocess

from cluster import Skipped

HOSTS = ("left", "right")
CONTROL, SHAPED = "eth0", ("eth1", "eth2")
BITS_PER_SECOND = 10 ** 9
PACKET_BYTES = 1514
# A burst is at least the largest piece that TCP hands on, 64 KiB, which is cut up otherwise.
SHAPE = ["tbf", "rate", f"{BITS_PER_SECOND}bit", "burst", "128kb", "limit", str(1000 * PACKET_BYTES)]
ENDS_WITH_US = ["setpriv", "--pdeathsig", "KILL"]


class VethPairs:
    def __init__(self):
        self.holders = {}

    def __enter__(self):
        with contextlib.ExitStack() as on_failure:
            on_failure.callback(self.__exit__)
            for host in HOSTS:
                self.holders[host] = self.hold()
            for cable in (CONTROL, *SHAPED):
                self.do("left", "ip", "link", "add", cable, "type", "veth", "peer", "name", cable,
                        "netns", self.holders["right"].pid)
            for host in HOSTS:
                self.do(host, "ip", "link", "set", "lo", "up")
                for cable in (CONTROL, *SHAPED):
                    self.do(host, "ip", "address", "add", f"{self.address(host, cable)}/24", "dev", cable)
                    self.do(host, "ip", "link", "set", cable, "up")
                for cable in SHAPED:
                    self.do(host, "tc", "qdisc", "add", "dev", cable, "root", *SHAPE)
                    # The namespace's setting takes only what this machine allows to everybody.
                    self.do(host, "ip", "route", "replace", self.network(cable), "dev", cable, "src",
                            self.address(host, cable), "congctl", "cubic")
            on_failure.pop_all()
        return self

    def __exit__(self, *_):
        for holder in self.holders.values():
            holder.kill()
            holder.wait()
            holder.stdout.close()

    def hold(self):
        holder = subprocess.Popen([*ENDS_WITH_US, "unshare", "--net", "sh", "-c",
                                   "echo held && exec sleep infinity"], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  start_new_session=True)
        said = holder.stdout.readline().strip()
        if said != "held":
            holder.kill()
            holder.wait()
            holder.stdout.close()
            raise Skipped(f"no network namespaces: {said}")
        return holder

    def do(self, host, *words):
        done = subprocess.run([*self.on(host), *map(str, words)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise Skipped(f"no cables between network namespaces: {' '.join(map(str, words))}: "
                          f"{' '.join(done.stdout.split())}")

    def on(self, host):
        """In front of a command that is to run there, and to end with this process."""
        return [*ENDS_WITH_US, "nsenter", f"--net=/proc/{self.holders[host].pid}/ns/net"]

    def address(self, host, cable):
        return f"10.78.{cable[-1]}.{HOSTS.index(host) + 1}"

    def network(self, cable):
        return f"10.78.{cable[-1]}.0/24"

    def carried_bytes(self, cable):
        """What the host on the left has sent through it, as its interface counts."""
        lines = pathlib.Path(f"/proc/{self.holders['left'].pid}/net/dev").read_text().splitlines()
        fields = next(line.split(":")[1] for line in lines if line.strip().startswith(f"{cable}:"))
        return int(fields.split()[8])


@contextlib.contextmanager
def ending_in_order():
    """What asks this process to end (the runner's limit, too) leaves the blocks that it is in."""
    def leave(number, _):
        raise SystemExit(f"ended by {signal.Signals(number).name}")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
    yield
