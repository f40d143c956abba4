# Sourced by the scripts beside it: installs the Debian packages that are missing.
#
#     install_missing PACKAGE...

build_packages="build-essential cmake ninja-build pkg-config
    libxxhash-dev libsodium-dev libidn2-dev zlib1g-dev libzstd-dev liblzma-dev libbz2-dev libhiredis-dev"
[ "$(uname -m)" != x86_64 ] || build_packages="$build_packages libisal-dev"
portable_packages="qemu-user gcc-s390x-linux-gnu libc6-dev-s390x-cross"
database_packages="postgresql python3-psycopg2 golang-github-lib-pq-dev"
planner_packages="clang-14 lld-14 wasi-libc libclang-rt-14-dev-wasm32 libxxhash-dev libsodium-dev"
pages_packages="$planner_packages chromium-headless-shell nodejs pandoc mandoc python3"
lint_packages="lintian mmdebstrap debhelper dpkg-dev systemd"
systems_packages="liblmdb-dev librocksdb-dev libleveldb-dev $database_packages"
static_packages="cppcheck shellcheck clang-14 clang-tidy-14 python3-dev"

# As root, or through sudo.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "error: this needs root, and there is no sudo: $*" >&2
        return 1
    fi
}

# Debian starts a server as soon as it is installed. The tests start their own, so none is started.
without_starting() {
    policy=/usr/sbin/policy-rc.d
    if [ -e $policy ]; then
        "$@"
        return
    fi
    as_root sh -c "printf '#!/bin/sh\nexit 101\n' >$policy && chmod 755 $policy"
    code=0
    "$@" || code=$?
    as_root rm -f $policy
    return $code
}

install_missing() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "No apt-get here: make sure that these Debian packages, by your system's names, are" \
            "installed: $*"
        return 0
    fi
    missing=
    for package in "$@"; do
        case $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) in
        installed) ;;
        *) missing="$missing $package" ;;
        esac
    done
    [ -n "$missing" ] || return 0
    echo "Installing:$missing"
    # The index may be absent or old: refresh it if the installation does not work without.
    install="env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends"
    if ! without_starting as_root $install $missing >/dev/null 2>&1; then
        as_root apt-get update -q >/dev/null
        without_starting as_root $install $missing >/dev/null
    fi
}
