"""The time that the tool sees: a test that holds it lets it pass. In shell: hold_time in common.bash."""
import os


def hold_time():
    os.environ["UNSEEN_TEST_CLOCK"] = os.path.abspath("clock")
    set_time(1000)


def pass_time(seconds):
    with open(os.environ["UNSEEN_TEST_CLOCK"]) as file:
        set_time(float(file.read()) + seconds)


def let_time_go():
    del os.environ["UNSEEN_TEST_CLOCK"]


def set_time(seconds):
    """The file is replaced by another one, so that nobody reads half of a number."""
    name = os.environ["UNSEEN_TEST_CLOCK"]
    with open(name + ".new", "w") as file:
        file.write("%.1f\n" % seconds)
    os.rename(name + ".new", name)
