# For the tests of examples/:
#
#     needs COMMAND...                 or the test is skipped
#     go_example FOLDER NAME           builds it: $go_program, empty without Go; $go_replace: where another
#                                      module is
#     python_example FILE ARG...       runs FILE with $python, after the folder of examples
examples=$TESTS/../examples
export PYTHONDONTWRITEBYTECODE=1 GOTOOLCHAIN=local GOFLAGS=-mod=mod GOPROXY=off
go_program=
go_replace=
python=python3

needs() {
    for command in "$@"; do
        command -v "$command" > /dev/null || skip "no $command"
    done
}

# In a copy: go.mod is changed.
go_example() {
    command -v go > /dev/null || return 0
    [ -w "${HOME:-/none}" ] || export GOCACHE=$PWD/cache
    mkdir copy
    cp -r "$examples/go" "$examples/${1%%/*}" copy/
    go_program=$scratch/$2.program
    (cd "copy/$1" && { [ -z "$go_replace" ] || go mod edit -replace "$go_replace"; } && go build -o "$go_program" .)
    holds [ $? = 0 ]
}

python_example() {
    script=$TESTS/cli/$1
    shift
    last="$script"
    timeout 3000 "$python" "$script" "$(cd "$examples" && pwd)" "$@" > out 2> err
    status=$?
    expect 0 '*' ''
    cat out err
}
