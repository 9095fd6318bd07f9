# shellcheck shell=bash
# Sourced by acceptance items: `scratch` becomes the path of a copy of the repository (what git
# tracks, with uncommitted changes), removed at exit. It shares the compiler cache with the original.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch_base=$(mktemp -d)
trap 'rm -rf "$scratch_base"' EXIT
scratch=$scratch_base/hummer
mkdir "$scratch"
(
  cd "$root"
  git ls-files --cached --others --exclude-standard -z |
    while IFS= read -r -d '' file; do
      if [[ -f $file ]]; then printf '%s\0' "$file"; fi
    done | tar --null --files-from=- --create --file=-
) | tar --extract --file=- --directory="$scratch"
# `git apply` in the copy must not look for a repository around it.
export GIT_CEILING_DIRECTORIES=$scratch_base
