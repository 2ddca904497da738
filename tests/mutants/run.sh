#!/usr/bin/env bash
# Breaks the code on purpose, one small way at a time, and demands that a test notices.
#
#   run.sh all | <name>...   runs them: a copy of the tree, one test binary, a table
#   run.sh list              what there is
#   run.sh check             every mutant still fits the code; builds nothing
#
# The mutants are the *.mutants beside this script; README.md tells how they are written. The copy is
# MUTANTS_TREE, build/mutants by default; MUTANTS_CMAKE holds more arguments for its configuration.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
readonly here root tree=${MUTANTS_TREE:-$root/build/mutants} binary=plimsoll_agent_test seconds=120

declare -a names=()
declare -A what=() file=() tests=() old=() new=()

die() { echo "run.sh: $*" >&2 && exit 2; }

add_line() { # <array> <name> <text>
  local -n lines=$1
  lines[$2]+="${lines[$2]:+$'\n'}$3"
}

load() { # <file of mutants>
  local line name='' filter=''
  while IFS= read -r line; do
    case $line in
      '' | '#'*) ;;
      'tests '*) filter=${line#tests } ;;
      'mutant '*)
        name=${line#mutant }
        [[ -z ${file[$name]+set} ]] || die "$1: there are two mutants $name"
        names+=("$name")
        file[$name]='' what[$name]='' old[$name]='' new[$name]='' tests[$name]=$filter
        ;;
      'file '*) file[$name]=${line#file } ;;
      '  '*) add_line what "$name" "${line#  }" ;;
      -*) add_line old "$name" "${line#-}" ;;
      +*) add_line new "$name" "${line#+}" ;;
      *) die "$1: what is '$line'?" ;;
    esac
  done <"$1"
}

# How often the text of a mutant is in its file: once is right.
fits() { # <name>
  local text rest
  [[ -f $root/${file[$1]} ]] || { echo 0 && return; }
  text=$(<"$root/${file[$1]}")$'\n'
  rest=${text//"${old[$1]}"$'\n'/}
  echo $(((${#text} - ${#rest}) / (${#old[$1]} + 1)))
}

check() { # <name>...
  local name failed=0
  for name in "$@"; do
    [[ -n ${old[$name]} && -n ${what[$name]} && -n ${tests[$name]} ]] || die "$name lacks a part"
    [[ $(fits "$name") == 1 ]] && continue
    echo "$name: these lines are $(fits "$name") times in ${file[$name]}, not once:" >&2
    echo "${old[$name]}" >&2
    failed=1
  done
  return $failed
}

# Only what differs, with a new date: so the build sees what an interrupted run has left, too.
copy_tree() {
  local path
  mkdir -p "$tree"
  while IFS= read -r path; do
    cmp -s "$root/$path" "$tree/$path" && continue
    mkdir -p "$(dirname "$tree/$path")"
    cp "$root/$path" "$tree/$path"
  done < <(cd "$root" && find . -path ./build -prune -o -path ./.git -prune -o -type f -print)
}

build() {
  (cd "$tree" && cmake --build build/h --target $binary --parallel "$(nproc)") >"$tree/build.log" 2>&1
}

run_tests() { # <filter>: returns 0 if all pass, and 124 if they hang
  timeout --signal=KILL $seconds "$tree/build/h/bin/$binary" --gtest_filter="$1" --gtest_fail_fast \
    >"$tree/test.log" 2>&1
}

whole() { # the code as it is passes
  local filter
  copy_tree
  # shellcheck disable=SC2086 # several arguments
  [[ -f $tree/build/h/CMakeCache.txt ]] ||
    cmake -S "$tree" -B "$tree/build/h" -DCMAKE_BUILD_TYPE=Debug \
      -DCMAKE_RUNTIME_OUTPUT_DIRECTORY="$tree/build/h/bin" ${MUTANTS_CMAKE-} >"$tree/build.log" 2>&1 ||
    { cat "$tree/build.log" >&2 && exit 1; }
  build || { tail -40 "$tree/build.log" >&2 && die "the code as it is does not build"; }
  while IFS= read -r filter; do
    run_tests "$filter" || { tail -20 "$tree/test.log" >&2 && die "the code as it is fails"; }
  done < <(printf '%s\n' "${tests[@]}" | sort -u)
}

# The first test that failed, else the one that was running when the process ended or hung.
caught_by() {
  local failed
  failed=$(sed -n 's/^\[  FAILED  \] \([^ ,]*\).*/\1/p' "$tree/test.log" | head -1)
  [[ -n $failed ]] || failed=$(sed -n 's/^\[ RUN      \] //p' "$tree/test.log" | tail -1)
  echo "$failed"
}

mutate() { # <name>
  local text path=$tree/${file[$1]} status=0
  text=$(<"$root/${file[$1]}")$'\n'
  printf '%s' "${text/"${old[$1]}"$'\n'/"${new[$1]}${new[$1]:+$'\n'}"}" >"$path"
  if ! build; then
    result='DOES NOT BUILD'
  else
    run_tests "${tests[$1]}" || status=$?
    case $status in
      0) result=SURVIVES ;;
      1) result=$(caught_by) ;;
      137) result="$(caught_by), which hangs" ;;
      *) result="$(caught_by), which ends the process" ;;
    esac
  fi
  cp "$root/${file[$1]}" "$path"
}

run() { # <name>...
  local name result failed=0
  whole
  printf '| %s | %s | %s |\n|---|---|---|\n' mutant 'what is wrong with it' 'caught by'
  for name in "$@"; do
    mutate "$name"
    [[ $result != SURVIVES && $result != 'DOES NOT BUILD' ]] || failed=1
    printf '| %s | %s | %s |\n' "\`$name\`" "${what[$name]//$'\n'/ }" "$result"
  done
  return $failed
}

for list in "$here"/*.mutants; do load "$list"; done
case ${1-} in
  check) check "${names[@]}" && echo "${#names[@]} mutants fit the code" ;;
  list) for name in "${names[@]}"; do echo "$name: ${what[$name]//$'\n'/ }"; done ;;
  all) check "${names[@]}" && run "${names[@]}" ;;
  '' | -*) die "usage: run.sh all | list | check | <name>..." ;;
  *)
    for name in "$@"; do [[ -n ${file[$name]+set} ]] || die "there is no mutant $name"; done
    check "$@" && run "$@"
    ;;
esac
