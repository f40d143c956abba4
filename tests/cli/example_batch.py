# examples/batch: files of URLs, each URL once, by 40 shards. The batch is killed in each of its steps, alone or with all
# its processes, and started again.
#
#     example_batch.py EXAMPLES
import collections, glob, os, random, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from serving import SCALE, SEED, TOOL, count

BATCH = sys.argv[1] + "/batch/batch.sh"
SHARDS = 40
FILES = 8
URLS = 10000 * SCALE  # in each file
random.seed(SEED)

# Stands in the PATH for the tool. In one run of a batch, it kills the batch's shell, or all of its
# processes: before the tool, a moment after it began, or when it has ended. Where all are killed before the tool,
# other runs wait for their end: none is faster than the kill.
INSTEAD = """#!/bin/bash
echo run >> "$KILLS/runs"
read -r number what who < "$KILLS/when"
[ "$(wc -l < "$KILLS/runs")" -ge "$number" ] || exec {tool} "$@"
if ! mkdir "$KILLS/fired" 2> /dev/null; then
    [ "$what $who" != "before all" ] || sleep 600
    exec {tool} "$@"
fi
read -r stat < /proc/$$/stat
set -- "${{stat##*) }}" "$@"
read -r _ _ _ session _ <<< "$1"
shift
[ $who = all ] && victim=0 || victim=$session
case $what in
before) kill -9 $victim; exec {tool} "$@" ;;
behind) {tool} "$@"; status=$?; kill -9 $victim; exit $status ;;
beside) {tool} "$@" <&0 & sleep 0.00$((RANDOM % 10)); kill -9 $victim; wait $! ;;
esac
"""
bin_folder = os.path.abspath("bin")
os.mkdir(bin_folder)
with open("bin/unseen", "w") as file:
    file.write(INSTEAD.format(tool=TOOL))
os.chmod("bin/unseen", 0o755)
ENV = dict(os.environ, PATH=bin_folder + ":" + os.environ["PATH"])


def run(command, number=10**9, what="none", who="none"):
    """Runs a command, as a session of its own; its status, errors and how often it ran the tool."""
    folder = tempfile.mkdtemp(dir=bin_folder)  # processes that outlive their shell have that of their own run
    with open(folder + "/when", "w") as file:
        file.write("%d %s %s\n" % (number, what, who))
    open(folder + "/runs", "w").close()
    with open("run.err", "w") as err:  # not a pipe, which would wait for those processes
        done = subprocess.run(command, env=dict(ENV, KILLS=folder), start_new_session=True, stderr=err, timeout=600)
    return done.returncode, open("run.err").read(), len(open(folder + "/runs").readlines())


def spelled(i):
    """One of the spellings of a URL; some pages are far more frequent than others."""
    return random.choice(("http://www.site-%d.example/page/%d\n", "HTTP://WWW.site-%d.example:80/x/../page/%d#end\n")) % (i % 97, i)


def write_files(first, n):
    names, truth = [], set()
    for number in range(first, first + n):
        names.append("found.%d" % number)
        found = [int(URLS * FILES * random.random() ** 3) for _ in range(URLS)]
        truth.update(found)
        with open(names[-1], "w") as file:
            file.writelines(spelled(i) for i in found)
    open("empty.%d" % first, "w").close()
    return names + ["empty.%d" % first], truth


def check(folder, truth):
    """Each URL was written once, to the file of its shard."""
    written = collections.Counter()
    for path in glob.glob(folder + "/new/*.txt"):
        shard = os.path.basename(path)[:-4]
        with open(path) as file:
            lines = file.read()
        assert lines == "" or lines.endswith("\n")
        written.update(lines.splitlines())
        told = subprocess.run([TOOL, "canon", "--shard", str(SHARDS)], input=lines, stdout=subprocess.PIPE, text=True).stdout
        assert told == "".join("%s\t%s\n" % (shard, line) for line in lines.splitlines()), (shard, lines, told)
    want = collections.Counter("http://www.site-%d.example/page/%d" % (i % 97, i) for i in truth)
    assert written == want, (list((written - want).items())[:3], list((want - written).items())[:3])


