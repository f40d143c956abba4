#!/bin/sh
# Which lines and branches of src and cli the tests reach. Builds the preset "cover", runs the tests of
# the code in it, and prints a line for each folder and a total; build/cover/coverage.html shows every
# line. Some 15 minutes on 2 cores.
#
#     tools/coverage.sh [ctest argument]...      such as: -R unit/
set -eu
cd "$(dirname "$0")/.."
. tools/packages.sh
install_missing $build_packages gcovr

cmake --preset cover
cmake --build build/cover -j 2
find build/cover -name '*.gcda' -delete
# What fails here fails in tools/test.sh, too; the figures count all the same.
ctest --preset cover -LE once "$@" || echo "warning: tests failed" >&2
gcovr --root . --object-directory build/cover --filter src/ --filter cli/ --print-summary \
    --html-details build/cover/coverage.html --csv build/cover/coverage.csv -j 2 build/cover \
    >build/cover/summary
# filename,line_total,line_covered,line_percent,branch_total,branch_covered,branch_percent,...
awk -F , 'NR > 1 {
    n = split($1, part, "/")
    folder = n > 2 ? part[1] "/" part[2] : part[1]
    for (i = 0; i < 2; i++) {
        key = i ? "total" : folder
        lines[key] += $2; lines_hit[key] += $3; branches[key] += $5; branches_hit[key] += $6
    }
}
END {
    printf "%-14s %8s %8s %9s %9s\n", "folder", "lines", "reached", "branches", "reached"
    for (key in lines) {
        row = sprintf("%-14s %8d %7.1f%% %9d %8.1f%%", key, lines[key],
            100 * lines_hit[key] / (lines[key] ? lines[key] : 1), branches[key],
            100 * branches_hit[key] / (branches[key] ? branches[key] : 1))
        if (key == "total") total = row; else print row | "sort"
    }
    close("sort")
    print total
}' build/cover/coverage.csv
