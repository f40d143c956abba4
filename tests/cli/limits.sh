# Every command under every small limit of the system: open files, processes, sizes of files, stack, addresses, and a
# folder for temporary files that is full, missing or not writable. The cases are in limits.py.
# Label: once
# Time: long
. "$(dirname "$0")/lib/common.bash"
command -v python3 > /dev/null || { skip 'no python3'; finish; }
export PYTHONDONTWRITEBYTECODE=1
! sanitized || export UNSEEN_SANITIZED=1

# A limit of processes does not hold for root, so that the tool runs as somebody else, who has to reach it.
chmod 755 .
cp "$UNSEEN" tool
export UNSEEN=$scratch/tool
mkdir full
if mount -t tmpfs -o size=4k,mode=777 tmpfs full 2> /dev/null; then
    cleanup_more() { umount "$scratch/full"; }
    head -c 4096 /dev/zero > full/bytes
    export FULL_FOLDER=$scratch/full
else
    printf 'skipped: no right to mount a full folder\n'
fi
holds python3 "$TESTS/cli/limits.py"
finish
