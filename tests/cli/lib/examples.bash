# For the tests of examples/:
#
#     needs COMMAND...                 or the test is skipped
#     go_example FOLDER PACKAGE NAME   builds it: $go_program, empty without Go
#     python_example FILE ARG...       runs FILE, whose arguments begin with the folder of examples
examples=$TESTS/../examples
export PYTHONDONTWRITEBYTECODE=1 GOTOOLCHAIN=local GOFLAGS=-mod=mod GOPROXY=off
go_program=

needs() {
    for command in "$@"; do
        command -v "$command" > /dev/null || skip "no $command"
    done
}

# In a copy: the build notes versions in go.mod.
go_example() {
    command -v go > /dev/null || return 0
    [ -w "${HOME:-/none}" ] || export GOCACHE=$PWD/cache
    mkdir -p copy
    cp -r "$examples/go" "$examples/$1" copy/
    (cd "copy/$1" && go build -o "$scratch/$3.program" "$2")
    holds [ $? = 0 ]
    go_program=$scratch/$3.program
}

python_example() {
    script=$TESTS/cli/$1
    shift
    last="$script"
    timeout 3000 python3 "$script" "$(cd "$examples" && pwd)" "$@" > out 2> err
    status=$?
    expect 0 '*' ''
    cat out err
}
