"""A simulated cluster: how many records per second it takes by the number of its nodes, where records
are folded ahead and merged late, and where they are re-partitioned.

    keys = Keys.by_zipf(1_000_000, 0.86, records=3_000_000)
    work = Work("nexmark7", keys, 1, 3_000_000, watermark_records=1024, costs=Costs(...))
    speeds = {nodes: simulate(nodes, late_merge(nodes, work), seed=1).records_per_second
              for nodes in NODES}

A node has one core, which does what one slot of the engine does, and an interface of its own. It makes
its stream in chunks; a chunk goes to all owners of keys, and each takes up its part as soon as its
core is free, before it makes the next chunk of its own. Events are: a chunk is made, has arrived, has
been taken up. What they cost the core was measured (Costs), on this machine and in shared memory.

  late merge    a chunk is a window: its records are folded, and one part per key goes out. How many
                keys a node sees in a window is the expected number under their distribution.
  repartition   a chunk is REPARTITION_RECORDS records, which all go to their owners. The owner of the
                most frequent key gets all that all nodes have of it.

Keys belong to owners as in the engine, by hash and key group. Credits bound how far a node may be ahead of
the slowest owner: what fits the buffers of its fullest channel, and the chunk in hand. With each
watermark, every so many records, a node has something to say to each other node, which costs both
their time. A chunk takes a little longer now and then (JITTER), by a draw from the seed.

Not in it: caches that nodes share (each has its own), switches between racks, failures, checkpoints.
"""

import dataclasses
import heapq
import math
import random

NODES = [1 << power for power in range(11)]
KEY_GROUPS = 1024  # the engine's default: there are no more owners than that
MASK = (1 << 64) - 1

# The network: that of the paper's nodes, and what is assumed of it.
BITS_PER_SECOND = 100e9  # each way at once (Slash, SIGMOD 2022: InfiniBand EDR)
LATENCY_SECONDS = 2e-6  # assumed: a one-sided write through one switch
MESSAGE_SECONDS = 0.1e-6  # assumed: of the interface, per message; the core's part is in Costs
# The engine's defaults.
BUFFER_BYTES, CREDITS = 65_536, 16
# What a record and a part take in a channel: their values and, of records, their times.
PART_BYTES = 24
RECORD_BYTES = {"nexmark7": 16 + 8, "ysb": 8 + 8}

REPARTITION_RECORDS = 65_536
CHUNKS = {"late_merge": 8, "repartition": 24}
JITTER = 0.03  # mean of an exponential draw, assumed


@dataclasses.dataclass
class Costs:
    """Seconds of a core."""
    scan: float  # per record: it is made and folded, or only made
    flush: float  # per item, which is a part or a record that crosses: read out, dealt out by key
    merge: float  # per item: folded at its owner, with the results' share
    exchange: float  # per item: through the channel, both ends together
    watermark: float  # per watermark and node that it goes to, both ends together


# ---- keys ----

def key_group(key):
    """As include/hummer/detail/key_hash.hpp has it."""
    def rotated(value, by):
        return (value << by | value >> (64 - by)) & MASK
    value = rotated(key, 32) ^ 0x1CAD21F72C81017C ^ 0xDB979083E96DD4DE
    value ^= rotated(value, 49) ^ rotated(value, 24)
    value = value * 0x9FB21C651E98DF25 & MASK
    value ^= (value >> 35) + 8
    value = value * 0x9FB21C651E98DF25 & MASK
    return ((value ^ value >> 28) >> 32) * KEY_GROUPS >> 32


