"""Runs tests of unittest and prints lines like those of ctest: the skipped tests, the seconds of each module, the
counts, and the report of each failure. The log has a line for each test.

A test that takes longer than UNSEEN_TEST_SECONDS (600) ends the run, and the last lines say where it was.

usage: run_unittest.py NAME LOG ARGUMENT...     NAME: what is tested; ARGUMENT: as for python3 -m unittest
"""
import faulthandler
import os
import sys
import time
import unittest


TEST_SECONDS = float(os.environ.get("UNSEEN_TEST_SECONDS", 600))


def limit_time():
    """From now to the next call, so that the start of a server counts, too."""
    faulthandler.dump_traceback_later(TEST_SECONDS, exit=True)


class Result(unittest.TextTestResult):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.skips = []
        self.seconds = {}
        self.last = time.monotonic()
        limit_time()

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.skips.append(test.id().replace("setUpClass ", "").split()[0].strip("()"))

    def stopTest(self, test):
        """The time since the test before belongs to the module of this one: it has the start of a server, too."""
        super().stopTest(test)
        now = time.monotonic()
        module = type(test).__module__
        self.seconds[module] = self.seconds.get(module, 0) + now - self.last
        self.last = now
        limit_time()


def main(name, log, *arguments):
    sys.path.insert(0, "")
    with open(log, "w", buffering=1) as stream:
        runner = unittest.TextTestRunner(stream, verbosity=2, resultclass=Result)
        result = unittest.main(None, argv=["unittest", *arguments], testRunner=runner, exit=False).result
    faulthandler.cancel_dump_traceback_later()
    for test, report in result.failures + result.errors:
        print(f"FAILED: {test.id()}\n{report}")
    for test in result.skips:
        print(f"{name}: {test} ...***Skipped")
    for module, seconds in result.seconds.items():
        print(f"Test #0: {name}/{module} ... {seconds:.2f} sec")
    nfailed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    ntests = max(result.testsRun, nfailed)
    print(f"{100 * (ntests - nfailed) // max(ntests, 1)}% tests passed, {nfailed} tests failed out of {ntests}")
    return int(nfailed > 0 or ntests == 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