files, truth = write_files(0, FILES)
nwritten = FILES
command = [BATCH, "-n", str(SHARDS), "-p", "4", "crawl", *files]
# In the first step, then in the second; what a killed shell leaves goes on, and the next run waits for it.
kills = [(1, "before", "all"), (1, "beside", "all"), (4, "behind", "all"), (5, "beside", "all"), (4, "beside", "shell")]
kills += [(1, what, "all") for what in ("before", "beside", "behind", "beside", "before", "beside")]
kills += [(2, "beside", "shell")]
nkilled, nparts, nfiles = 0, [], FILES + 1
for number, what, who in kills:
    status, err, nruns = run(command, number, what, who)
    if status == 0:  # nothing was left to do for so many runs: more files
        assert len(os.listdir("crawl/parts")) == nfiles, (number, what, who)
        names, more = write_files(nwritten, FILES)
        nwritten += FILES
        nfiles += len(names)
        command += names
        truth |= more
        status, err, nruns = run(command, number, what, who)
    assert status == -9, (status, err, number, what, who)
    nkilled += 1
    nparts.append(nfiles - len(os.listdir("crawl/parts")))
assert nparts[0] == FILES + 1 and 0 in nparts, nparts  # before the first step ended, and after
status, err, nruns = run(command)
assert status == 0, (status, err)
check("crawl", truth)
assert not os.listdir("crawl/drafts")
status, err, nruns = run(command)
assert (status, nruns) == (0, 0), (status, err, nruns)  # nothing is left to do

# More files: only what is new of them is written.
more_files, more_truth = write_files(nwritten, 2)
status, err, _ = run(command + more_files, 5, "beside", "all")
assert status == -9, (status, err)
status, err, _ = run(command + more_files)
assert status == 0, (status, err)
truth |= more_truth
check("crawl", truth)

# A batch of another machine with the same seed, merged shard by shard; and all shards in one store. A merge that is
# killed is given again.
os.makedirs("other")
for name in "seed", "shards":
    subprocess.run(["cp", "crawl/" + name, "other/" + name], check=True)
other_files, other_truth = write_files(nwritten + 2, 3)
status, err, _ = run([BATCH, "-p", "4", "other", *other_files])
assert status == 0, (status, err)
for shard in range(1, SHARDS + 1):
    name = "shard/%d.unseen" % shard
    if os.path.exists("other/" + name):
        if shard % 4 == 0:
            run(["unseen", "merge", "--into", "crawl/" + name, "other/" + name], 1, "beside", "all")
        assert run(["unseen", "merge", "--into", "crawl/" + name, "other/" + name])[0] == 0
stores = ["crawl/shard/%d.unseen" % shard for shard in range(1, SHARDS + 1)]
truth |= other_truth
assert sum(map(count, stores)) == len(truth), (sum(map(count, stores)), len(truth))
for _ in range(3):
    run(["unseen", "merge", "all.unseen", *stores], 1, "beside", "all")
if not os.path.exists("all.unseen"):
    status, err, _ = run(["unseen", "merge", "all.unseen", *stores])
    assert status == 0, err
assert count("all.unseen") == len(truth)
with open("truth", "w") as file:
    file.writelines(spelled(i) for i in truth)
assert subprocess.run([TOOL, "check", "-v", "all.unseen", "truth"], stdout=subprocess.PIPE).stdout == b""

# What cannot be.
status, err, _ = run([BATCH, "-n", "20", "crawl", "found.1"])
assert (status, err) == (2, "batch.sh: crawl has 40 shards: -n 40\n"), (status, err)
status, err, _ = run([BATCH, "crawl", "found.1", "./found.1"])
assert (status, err) == (2, "batch.sh: two files have one name: found.1\n"), (status, err)
status, err, _ = run([BATCH, "crawl", "absent"])
assert status != 0 and "cannot open absent" in err, (status, err)
assert not os.path.exists("crawl/parts/absent")
status, err, _ = run([BATCH, "crawl"])
assert status == 2 and err.startswith("usage: batch.sh"), (status, err)
print("%d files, %d URLs once; %d runs killed" % (nwritten + 5, len(truth), nkilled + 1))
