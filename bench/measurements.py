"""The record of measured figures, docs/benchmarks/measurements.jsonl, and the tables made of it.

One line per figure and machine. Its fields:

  section   the table of docs/benchmarks.md that it stands in
  id        names the figure; bench/record and the marks of the tables use it
  machine   a key of MACHINES
  what      what was measured
  hummer, beside, ratio   the figure as the tables have it: the engine's, what stands beside it, and
            what comes of the two; "–" where there is none. "78 to 90 %" and "3 ms (up to 10 …)"
            state a spread
  command   prints it
  item      of bench/acceptance, which judges it; null: none does
  written   the day on which it was measured, or, without a log, written down first
  commit    the commit that was measured, or, without a log, that wrote the figure down
  note      what else is known of the run
  log       {"item": ..., "lines": [...]}: the lines of the log that printed it; null: none is kept

A table stands between the marks `<!-- figures: NAMES -->` and `<!-- end of figures -->`; NAMES are
ids or sections. bench/record writes the tables, bench/acceptance/house/08-claims compares them.
"""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "docs/benchmarks/measurements.jsonl"
DOCUMENTS = [ROOT / "README.md", ROOT / "docs/benchmarks.md"]
LOGS = ROOT / "build/acceptance"
FIELDS = ["section", "id", "machine", "what", "hummer", "beside", "ratio", "command", "item",
          "written", "commit", "note", "log"]
COLUMNS = ["hummer", "beside", "ratio"]
MACHINES = {
    "A": "2 cores of a Sapphire Rapids (AVX-512)",
    "B": "2 cores of an EPYC (AVX2), TCP with BBR, a shared host",
    "C": "2 cores of an EPYC (AVX-512), a shared host",
    "A or B": "not known which of the two",
    "any": "simulated: the machine does not matter",
}
MARK = re.compile(r"(<!-- figures: ([^>]*?) -->\n)(.*?)(<!-- end of figures -->)", re.DOTALL)

NUMBER = r"[\d.]+"


def _path(name, peer):
    """A row of bench/micro/run."""
    return ([rf"^{name} +(?P<hummer>{NUMBER}) M/s +(?P<beside>{NUMBER}) M/s +(?P<ratio>\d+)% "],
            {"hummer": "{hummer} M records/s", "beside": f"{{beside}} M/s, {peer}", "ratio": "{ratio} %"})


def _path_flink(name):
    return ([rf"^{name} by Flink +(?P<hummer>{NUMBER}) M/s +(?P<beside>{NUMBER}) M/s +(?P<ratio>{NUMBER})x "],
            {"hummer": "{hummer} M records/s", "beside": "{beside} M/s, Flink", "ratio": "{ratio}×"})


def _latency(name):
    return ([rf"^latency {name} .* p99 +(?P<hummer>{NUMBER}) us"], {"hummer": "{hummer} µs"})


def _words(ours):
    """Rows of engine/03-wordcount-speed: seconds are the second number, then least, most, GB/s."""
    return ([rf"^{ours} +\d+ +(?P<hummer>{NUMBER}) .* (?P<ratio>{NUMBER}) % ",
             rf"^handwritten +\d+ +(?P<beside>{NUMBER}) "],
            {"hummer": "{hummer} s", "beside": "{beside} s, hand-written, 2 threads", "ratio": "{ratio} %"})


def _words_peer(peer, name):
    return ([rf"^hummer +\d+ +(?P<hummer>{NUMBER}) ",
             rf"^{peer} +\d+ +(?P<beside>{NUMBER}) .* (?P<ratio>{NUMBER}) x "],
            {"hummer": "{hummer} s", "beside": f"{{beside}} s, {name}", "ratio": "{ratio}×"})


def _format(ours, peer, name):
    """Rows of connectors/05-formats: rates of each, then ratios."""
    return ([rf"^{ours} +(?P<hummer>{NUMBER}) GB/s", rf"^{peer} +(?P<beside>{NUMBER}) GB/s",
             rf"^{ours} beside {peer} +(?P<ratio>{NUMBER})x"],
            {"hummer": "{hummer} GB/s", "beside": f"{{beside}} GB/s, {name}", "ratio": "{ratio}×"})


