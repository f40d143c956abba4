# SPDX-License-Identifier: MIT
"""Have I seen this URL before? Sets of URLs in 4 to 6 bytes each, in memory or on disk.

    >>> import unseen
    >>> s = unseen.Set()
    >>> s.add("http://e.com/a"), s.add("HTTP://E.com:80/a#top")
    (True, False)

docs/python.md of the project is the guide.
"""

import sysconfig as _sysconfig

if _sysconfig.get_config_var("Py_GIL_DISABLED"):
    raise ImportError("unseen relies on the GIL: use a build of Python that has it, not the free-threaded one")

from ._explain import Explained, Explanation, Step, explain
from ._unseen import (
    BusyError,
    ClosedError,
    DamagedError,
    Error,
    FileError,
    Mask,
    MismatchError,
    MissingError,
    ReadOnlyError,
    Set,
    SettingError,
    StoppedError,
    Store,
    UnsupportedError,
    __version__,
    canonicalize,
    canonicalize_many,
    expressions,
    open,
    shard,
)

__all__ = [name for name in globals() if not name.startswith("_")] + ["__version__"]
