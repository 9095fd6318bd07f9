# shellcheck shell=bash
# Sourced by acceptance items that run seeds of a simulator in tests/simulation/.
#
#   build_simulators NAME...               builds them in preset release
#   first_seed NAME                        the first seed for a run of this program: derived from its
#                                          bytes, so that other code gets other histories
#   run_seeds NAME FIRST LAST REPORT       all seeds, in parts; adds up what they print into REPORT
#                                          and shows it; fails with what a seed that fails prints
#   run_part NAME FROM TO                  one part; `part` becomes the path of its report
#   add_up REPORT...                       several reports as one
#   value NAME-OF-A-LINE REPORT            its number
#   at_least WHAT HAVE NEED                fails by name where too little happened
#   same_traces NAME FIRST COUNT           each seed has the same trace in two processes
#   find_mutants FIRST COUNT MINIMUM KIND...
#       plants each mistake of tests/mutants/KIND/ in a scratch copy; seeds of KIND_simulator must
#       find it. Sets `mutants` and `found`, and fails when not all are found or there are too few
#
# Parts that passed and mistakes that were found are kept in build/acceptance/seeds/, by the bytes of
# the program. ACCEPTANCE_RESUME=1 takes them for done, also those of another item and, where the
# program came out the same, of another commit.
part_seeds=500
seeds_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# Scratch for reports; removed at exit, with the scratch copy if there is one.
seeds_work=$(mktemp -d)
trap 'rm -rf "$seeds_work"' EXIT

simulator_path() { echo "$seeds_root/build/release/tests/simulation/$1"; }

build_simulators() {
  [[ -f $seeds_root/build/release/build.ninja ]] ||
    (cd "$seeds_root" && cmake --preset release >/dev/null)
  (cd "$seeds_root" && cmake --build --preset release --target "$@" >/dev/null)
}

program_hash() { sha256sum "$(simulator_path "$1")" | cut -c 1-16; }

# Where results of one program are kept.
kept_results() {
  local folder
  folder=$seeds_root/build/acceptance/seeds/$1-$(program_hash "$1")
  mkdir -p "$folder"
  echo "$folder"
}

first_seed() {
  local hash
  hash=$(program_hash "$1")
  echo $((16#${hash:0:6} + 1))
}

# Reports of several parts as one: lines of a name and a number, of which some are the least.
add_up() {
  awk -F': ' '
    NF != 2 || /^processor seconds/ { next }
    !($1 in value) { names[++count] = $1; value[$1] = $2 + 0; next }
    /^(fewest|shortest) / { if ($2 + 0 < value[$1]) value[$1] = $2 + 0; next }
    { value[$1] += $2 }
    END { for (i = 1; i <= count; ++i) printf "%s: %.12g\n", names[i], value[names[i]] }' "$@"
}

# Runs seeds FROM..TO unless that is done; `part` is their report.
run_part() {
  local simulator=$1 from=$2 to=$3
  part=$(kept_results "$simulator")/$from..$to
  if [[ ${ACCEPTANCE_RESUME:-0} != 1 || ! -f $part ]]; then
    "$(simulator_path "$simulator")" --seeds "$from..$to" --jobs "$(nproc)" \
      >"$seeds_work/part" || { cat "$seeds_work/part"; return 1; }
    mv "$seeds_work/part" "$part"
  fi
  echo "seeds $from..$to: $(grep '^failed' "$part"), $(grep '^processor' "$part")"
}

run_seeds() {
  local simulator=$1 first=$2 last=$3 report=$4 from to
  local parts=()
  echo "== $simulator: $((last - first + 1)) seeds from $first; again: $0 --first $first" \
    "--seeds $((last - first + 1))"
  for ((from = first; from <= last; from += part_seeds)); do
    to=$((from + part_seeds - 1 < last ? from + part_seeds - 1 : last))
    run_part "$simulator" "$from" "$to"
    parts+=("$part")
  done
  add_up "${parts[@]}" | tee "$report"
}

value() { sed -nE "s/^$1: ([0-9.]+).*/\1/p" "$2"; }

at_least() {
  awk -v have="$2" -v need="$3" 'BEGIN { exit !(have >= need) }' && return
  echo "$1: $2, not the $3 that were asked for"
  return 1
}

same_traces() {
  local simulator
  simulator=$(simulator_path "$1")
  echo "== traces of $3 seeds in two processes"
  # Two halves, to use two processors.
  local half=$(($2 + $3 / 2 - 1))
  "$seeds_root/tests/simulation/same_trace.sh" "$simulator" "$2..$half" &
  local other=$!
  "$seeds_root/tests/simulation/same_trace.sh" "$simulator" "$((half + 1))..$(($2 + $3 - 1))"
  wait "$other"
}

# The seed that finds a mistake which is planted in the scratch copy, or why there is none.
judge_mutant() {
  local patch=$1 simulator=$2 first=$3 count=$4
  local log=$seeds_work/mutant
  if ! git apply "$patch" >"$log" 2>&1; then
    verdict="no longer applies"
  elif ! cmake --build --preset release --target "$simulator" >"$log" 2>&1; then
    verdict="does not compile"
  elif "build/release/tests/simulation/$simulator" --jobs "$(nproc)" --until-failure \
    --seeds "$first..$((first + count - 1))" >"$log" 2>&1; then
    verdict="SURVIVED $count seeds"
  elif verdict=$(grep -m 1 '^seed ' "$log"); then
    verdict="found by $verdict"
  else
    verdict="ENDED without naming a seed: $(tail -n 1 "$log")"
  fi
  git apply --reverse "$patch" >/dev/null 2>&1 || true
}

find_mutants() {
  local first=$1 count=$2 minimum=$3 patch simulator kept kept_file seed verdict kind
  shift 3
  found=0 mutants=0
  echo "== mutants"
  source "$seeds_root/bench/acceptance/scratch_copy.sh"
  trap 'rm -rf "$seeds_work" "$scratch_base"' EXIT
  pushd "$scratch" >/dev/null
  cmake --preset release -DHUMMER_BENCH=OFF >"$seeds_work/mutant" 2>&1
  for kind in "$@"; do
    simulator=${kind}_simulator
    kept=$(kept_results "$simulator")
    for patch in tests/mutants/"$kind"/*.patch; do
      mutants=$((mutants + 1))
      kept_file=$kept/$(basename "$patch" .patch)-$(sha256sum "$patch" | cut -c 1-16)
      verdict=
      if [[ ${ACCEPTANCE_RESUME:-0} == 1 && -f $kept_file ]]; then
        seed=$(sed -nE 's/^found by seed ([0-9]+).*/\1/p' "$kept_file")
        if ((seed >= first && seed < first + count)); then verdict=$(cat "$kept_file"); fi
      fi
      [[ -n $verdict ]] || judge_mutant "$patch" "$simulator" "$first" "$count"
      printf '%-46s | %s\n' "$kind/$(basename "$patch" .patch)" "${verdict:0:150}"
      if [[ $verdict == found* ]]; then
        found=$((found + 1))
        echo "$verdict" >"$kept_file"
      fi
    done
  done
  popd >/dev/null
  at_least mutants "$mutants" "$minimum"
  at_least "mutants found" "$found" "$mutants"
}