# id: what finds the figure in the log of its item, and how the tables write it.
PATTERNS = {
    **{form + path: _path(form + path, peer) for form in ("", "timed-")
       for path, peer in (("chain", "three hand-written loops"), ("channel", "a bare ring of batches"),
                          ("tcp", "a plain socket program"))},
    "chain-flink": _path_flink("chain"), "channel-flink": _path_flink("channel"),
    "latency-busy-poll": _latency("busy-poll"), "latency-parked": _latency("parked"),
    "wordcount": _words("hummer"), "wordcount-words": _words("hummer_lambda"),
    "wordcount-find": _words("hummer_lambda_find"), "wordcount-bytes": _words("hummer_lambda_bytes"),
    "wordcount-duckdb": _words_peer("duckdb", "DuckDB"),
    "wordcount-spark": _words_peer("spark", "Spark"),
    "wordcount-flink": _words_peer("flink", "Flink"),
    "wordcount-memory": ([r"peak memory (?P<hummer>\d+) MB"], {"hummer": "{hummer} MB"}),
    "cluster-wordcount": (
        [rf"(?P<ratio>\d+)% of embedded from start to result \(medians of \d+: (?P<beside>{NUMBER}) s, "
         rf"cluster (?P<hummer>{NUMBER}) s"],
        {"hummer": "{hummer} s", "beside": "{beside} s, embedded with two slots", "ratio": "{ratio} %"}),
    "heartbeats-processor": ([rf"plain: \d+ alive, .*?, (?P<hummer>{NUMBER})% of one core"],
                             {"hummer": "{hummer} % of one core"}),
    "heartbeats-processor-tls": ([rf"TLS: \d+ alive, .*?, (?P<hummer>{NUMBER})% of one core"],
                                 {"hummer": "{hummer} % of one core"}),
    "heartbeats-memory": ([rf"plain: \d+ alive, (?P<hummer>{NUMBER}) KiB per connection"],
                          {"hummer": "{hummer} KiB per connection"}),
    "cluster-simulation": (
        [r"^(?P<seeds>\d+) seeds, .*?(?P<kinds>\d+) kinds of fault, (?P<hummer>\d+) of (?P<all>\d+) mutants"],
        {"hummer": "{hummer} of {all} deliberate mistakes found"}),
    "checkpoint-cost": (
        [rf"embedded: cost (?P<ratio>[+-]{NUMBER})% \(95 % up to (?P<upper>[+-]{NUMBER})%\).*?, (?P<hummer>\d+)% of bare"],
        {"hummer": "{hummer} % of a bare table's speed", "ratio": "cost {ratio} % (95 % up to {upper})"}),
    **{f"checkpoint-cost-{form}": (
        [rf"{form}: cost (?P<ratio>[+-]{NUMBER})% \(95 % up to (?P<upper>[+-]{NUMBER})%\)"],
        {"ratio": "cost {ratio} % (95 % up to {upper})"}) for form in ("cluster", "spilled")},
    "checkpoint-stall": ([rf"longest gap (?P<hummer>{NUMBER}) ms with checkpoints, (?P<beside>{NUMBER}) ms"],
                         {"hummer": "{hummer} ms", "beside": "{beside} ms without checkpoints"}),
    "kills-lines": ([r"of the JobManager\); (?P<hummer>\d+) lines exact"],
                    {"hummer": "{hummer} lines exactly right"}),
    "kills-noticed": ([r"noticed after at most (?P<hummer>\d+) ms"], {"hummer": "at most {hummer} ms"}),
    "kills-restored": ([r"restored after (?P<hummer>\d+) ms \(median\)"], {"hummer": "{hummer} ms (median)"}),
    "chaos": ([r", (?P<hummer>\d+) records exact and in order"], {"hummer": "{hummer} records exactly right"}),
    "windowed-count": (
        [rf"^table +[\d,]+ +(?P<hummer>{NUMBER}) .*",
         r"^table: 0\.(?P<ratio>\d\d) of the bare loop"],
        {"hummer": "{hummer} M records/s", "ratio": "{ratio} %"}),
    "windowed-count-flink": ([rf"^Flink (?P<beside>{NUMBER}) M records/s; the job is (?P<ratio>{NUMBER}) times"],
                             {"beside": "{beside} M/s, Flink", "ratio": "{ratio}×"}),
    "sliding-windows": ([rf"^sliding +[\d,]+ +{NUMBER} +{NUMBER} +{NUMBER} +0\.(?P<ratio>\d\d) "],
                        {"ratio": "{ratio} %"}),
    **{f"beyond-memory-{form}": ([rf"{form}: \d+ MiB of state .*?, (?P<hummer>{NUMBER})x the time"],
                                 {"hummer": "{hummer}× the time"}) for form in ("count", "process", "windows")},
    "formats-csv": ([rf"^csv +(?P<hummer>{NUMBER}) GB/s"], {"hummer": "{hummer} GB/s"}),
    "formats-csv-job": _format("csv job", "duckdb", "DuckDB's reader"),
    "formats-json": _format("json", "simdjson", "a loop over simdjson"),
    "formats-pattern": _format("pattern", "re2", "a loop over RE2"),
    "formats-avro": _format("avro", "libavro", "Avro's C library"),
    "formats-protobuf": _format("protobuf", "generated", "protoc's code"),
    "formats-gzip": _format("gzip isal", "gzip zlib", "zlib"),
}


