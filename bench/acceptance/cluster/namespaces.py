"""Hosts as network namespaces of this machine.

    with Namespaces(["master", "worker1"]) as network:
        subprocess.run([*network.on("worker1"), "hummer", ...])

A switch with two networks (0: eth0, for control; 1: eth1, for data), and a namespace per host. Where
there is no right to make them, or no `ip` command, beginning is Skipped, with what is missing.
"""
import os
import subprocess

from cluster import Skipped

NETWORKS = 2


class Namespaces:
    def __init__(self, hosts):
        self.names = {host: f"hummer{os.getpid()}{host}" for host in ["switch", *hosts]}
        self.hosts = hosts

    def __enter__(self):
        try:
            for name in self.names.values():
                self.ip("netns", "add", name)
            for network in range(NETWORKS):
                self.ip("-n", self.names["switch"], "link", "add", f"bridge{network}", "type", "bridge")
                self.ip("-n", self.names["switch"], "link", "set", f"bridge{network}", "up")
            for number, host in enumerate(self.hosts, 1):
                self.ip("-n", self.names[host], "link", "set", "lo", "up")
                for network in range(NETWORKS):
                    self.connect(host, number, network)
        except FileNotFoundError as error:
            raise Skipped(f"no network namespaces: there is no command {error.filename}") from error
        except subprocess.CalledProcessError as error:
            self.__exit__()
            what = f"{' '.join(error.cmd)}: {error.stderr.decode(errors='replace').strip()}"
            raise Skipped(f"no network namespaces: {what}") from error
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in self.names.values():
            subprocess.run(["ip", "netns", "delete", name], stderr=subprocess.DEVNULL)

    def ip(self, *words):
        subprocess.run(["ip", *words], check=True, stderr=subprocess.PIPE)

    def connect(self, host, number, network):
        switch, own = self.names["switch"], self.names[host]
        self.ip("-n", switch, "link", "add", f"{host}{network}", "type", "veth", "peer", "name",
                f"eth{network}", "netns", own)
        self.ip("-n", switch, "link", "set", f"{host}{network}", "master", f"bridge{network}", "up")
        self.ip("-n", own, "address", "add", f"{self.address(host, network)}/24", "dev",
                f"eth{network}")
        self.ip("-n", own, "link", "set", f"eth{network}", "up")

    def address(self, host, network):
        return f"10.77.{network + 1}.{self.hosts.index(host) + 1}"

    def on(self, host):
        return ["ip", "netns", "exec", self.names[host]]

    def sent_bytes(self, host, network):
        return int(subprocess.check_output(
            [*self.on(host), "cat", f"/sys/class/net/eth{network}/statistics/tx_bytes"]))

    def set_link(self, host, network, up):
        """Puts the switch's end of a host's cable in, or pulls it out: nobody is told."""
        self.ip("-n", self.names["switch"], "link", "set", f"{host}{network}", "up" if up else "down")
