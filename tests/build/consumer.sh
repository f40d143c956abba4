# Another project uses the library: from an installed tree by find_package and by pkg-config,
# again after the tree was moved, and as a subdirectory.
# Label: all
. "$(dirname "$0")/common.bash"

cmake --install "$BUILD" --prefix "$work/first" >"$work/log" || fail "install: $(cat "$work/log")"

# Builds and runs the project in folder $1 with the cmake arguments that follow.
run_project() {
    folder=$1
    shift
    { cmake -S "$SOURCE/tests/build/consumer" -B "$folder" "$@" && cmake --build "$folder" -j2; } \
        >"$work/log" 2>&1 || fail "$folder: $(cat "$work/log")"
    "$folder/with_shared" || fail "$folder/with_shared"
    "$folder/with_static" || fail "$folder/with_static"
}

# Everything a user of the tree in $1 does.
use_tree() {
    prefix=$1
    run_project "$work/package" -DCMAKE_PREFIX_PATH="$prefix"
    ldd "$work/package/with_shared" | grep -qF "$prefix" || fail "not linked to $prefix"
    ldd "$work/package/with_static" | grep -q libunseen && fail "with_static is not static"
    rm -r "$work/package"

    pc=$(dirname "$(find "$prefix" -name unseen.pc)")
    export PKG_CONFIG_PATH=$pc
    flags=$(pkg-config --cflags --libs unseen)
    libdir=$(pkg-config --variable=libdir unseen)
    cc "$SOURCE/tests/build/consumer/main.c" $flags -o "$work/main" || fail "pkg-config: $flags"
    LD_LIBRARY_PATH=$libdir "$work/main" || fail "the program found by pkg-config"
    # The static library: its own file, and what it needs from Libs.private.
    private=$(pkg-config --static --libs unseen | sed 's/-lunseen//')
    cc "$SOURCE/tests/build/consumer/main.c" $(pkg-config --cflags unseen) \
        "$libdir/libunseen.a" $private -o "$work/main" || fail "pkg-config --static: $private"
    "$work/main" || fail "the static program found by pkg-config"
    if [ -e "$(cc -print-file-name=libunistring.a)" ]; then
        all=$(pkg-config --cflags --libs --static unseen)
        cc -static "$SOURCE/tests/build/consumer/main.c" $all -o "$work/main" 2>"$work/log" ||
            fail "cc -static with $all: $(cat "$work/log")"
        "$work/main" || fail "the program linked with -static"
        ldd "$work/main" >/dev/null 2>&1 && fail "the program linked with -static is dynamic"
    fi
    for named in $(sed -n 's/^\.Pa \(docs\/[a-z-]*\.md\|examples\)$/\1/p' "$prefix"/share/man/man[17]/* | sort -u); do
        [ -e "$prefix/share/doc/unseen/$named" ] || fail "a manual page names $named, which is not installed"
    done

    if [ -e "$BUILD/unseen.so" ]; then
        [ -x "$libdir/redis/modules/unseen.so" ] && [ -e "$prefix/share/man/man7/unseen-redis.7" ] ||
            fail "the module is not installed"
    fi
    if [ -x "$prefix/bin/unseen" ]; then
        for file in bash-completion/completions/unseen zsh/site-functions/_unseen \
            fish/vendor_completions.d/unseen.fish; do
            [ -e "$prefix/share/$file" ] || fail "$file is not installed"
        done
        grep -q '^\.It Fl D , Fl Fl repeats' "$prefix/share/man/man1/unseen.1" || fail "a manual page lacks the options"
        "$prefix/bin/unseen" --version | grep -qF "$(pkg-config --modversion unseen)" ||
            fail "the tool and unseen.pc have different versions"
    fi
}

use_tree "$work/first"
mv "$work/first" "$work/second"
use_tree "$work/second"
if grep -rlF "$work/first" "$work/second"; then
    fail "the files above contain the prefix"
fi

run_project "$work/inside" -DUNSEEN_SOURCE="$SOURCE"