def load():
    return [json.loads(line) for line in RECORD.read_text().splitlines() if line.strip()]


def save(figures):
    RECORD.write_text("".join(json.dumps({field: each[field] for field in FIELDS}, ensure_ascii=False)
                              + "\n" for each in figures))


def named(figures, names):
    """The figures of a mark's names, in the order of the record within each."""
    found = []
    for name in names.split():
        of_name = [each for each in figures if name in (each["id"], each["section"])]
        if not of_name:
            raise KeyError(name)
        found += of_name
    return found


def table(path, figures, names):
    """The lines of a document's table. README has the first machine's figures, and no dates."""
    found = named(figures, names)
    short = path.name == "README.md"
    if short:
        lines = ["| what | Hummer | beside it | ratio | repeat with |", "|---|---|---|---|---|"]
        seen = set()
        for each in found:
            if each["id"] not in seen:
                lines.append(f"| {each['what']} | {each['hummer']} | {each['beside']} | {each['ratio']} "
                             f"| `{each['command']}` |")
            seen.add(each["id"])
        return lines
    lines = ["| id | what | machine | Hummer | beside it | ratio | repeat with | item | written down |",
             "|---|---|---|---|---|---|---|---|---|"]
    for each in found:
        item = f"[{each['item']}](../bench/acceptance/{each['item']})" if each["item"] else "–"
        written = f"{each['written']}, {each['commit']}" + (f": {each['note']}" if each["note"] else "")
        lines.append(f"| `{each['id']}` | {each['what']} | {each['machine']} | {each['hummer']} "
                     f"| {each['beside']} | {each['ratio']} | `{each['command']}` | {item} | {written} |")
    return lines


def with_tables(path, text, figures):
    """The document's text with its tables as the record has them."""
    return MARK.sub(lambda mark: mark.group(1) + "\n".join(table(path, figures, mark.group(2))) + "\n"
                    + mark.group(4), text)


def find_in_log(name, text):
    """The lines of a log that print a figure, and its columns as text; None where one is missing, and
    of an item's short form, whose figures mean nothing."""
    patterns, forms = PATTERNS[name]
    if re.search(r"\bshort\b", (text.strip().splitlines() or [""])[-1]):
        return None
    groups, lines = {}, []
    for pattern in patterns:
        matches = list(re.finditer(pattern, text, re.MULTILINE))
        if not matches:
            return None
        match = matches[-1]  # the summary stands behind the runs
        groups.update(match.groupdict())
        begin, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
        lines.append(text[begin:end if end >= 0 else None])
    return list(dict.fromkeys(lines)), {column: form.format(**groups) for column, form in forms.items()}


def _numbers(text):
    """(value, what half of its last digit is worth) of the figure, and of the spread that it states."""
    unit = re.search(r"\d ?([GMk])(?=[ /])", text)  # speeds, by the million
    factor = {"G": 1e3, "k": 1e-3}.get(unit.group(1) if unit else "", 1.0)
    digits = re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", text)[:1]
    for pattern in (r"([\d.]+) to ([\d.]+)", r"up to [+-]?(\d[\d.]*)"):
        spread = re.search(pattern, text)
        digits += spread.groups() if spread else []
    plain = [each.replace(",", "") for each in digits]
    return [(float(each) * factor, 0.5 * 10 ** -len(each.partition(".")[2]) * factor) for each in plain]


def agrees(claim, printed):
    """Whether what a log printed is the claim, to its digits, or within the spread that it states."""
    claimed, found = _numbers(claim), _numbers(printed)
    if not claimed or not found:
        return claim == printed
    value = found[0][0]
    return (min(each - half for each, half in claimed) - 1e-9 <= value
            <= max(each + half for each, half in claimed) + 1e-9)
