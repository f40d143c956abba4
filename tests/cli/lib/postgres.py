# A PostgreSQL server of the test's own, on a socket in a folder of its own. It does not run as root. Options are
# those of `postgres`.
import atexit, glob, os, pwd, shutil, signal, subprocess, tempfile, time


class Postgres:
    def __init__(self, *options):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        assert found, "PostgreSQL is not installed"
        self.bin = found[-1]
        self.user = "postgres" if os.getuid() == 0 else None
        self.folder = tempfile.mkdtemp(prefix="unseen-pg-", dir="/tmp")
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        if self.user:
            os.chown(self.folder, pwd.getpwnam(self.user).pw_uid, -1)
        self.run("initdb", "-D", self.folder + "/data", "-U", "postgres", "-A", "trust")
        self.log = open(self.folder + "/log", "wb")
        self.process = subprocess.Popen([self.bin + "/postgres", "-D", self.folder + "/data", "-k", self.folder, "-h", "", *options],
                                        user=self.user, stdout=self.log, stderr=self.log, cwd="/")
        atexit.register(self.end)
        until = time.time() + 60
        while subprocess.run([self.bin + "/pg_isready", "-q", "-h", self.folder, "-U", "postgres"]).returncode != 0:
            assert time.time() < until and self.process.poll() is None, open(self.folder + "/log").read()
            time.sleep(0.05)
        self.address = "host=%s user=postgres dbname=postgres" % self.folder

    def run(self, program, *args):
        done = subprocess.run([os.path.join(self.bin, program), *args], user=self.user, cwd="/",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0, done.stdout

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        self.log.close()
