"""What the simulated cluster of 04-scale has to do, and what is printed and drawn of it.

    found = works(item, measured, window_records)   # by case: workload, strategy, records per watermark
    print_validation(item, measured, found)
    speeds = print_curves(item, found, scale_model.NODES)
    draw(item, speeds, window_records)
"""

import importlib.machinery
import importlib.util

import scale_model as model
from cluster import ROOT

WORKLOADS, STRATEGIES = ("nexmark7", "ysb"), ("late_merge", "repartition")
OFTEN, RARELY = 1_024, 262_144  # records of a source from one watermark to the next
CASES = [(workload, strategy, rows) for rows in (OFTEN, RARELY) for workload in WORKLOADS
         for strategy in STRATEGIES]
# As in late_merge_hummer.
KEYS = {"nexmark7": 1_000_000, "ysb": 10_000_000}
SKEW = {"nexmark7": 0.86, "ysb": 0}
KEYED = {"nexmark7": 1, "ysb": 1 / 3}  # of all records; of the events of advertisements a third are views
SEED = 1


def name_of(case):
    workload, strategy, rows = case
    return f"{workload:8} {strategy:11} {rows:>7,}"


def costs_of(measured, workload, strategy):
    """Of few processes, each of which has a core to itself, where watermarks are rare; what one costs
    is the difference that frequent ones make to many processes."""
    rarely, often = (workload, strategy, RARELY), (workload, strategy, OFTEN)
    few, many = measured.nodes[0], measured.nodes[-1]
    whole, shares = measured.seconds_per_record(rarely, few), measured.splits[rarely, few]
    items = measured.items_per_record(rarely, few)
    more = measured.seconds_per_record(often, many) - measured.seconds_per_record(rarely, many)
    per_item = {part: whole * shares[part] / items for part in ("flush", "merge", "exchange")}
    return model.Costs(scan=whole * shares["scan"], **per_item,
                       watermark=max(more, 0) / many / (1 / OFTEN - 1 / RARELY))


def keys_of(workload, records):
    if SKEW[workload]:
        return model.Keys.by_zipf(KEYS[workload], SKEW[workload], records)
    return model.Keys.uniform(KEYS[workload], records, SEED)


def works(item, measured, window_records, costs=None):
    """By case what a node has to do. `costs`: those that are measured, where none are given."""
    found = {}
    for workload in WORKLOADS:
        keys = keys_of(workload, round(window_records * KEYED[workload]))
        for strategy in STRATEGIES:
            own = costs or costs_of(measured, workload, strategy)
            for rows in (OFTEN, RARELY):
                found[workload, strategy, rows] = model.Work(workload, keys, KEYED[workload],
                                                             window_records, rows, own)
            ns = {name: seconds * 1e9 for name, seconds in vars(own).items()}
            item.say(f"{workload:8} {strategy:11} ns per record: scan {ns['scan']:.1f}; per item: flush "
                     f"{ns['flush']:.1f}, merge {ns['merge']:.1f}, exchange {ns['exchange']:.1f}; per "
                     f"watermark and node {ns['watermark']:.0f}")
        case = (workload, "late_merge", OFTEN)
        item.say(f"{workload:8} parts per record: {found[case].parts_per_record():.3f} expected, "
                 f"{measured.items_per_record(case, measured.nodes[-1]):.3f} measured")
    return found


def print_validation(item, measured, found):
    item.say("\nthe model, ns of processors per record (measured; by how much the model differs)")
    for case, work in found.items():
        line = []
        for nodes in measured.nodes:
            told = model.LOADS[case[1]](nodes, work).seconds_per_record() * 1e9
            real = measured.seconds_per_record(case, nodes) * 1e9
            line.append(f"{nodes:>3}: {told:6.1f} ({real:6.1f}, {told / real - 1:+4.0%})")
        item.say(name_of(case) + " ".join(line))


def print_curves(item, found, several):
    """By case the simulated records per second by nodes."""
    speeds = {case: {} for case in found}
    for case, work in found.items():
        item.say(f"\n{name_of(case)} records per watermark, simulated\n nodes  M records/s  by half of them"
                 "  busy: cores  busiest core  busiest interface")
        for nodes in several:
            outcome = model.simulate(nodes, model.LOADS[case[1]](nodes, work), SEED)
            speed = speeds[case][nodes] = outcome.records_per_second
            times = f"{speed / speeds[case][nodes // 2]:.2f}" if nodes > 1 else "-"
            item.say(f"{nodes:>6} {speed / 1e6:12.1f} {times:>16} {outcome.core:12.1%} "
                     f"{outcome.busiest_core:13.1%} {outcome.interface:18.2%}")
    return speeds


def stops(speeds, case):
    nodes = model.stops_at(speeds[case])
    return f"at {nodes} nodes" if nodes else f"nowhere up to {max(speeds[case])} nodes"


def load_plot():
    loader = importlib.machinery.SourceFileLoader("plot", str(ROOT / "bench/late_merge/plot"))
    plot = importlib.util.module_from_spec(importlib.util.spec_from_loader("plot", loader))
    loader.exec_module(plot)
    return plot


def draw(item, speeds, window_records):
    """A picture per workload, of all strategies."""
    plot = load_plot()
    kinds = {rows: f"every {rows:,}" for rows in (OFTEN, RARELY)}
    plot.DASHES.update({kinds[OFTEN]: "7 3", kinds[RARELY]: ""})
    axis = plot.Axis("nodes", "nodes", "nodes of one core (simulated; a watermark every so many records)",
                     logarithmic=True)
    into = ROOT / "build/late_merge"
    into.mkdir(parents=True, exist_ok=True)
    for workload in WORKLOADS:
        lines = {(strategy, kinds[rows]): sorted(speeds[workload, strategy, rows].items())
                 for strategy in STRATEGIES for rows in (OFTEN, RARELY)}
        path = into / f"{workload}_simulated.svg"
        title = f"{workload}, simulated: windows of {window_records / 1e6:g} M records per node"
        path.write_text(plot.draw(axis, title, lines, decades=True))
        item.say(str(path.relative_to(ROOT)))
