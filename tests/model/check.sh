#!/usr/bin/env bash
# Searches the models of this folder exhaustively: the protocol must pass, and every mutant must fail.
#
#   check.sh                         everything
#   check.sh --quick                 what fits into a test run
#   check.sh --story MUTANT_<name>   one way in which that mutant breaks, step by step
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here memory_kib=$((6 * 1024 * 1024)) seconds=900

mode=full
story=
case "${1-}" in
  '') ;;
  --quick) mode=quick ;;
  --story) mode=story story=${2:?which mutant?} ;;
  *) echo "usage: check.sh [--quick | --story MUTANT_<name>]" >&2 && exit 2 ;;
esac
for tool in spin gcc timeout; do
  if ! command -v "$tool" >/dev/null; then
    echo "check.sh: $tool is not installed; its Debian package is in the list of .ci/setup" >&2
    exit 1
  fi
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Configurations; README.md tells what each bounds.
declare -A settings=(
  [admission]="admission"
  [books]="quota -DREIGNS=1 -DAGENTS=2 -DGRANTS=2 -DSYNCS=2"
  [books-calls]="quota -DREIGNS=1 -DAGENTS=2 -DGRANTS=2 -DSYNCS=2 -DEVERY_CALL"
  [books-leaving]="quota -DREIGNS=1 -DAGENTS=2 -DGRANTS=1 -DSYNCS=2 -DLEAVING -DCRASH"
  [books-name]="quota -DREIGNS=1 -DAGENTS=2 -DGRANTS=2 -DSYNCS=2 -DCRASH -DUNIQUE"
  [session]="quota -DREIGNS=1 -DAGENTS=1 -DGRANTS=3 -DSYNCS=3"
  [session-leaving]="quota -DREIGNS=1 -DAGENTS=1 -DGRANTS=3 -DSYNCS=3 -DLEAVING -DCRASH"
  [session-long]="quota -DREIGNS=1 -DAGENTS=1 -DGRANTS=4 -DSYNCS=4"
  [takeover]="quota -DREIGNS=2 -DAGENTS=2 -DGRANTS=1 -DSYNCS=2 -DPASSIVE"
  [takeover-2]="quota -DREIGNS=2 -DAGENTS=2 -DGRANTS=2 -DSYNCS=2 -DPASSIVE"
  [takeover-session]="quota -DREIGNS=2 -DAGENTS=1 -DGRANTS=2 -DSYNCS=2 -DUNCONFIRMED"
)
readonly quick_configurations="admission session session-leaving books takeover"
readonly full_configurations="$quick_configurations session-long books-calls books-leaving books-name
  takeover-session"
# <mutant>:<configuration in which it must fail>
readonly quick_mutants="A3_LOAD_FIRST:admission A3_READ_FIRST:admission
  A3_RELAXED_ENTER:admission A3_RELAXED_STORE:admission
  A1_LEASE_FROM_RECEIPT:session A2_ANY_ORDER:session A4_LOCAL_CONSTANT:session
  A4_LIMIT_STAYS:session A5_ACK_FIRST:session A8_RELEASE_EARLY:session-leaving
  C1_FREE_ON_SEND:session C1_NO_IN_FLIGHT:session C1_NO_BASE_HOLD:session C3_NO_DRIFT:session
  C5_RAISE_ONLY:takeover C9_SHORT_HOLD:takeover-session"
readonly full_mutants="$quick_mutants
  C2_OLD_SYNC:session C2_FOREIGN_ACK:takeover-session C3_REVIVAL:books
  C4_NO_LOG:takeover-session C4_SENT_BEFORE_DURABLE:takeover-session
  C4_BASE_UNLOGGED:takeover-session C4_PENDING_IGNORED:takeover-2
  C6_NO_CONFIRM:takeover-session C6_UNFENCED_WRITE:takeover-session
  C7_NEW_ANCHOR:takeover-session C7_BELOW_DECIDED:takeover-session
  C9_READ_FIRST:takeover-session C11_FREE_AT_ONCE:books-name
  C11_FENCE_ON_REGISTER:books-name"

# build <configuration> <optimisation> <macros of the model...>: compiles the search into $work.
build() {
  local model macros
  read -r model macros <<<"${settings[$1]}"
  # shellcheck disable=SC2086 # macros are words
  (cd "$work" && rm -f pan* && cp "$here/$model.pml" . && spin $macros "${@:3}" -a "$model.pml" >spin.log 2>&1 &&
    gcc "$2" -w -DSAFETY -DNOREDUCE -o pan pan.c) ||
    { cat "$work/spin.log" >&2 && exit 1; }
}

search() { # runs what build made
  (cd "$work" && ulimit -v "$memory_kib" &&
    timeout --signal=KILL "$seconds" ./pan -E -m3000000 -w22 >pan.log 2>&1) || true
}

line() { # <name> <result>: one line of the table
  awk -v name="$1" -v result="$2" '
    /states, stored/ { states = $1 }
    / transitions / { transitions = $1 }
    /depth reached/ { sub(",", "", $6); depth = $6 }
    /total actual memory usage/ { memory = $1 }
    /elapsed time/ { seconds = $4 }
    END { printf "%-42s %10s %12s %6s %9s %7s  %s\n", name, states, transitions, depth, memory,
                 seconds, result }' "$work/pan.log"
}

failed=0
protocol() { # <configuration>
  build "$1" -O1
  search
  local result=holds
  if grep -q 'assertion violated' "$work/pan.log"; then
    result="BROKEN: $(grep -o 'assertion violated [^)]*' "$work/pan.log" | head -1)"
  elif ! grep -q 'errors: 0' "$work/pan.log" ||
    grep -qE 'max search depth too small|Search not completed|out of memory' "$work/pan.log"; then
    result="INCOMPLETE"
  fi
  [[ $result == holds ]] || failed=1
  line "$1" "$result"
}

mutant() { # <mutant>:<configuration>
  build "${1#*:}" -O0 "-DMUTANT_${1%:*}"
  search
  local broken
  broken=$(grep -o 'assertion violated [^ ]*' "$work/pan.log" | head -1 | sed 's/.* //') || true
  if [[ -z $broken ]]; then
    failed=1
    broken=SURVIVES
  else
    broken="caught: $broken"
  fi
  line "${1%:*} in ${1#*:}" "$broken"
}

if [[ $mode == story ]]; then
  for entry in $full_mutants; do
    [[ MUTANT_${entry%:*} == "$story" ]] || continue
    build "${entry#*:}" -O0 "-D$story"
    search
    (cd "$work" && ./pan -r 2>&1) | grep -E '^ *(--|agent|a call|controller|pan:)' || true
    exit
  done
  echo "check.sh: there is no mutant $story" >&2
  exit 2
fi

printf '%-42s %10s %12s %6s %9s %7s  %s\n' search states transitions depth MiB seconds result
configurations=${mode}_configurations
mutants=${mode}_mutants
for name in ${!configurations}; do protocol "$name"; done
for entry in ${!mutants}; do mutant "$entry"; done
if [[ $failed -ne 0 ]]; then
  echo "check.sh: the model does not hold what it promises" >&2
  exit 1
fi
