# SPDX-License-Identifier: MIT
"""Have I seen this URL before? Sets of URLs in 4 to 6 bytes each, in memory or on disk.

    >>> import unseen
    >>> s = unseen.Set()
    >>> s.add("http://e.com/a"), s.add("HTTP://E.com:80/a#top")
    (True, False)

docs/python.md of the project is the guide.
"""

import collections.abc as _abc
import sysconfig as _sysconfig

if _sysconfig.get_config_var("Py_GIL_DISABLED"):
    raise ImportError("unseen relies on the GIL: use a build of Python that has it, not the free-threaded one")

from ._client import Client
from ._explain import Explained, Explanation, Step, explain
from ._redis import RedisClient
from ._serve import ServeClient, connect
from ._unseen import (
    Bitmap,
    BusyError,
    ClosedError,
    DamagedError,
    Error,
    FileError,
    List,
    Mask,
    MismatchError,
    MissingError,
    ReadOnlyError,
    Set,
    SettingError,
    StoppedError,
    Store,
    Strings,
    UnsupportedError,
    __version__,
    canonicalize,
    canonicalize_many,
    expressions,
    open,
    shard,
)

_abc.Sequence.register(Mask)
_abc.Sequence.register(Strings)

__all__ = [
    "Bitmap",
    "BusyError",
    "Client",
    "ClosedError",
    "DamagedError",
    "Error",
    "Explained",
    "Explanation",
    "FileError",
    "List",
    "Mask",
    "MismatchError",
    "MissingError",
    "ReadOnlyError",
    "RedisClient",
    "ServeClient",
    "Set",
    "SettingError",
    "Step",
    "StoppedError",
    "Store",
    "Strings",
    "UnsupportedError",
    "__version__",
    "canonicalize",
    "canonicalize_many",
    "connect",
    "explain",
    "expressions",
    "open",
    "shard",
]
