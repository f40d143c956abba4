#!/bin/bash
# The planner page in a headless Chromium: its answers are those of `unseen plan --json`; what people type is
# understood or refused in words; both languages, keyboard, screen reader, narrow windows, no WebAssembly. Then
# the checks must notice planted faults.
#
# usage: tests/pages/planner.sh [FOLDER]     FOLDER: for screenshots. BUILD=build/release has the tool.
set -eu -o pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/../.."
unseen=${BUILD:-build/release}/unseen
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tools/planner.sh "$work/planner.html"
node tests/pages/planner.mjs "$work/planner.html" "$unseen" "$@"

# noticed WORDS SED-COMMAND: the page with a fault.
noticed() {
    sed "$2" "$work/planner.html" >"$work/planted.html"
    ! cmp -s "$work/planner.html" "$work/planted.html" || { echo "failed: nothing was planted: $1"; return 1; }
    if node tests/pages/planner.mjs "$work/planted.html" "$unseen" >"$work/said" 2>&1; then
        echo "failed: not noticed: $1"
        return 1
    fi
}
noticed "the wrong field" "s/texts.forEach((text, i) => put(i, text))/texts.forEach((text, i) => put(i === 1 ? 2 : i === 2 ? 1 : 0, text))/"
noticed "a field without a name" 's/<label for="m" data-t="m">/<label data-t="m">/'
noticed "empty boxes" 's/section.hidden = !yes/section.hidden = false/'
echo "3 planted faults were noticed"