@dataclasses.dataclass
class Keys:
    """Of each key group: its share of all records, and the keys that are expected among some records."""
    shares: list
    distinct: list

    @staticmethod
    def by_zipf(count, exponent, records):
        weights = [rank ** -exponent for rank in range(1, count + 1)]
        total = sum(weights)
        shares, distinct = [0.0] * KEY_GROUPS, [0.0] * KEY_GROUPS
        for key, weight in enumerate(weights):
            group, share = key_group(key), weight / total
            shares[group] += share
            distinct[group] -= math.expm1(records * math.log1p(-share))
        return Keys(shares, distinct)

    @staticmethod
    def uniform(count, records, seed):
        """How many keys a group has is drawn, as by a hash."""
        rng = random.Random(seed)
        mean = count / KEY_GROUPS
        keys = [max(rng.gauss(mean, math.sqrt(mean)), 1) for _ in range(KEY_GROUPS)]
        seen = -math.expm1(records * math.log1p(-1 / count))
        return Keys([each / sum(keys) for each in keys], [each * seen for each in keys])

    def by_owner(self, what, nodes):
        sums = [0.0] * nodes
        for group, amount in enumerate(what):
            sums[group * nodes // KEY_GROUPS] += amount
        return sums


@dataclasses.dataclass
class Work:
    """What a node has to do; `keyed`: the share of its records that have a key for the window."""
    workload: str
    keys: Keys
    keyed: float
    records_per_window: int
    watermark_records: int
    costs: Costs

    def parts_per_record(self):
        return sum(self.keys.distinct) / self.records_per_window


# ---- what a node does per chunk ----

@dataclasses.dataclass
class Load:
    chunks: int
    records: int
    make_seconds: float
    take_seconds: list  # by owner, of one node's chunk
    out_seconds: float  # of the interface, of one's own chunk
    in_seconds: float  # of that of the owner which gets most, of one node's chunk
    ahead: int  # chunks

    def seconds_per_record(self):
        """Of a core, those of the owners among it."""
        return (self.make_seconds + sum(self.take_seconds)) / self.records


def load_of(nodes, work, records, items, item_bytes, chunks):
    """`items`: by owner."""
    costs = work.costs
    # Towards all nodes, the node itself among them, as channels within a process do the same.
    watermarks = records / work.watermark_records
    end = watermarks * costs.watermark / 2
    crossing = (nodes - 1) / nodes
    channel_bytes = [each * item_bytes for each in items]
    messages = [max(watermarks, each / BUFFER_BYTES, 1) for each in channel_bytes]
    fullest = max(range(nodes), key=channel_bytes.__getitem__)

    def interface(size, count):
        return crossing * (8 * size / BITS_PER_SECOND + count * MESSAGE_SECONDS)
    return Load(
        chunks=chunks, records=records,
        make_seconds=(records * costs.scan + sum(items) * (costs.flush + costs.exchange / 2) + nodes * end),
        take_seconds=[each * (costs.merge + costs.exchange / 2) + end for each in items],
        out_seconds=interface(sum(channel_bytes), sum(messages)),
        in_seconds=interface(channel_bytes[fullest], messages[fullest]),
        ahead=1 + int(CREDITS * BUFFER_BYTES / channel_bytes[fullest]))


def late_merge(nodes, work):
    items = work.keys.by_owner(work.keys.distinct, nodes)
    return load_of(nodes, work, work.records_per_window, items, PART_BYTES, CHUNKS["late_merge"])


def repartition(nodes, work):
    keyed = work.keyed * REPARTITION_RECORDS
    items = [share * keyed for share in work.keys.by_owner(work.keys.shares, nodes)]
    return load_of(nodes, work, REPARTITION_RECORDS, items, RECORD_BYTES[work.workload],
                   CHUNKS["repartition"])


LOADS = {"late_merge": late_merge, "repartition": repartition}


# ---- the simulation ----

@dataclasses.dataclass
class Outcome:
    records_per_second: float
    core: float  # the mean share of time for which cores are busy
    busiest_core: float
    interface: float  # the same of the busiest interface


MADE, ARRIVED, TAKEN = range(3)


class Simulation:
    def __init__(self, nodes, load, seed):
        self.nodes, self.load = nodes, load
        self.rng = random.Random(seed)
        self.events, self.numbers = [], 0
        self.made, self.taken = [0] * nodes, [0] * nodes
        self.busy = [0.0] * nodes
        self.waiting = []  # nodes whose core has nothing to do
        self.arrived = self.looked = 0
        self.places = [[] for _ in range(nodes)]  # of a node's chunks among all that have arrived
        self.slowest = [(0, node) for node in range(nodes)]  # a heap, with entries that are out of date
        self.out_free, self.in_free = [0.0] * nodes, 0.0

    def push(self, time, kind, node, count=1):
        self.numbers += 1
        heapq.heappush(self.events, (time, self.numbers, kind, node, count))

    def least_taken(self):
        while self.slowest[0][0] != self.taken[self.slowest[0][1]]:
            heapq.heapreplace(self.slowest, (self.taken[self.slowest[0][1]], self.slowest[0][1]))
        return self.slowest[0][0]

    def may_make(self, node):
        """Whether there are chunks left, and room: of those before, all owners have taken enough."""
        before = self.made[node] - self.load.ahead
        places = self.places[node]
        return self.made[node] < self.load.chunks and (
            before < 0 or (before < len(places) and places[before] <= self.least_taken()))

    def step(self, node, time):
        """The node's core is free."""
        at_hand = self.arrived - self.taken[node]
        if at_hand:
            seconds = at_hand * self.load.take_seconds[node]
            self.push(time + seconds, TAKEN, node, at_hand)
        elif self.may_make(node):
            seconds = self.load.make_seconds * (1 + self.rng.expovariate(1 / JITTER))
            self.push(time + seconds, MADE, node)
        else:
            self.waiting.append(node)
            return
        self.busy[node] += seconds

    def step_waiting(self, time):
        self.looked = self.arrived
        waiting, self.waiting = self.waiting, []
        for node in waiting:
            self.step(node, time)

    def send(self, node, time):
        """All owners get a chunk when the one has it that gets most."""
        if self.nodes == 1:
            self.push(time, ARRIVED, node)
            return
        self.out_free[node] = max(self.out_free[node], time) + self.load.out_seconds
        self.in_free = max(self.in_free, time + LATENCY_SECONDS) + self.load.in_seconds
        self.push(max(self.out_free[node] + LATENCY_SECONDS, self.in_free), ARRIVED, node)

    def run(self):
        time, least = 0.0, 0
        for node in range(self.nodes):
            self.step(node, time)
        while self.events:
            time, _, kind, node, count = heapq.heappop(self.events)
            if kind == ARRIVED:
                self.arrived += 1
                self.places[node].append(self.arrived)
            elif kind == MADE:
                self.made[node] += 1
                self.send(node, time)
                self.step(node, time)
            else:
                self.taken[node] += count
                self.step(node, time)
                if self.least_taken() > least:
                    least = self.least_taken()
                    self.step_waiting(time)
            # Nodes that wait are not woken for every chunk, which would take the simulation too long.
            if self.arrived - self.looked >= max(self.nodes // 16, 1) or not self.events:
                self.step_waiting(time)
        assert min(self.taken) == self.nodes * self.load.chunks, "nodes wait for each other"
        records = self.nodes * self.load.chunks * self.load.records
        interface = self.nodes * self.load.chunks * self.load.in_seconds
        interface = max(interface, self.load.chunks * self.load.out_seconds)
        return Outcome(records / time, sum(self.busy) / self.nodes / time, max(self.busy) / time,
                       interface / time if self.nodes > 1 else 0.0)


def simulate(nodes, load, seed):
    return Simulation(nodes, load, seed).run()


def stops_at(speeds):
    """The first number of nodes that takes less than 1.5 times what half of them take; None: none does."""
    return next((nodes for nodes in sorted(speeds)[1:] if speeds[nodes] < 1.5 * speeds[nodes // 2]), None)
