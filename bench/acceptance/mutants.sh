# shellcheck shell=bash
# Sourced by acceptance items that plant mistakes: judge_mutants PATCH... plants each in a scratch copy of
# the repository and demands that a test catches it.
#
# The first line of a patch says who: `# caught-by: <ctest regex> target: <cmake target>`, and
# `preset: asan` behind it when only a sanitizer sees the mistake. The tests must pass before.
# HUMMER_SHORT=1: only mutants of the release preset.
#
# Prints a table, then "N of M mutants caught"; the exit code is 0 only when that is all of them.
source "$(dirname "${BASH_SOURCE[0]}")/scratch_copy.sh"
cd "$scratch"
log=$scratch_base/log
test_seconds_max=180

build() { cmake --build --preset "$1" --target "$2" >"$log" 2>&1; }

# 0: the tests pass; 1: at least one fails, crashes or hangs; 2: something else is wrong.
run_tests() {
  local code=0
  timeout --kill-after=10 $test_seconds_max ctest --preset "$1" --no-tests=error \
    --stop-on-failure -R "$2" >"$log" 2>&1 </dev/null || code=$?
  case $code in
    0) return 0 ;;
    124 | 137) return 1 ;;
  esac
  # Tests that ran and failed, or a program too broken to list its tests.
  grep -qE '^[0-9]+% tests passed, [1-9][0-9]* tests? failed|Error running test executable' "$log" &&
    return 1
  return 2
}

# The first test that ctest lists as failed.
failed_test() {
  sed -nE 's/^[[:space:]]+[0-9]+ - ([^ ]+).*/\1/p' "$log" | head -n 1 | grep .
}

judge() {
  local patch=$1 header regex target preset
  : >"$log"
  header=$(head -n 1 "$patch")
  regex=$(sed -nE 's/^# caught-by: (.*) target: .*/\1/p' <<<"$header")
  target=$(sed -nE 's/.* target: ([^ ]+).*/\1/p' <<<"$header")
  preset=$(sed -nE 's/.* preset: ([^ ]+).*/\1/p' <<<"$header")
  preset=${preset:-release}
  if [[ -z $regex || -z $target ]]; then
    verdict="no line '# caught-by: <regex> target: <target>'"
    return 1
  fi
  if [[ ${HUMMER_SHORT:-0} == 1 && $preset != release ]]; then
    verdict="not in the short form (preset $preset)"
    return 0
  fi
  [[ -f build/$preset/build.ninja ]] ||
    cmake --preset "$preset" -DHUMMER_BENCH=OFF >"$log" 2>&1 ||
    { verdict="can't configure $preset"; return 1; }
  build "$preset" "$target" || { verdict="$target does not build unpatched"; return 1; }
  run_tests "$preset" "$regex" || { verdict="/$regex/ does not pass unpatched"; return 1; }
  git apply --check "$patch" >"$log" 2>&1 || { verdict="no longer applies"; return 1; }
  git apply "$patch"
  local code=0
  if ! build "$preset" "$target"; then
    verdict="does not compile"
    code=1
  else
    run_tests "$preset" "$regex" || code=$?
    case $code in
      0) verdict="SURVIVED /$regex/" code=1 ;;
      1) verdict="caught by $(failed_test || echo "/$regex/, which hangs or does not start")" code=0 ;;
      *) verdict="ctest itself fails on /$regex/" code=1 ;;
    esac
  fi
  git apply --reverse "$patch"
  return $code
}

judge_mutants() {
  local caught=0 patch
  printf '%-44s | %s\n' mutant verdict
  for patch in "$@"; do
    verdict=
    if judge "$patch"; then
      caught=$((caught + 1))
    else
      tail -n 15 "$log" 2>/dev/null | sed 's/^/    /' || true
    fi
    printf '%-44s | %s\n' "$(basename "$patch" .patch)" "$verdict"
  done
  echo "$caught of $# mutants caught"
  [[ $caught -eq $# ]]
}
