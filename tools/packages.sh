# Sourced by the scripts beside it.
#
#     install_missing PACKAGE...                        installs the Debian packages that are missing
#     unpack_packages FOLDER ARCH SUITE PACKAGE...      unpacks packages of another processor, or of another Debian
#     unpack_source FOLDER PACKAGE...                   unpacks source packages, with Debian's patches
#     tree_files                                        the files of the tree, each with a NUL behind it

build_packages="build-essential cmake ninja-build pkg-config
    libxxhash-dev libsodium-dev libidn2-dev zlib1g-dev libzstd-dev liblzma-dev libbz2-dev libhiredis-dev"
[ "$(uname -m)" != x86_64 ] || build_packages="$build_packages libisal-dev"
portable_packages="qemu-user gcc-s390x-linux-gnu libc6-dev-s390x-cross"
database_packages="postgresql python3-psycopg2 golang-github-lib-pq-dev"
planner_packages="clang-14 lld-14 wasi-libc libclang-rt-14-dev-wasm32 libxxhash-dev libsodium-dev"
pages_packages="$planner_packages chromium-headless-shell nodejs mandoc python3-venv python3-dev"
deb_packages="$build_packages debhelper dpkg-dev dh-python python3-dev python3-setuptools"
lint_packages="lintian mmdebstrap systemd $deb_packages"
systems_packages="liblmdb-dev librocksdb-dev libleveldb-dev $database_packages"
cross_packages="$build_packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross dpkg-dev autoconf automake libtool
    libpython3-dev"
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

# Runs a command of apt in a folder, with lists of its own: nothing is installed, and the lists of the system stay as
# they are. The packages come from the same place as those of this machine.
#
#     apt_beside FOLDER ARCH TYPE SUITE COMMAND...      TYPE: deb or deb-src
apt_beside() (
    beside=$1/.apt arch=$2 type=$3 suite=$4
    shift 4
    mkdir -p "$beside/lists/partial" "$beside/archives/partial"
    : >"$beside/status"
    # Of other suites the security packages may be gone, or never have been.
    security='^$'
    [ "$suite" != "$debian_suite" ] || security='/debian-security$'
    apt-get indextargets --format '$(SITE)' | sort -u | while read -r site; do
        if echo "$site" | grep -q '/debian$'; then
            echo "$type [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $site $suite main"
        elif echo "$site" | grep -q "$security"; then
            echo "$type [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $site $suite-security main"
        fi
    done >"$beside/sources.list"
    options="-q -o APT::Architecture=$arch -o APT::Architectures::=$arch -o Acquire::Languages=none
        -o Dir::Etc::SourceList=$beside/sources.list -o Dir::Etc::SourceParts=/dev/null
        -o Dir::State::lists=$beside/lists -o Dir::State::status=$beside/status -o Dir::Cache=$beside
        -o APT::Sandbox::User=root"
    # shellcheck disable=SC2086 # the options are words
    (cd "${beside%/.apt}" && apt-get $options update && apt-get $options "$@") >"$beside/log" 2>&1 || {
        tail -n 20 "$beside/log" >&2
        echo "error: apt-get $* failed for $suite on $arch" >&2
        return 1
    }
    rm -r "$beside"
)

unpack_packages() (
    mkdir -p "$1"
    folder=$(cd "$1" && pwd) arch=$2 suite=$3
    shift 3
    apt_beside "$folder" "$arch" deb "$suite" download "$@" || return 1
    for package in "$folder"/*.deb; do
        dpkg-deb -x "$package" "$folder" || return 1
        rm "$package"
    done
)

unpack_source() (
    mkdir -p "$1"
    folder=$(cd "$1" && pwd)
    shift
    apt_beside "$folder" "$(dpkg --print-architecture)" deb-src "$debian_suite" source "$@"
)

debian_suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)

# Without git (the source archive of a release) all files but those of build/.
tree_files() {
    if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git ls-files -z -co --exclude-standard
    else
        find . -path ./build -prune -o '(' -type f -o -type l ')' -printf '%P\0'
    fi
}
