# SPDX-License-Identifier: MIT
"""Builds the extension from its own C files and those of the library, which are behind the links in
core/. pip needs a compiler and the headers of libidn2, libsodium and xxHash."""

import os
import re
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

if sysconfig.get_config_var("Py_GIL_DISABLED"):
    raise SystemExit("unseen relies on the GIL: use a build of Python that has it, not the free-threaded one")

header = Path("core/include/unseen.h").read_text()
version = ".".join(
    re.search(rf"UNSEEN_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH")
)

# Each header that the build takes from the system, with its Debian package.
HEADERS = {
    "stdio.h": "gcc libc6-dev",
    "Python.h": "python3-dev",
    "idn2.h": "libidn2-dev",
    "sodium.h": "libsodium-dev",
    "xxhash.h": "libxxhash-dev",
}


class ParallelBuild(build_ext):
    """Compiles as many files at a time as there are processors."""

    def can_include(self, header):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "try.c").write_text(f"#include <{header}>\n")
            try:
                self.compiler.compile([f"{folder}/try.c"], output_dir=folder, include_dirs=self.compiler.include_dirs)
            except CompileError:
                return False
        return True

    def check_headers(self):
        missing = [package for header, package in HEADERS.items() if not self.can_include(header)]
        if "gcc libc6-dev" in missing:
            missing = list(HEADERS.values())  # without a compiler every header is missing
        if missing:
            raise SystemExit(
                f"\nerror: unseen cannot be compiled here. Install what is missing, and try again. "
                f"On Debian: apt install {' '.join(missing)}"
            )

    def build_extensions(self):
        self.check_headers()
        compile_all = self.compiler.compile

        def compile_each(sources, **options):
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                lists = pool.map(lambda source: compile_all([source], **options), sources)
                return [made for objects in lists for made in objects]

        self.compiler.compile = compile_each
        super().build_extensions()


setup(
    version=version,
    cmdclass={"build_ext": ParallelBuild},
    ext_modules=[
        Extension(
            "unseen._unseen",
            sorted(glob("src/*.c") + glob("core/src/*/*.c")),
            include_dirs=["src", "core/include", "core/src"],
            define_macros=[("Py_LIMITED_API", "0x030A0000")],
            extra_compile_args=["-std=c11", "-O3", "-g0", "-fvisibility=hidden"],
            libraries=["idn2", "sodium", "m", "pthread"],
            py_limited_api=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp310"}},
)
