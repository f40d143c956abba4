# SPDX-License-Identifier: MIT
"""The address of a set in a Redis or Valkey server:

    redis://[USER[:PASSWORD]@]HOST[:PORT]/[DB/]KEY[?shards=N]
    redis+unix:PATH?key=KEY[&user=USER][&db=DB][&shards=N]

It is read byte by byte as the tool reads it (cli/redis_url.c), so that both mean the same key. In USER, PASSWORD, HOST,
PATH and KEY %XX is a byte; everything else is itself, also # and +."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote_to_bytes

from ._unseen import SettingError

if TYPE_CHECKING:
    from collections.abc import Callable

_PORT = b"6379"
_PORT_MAX = 65535
_DB_MAX = 1 << 30
_SHARDS_MAX = 1024
_NAME_MAX = 255  # bytes of a user, a host or a path
_KEY_MAX = 511  # bytes


class Place(NamedTuple):
    """What an address says. shown has no password."""

    shown: str
    options: dict[str, Any]  #: of redis-py
    key: bytes
    nshards: int


def is_redis(address: str) -> bool:
    """Whether the address is one of this module."""
    return re.match(r"(redis|valkey)s?://|redis\+unix:", address) is not None


def without_password(address: str) -> str:
    """The address as messages show it. Where a password may have a / or ?, only the scheme is left."""
    return _text(_take_password(_bytes(address))[0])


def read_address(address: str) -> Place:
    """Reads an address. Raises SettingError if it is none, or names no key."""
    rest, password = _take_password(_bytes(address))
    shown = _text(rest)
    if re.match(r"(redis|valkey)s://", address):
        raise SettingError(f"{shown}: TLS is not spoken here: let a tunnel listen on 127.0.0.1, and use redis://")
    try:
        if rest.startswith(b"redis+unix:"):
            options, key, nshards = _read_local(rest.removeprefix(b"redis+unix:"))
        else:
            options, key, nshards = _read_remote(rest.partition(b"://")[2])
            options["password"] = password
    except ValueError:
        raise SettingError(
            f"{shown} is not an address: redis://HOST:PORT/KEY, in a password / as %2F, ? as %3F and @ as %40, in a key @, "
            "too; behind it ?shards=N, a power of 2 up to 1024"
        ) from None
    if not key:
        raise SettingError(f"{shown} names no key: redis://HOST:PORT/KEY")
    return Place(shown, options, key, nshards)


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def _text(data: bytes) -> str:
    return data.decode(errors="surrogateescape")


def _take_password(address: bytes) -> tuple[bytes, bytes | None]:
    """The address without its password, and the password."""
    found = re.fullmatch(rb"((?:redis|valkey)s?://)([^/?]*)(.*)", address, re.DOTALL)
    if not found:
        return address, None
    scheme, authority, rest = found.groups()
    if b"@" in rest:
        return scheme, None
    login, at, host = authority.rpartition(b"@")  # the last @: one in a password may not be encoded
    user, colon, coded = login.partition(b":")
    if not colon:
        return address, None
    try:
        password = _decode(coded, len(coded))
    except ValueError:
        password = coded  # a percent sign that was not encoded
    return scheme + (user + at if user else b"") + host + rest, password


def _read_local(text: bytes) -> tuple[dict[str, Any], bytes, int]:
    path, _, query = text.removeprefix(b"//").partition(b"?")
    if not path:
        raise ValueError
    words = _read_query(query, {b"key": _read_key, b"user": _read_name, b"db": _read_db, b"shards": _read_shards})
    options = {
        "unix_socket_path": os.fsdecode(_read_name(path)),
        "username": words.get(b"user") or None,
        "db": words.get(b"db", 0),
    }
    return options, words.get(b"key", b""), words.get(b"shards", 1)


def _read_remote(text: bytes) -> tuple[dict[str, Any], bytes, int]:
    front, _, query = text.partition(b"?")
    authority, _, path = front.partition(b"/")
    user, at, host = authority.partition(b"@")
    if not at:
        user, host = b"", authority
    # [::1]:6379, host:6379, host
    found = re.fullmatch(rb"(?:\[([^]]+)\]|([^[:][^:]*))(?::(.*))?", host, re.DOTALL)
    if not found:
        raise ValueError
    port = _read_number(found[3] or _PORT, _PORT_MAX)
    if port == 0:
        raise ValueError
    words = _read_query(query, {b"shards": _read_shards})
    db, key = _read_path(path)
    options = {
        "host": _text(_read_name(found[1] or found[2])),
        "port": port,
        "username": _read_name(user) or None,
        "db": db,
    }
    return options, key, words.get(b"shards", 1)


def _read_path(path: bytes) -> tuple[int, bytes]:
    """The database and the key: crawl, 2/crawl, a/b"""
    first, _, rest = path.partition(b"/")
    try:
        db = _read_db(first)
    except ValueError:
        return 0, _read_key(path)
    return db, _read_key(rest)  # a number alone is a database


def _read_query(query: bytes, readers: dict[bytes, Callable[[bytes], Any]]) -> dict[bytes, Any]:
    """What stands behind the question mark. readers: what may, and what reads the value."""
    words = {}
    for word in query.removesuffix(b"&").split(b"&") if query else ():
        name, _, value = word.partition(b"=")
        if name not in readers:
            raise ValueError
        words[name] = readers[name](value)
    return words


def _decode(text: bytes, longest: int) -> bytes:
    found = unquote_to_bytes(text)
    if re.search(rb"%(?![0-9A-Fa-f]{2})", text) or b"\0" in found or len(found) > longest:
        raise ValueError
    return found


def _read_name(text: bytes) -> bytes:
    return _decode(text, _NAME_MAX)


def _read_key(text: bytes) -> bytes:
    return _decode(text, _KEY_MAX)


def _read_number(text: bytes, most: int) -> int:
    if not re.fullmatch(rb"[0-9]+", text) or int(text) > most:
        raise ValueError
    return int(text)


def _read_db(text: bytes) -> int:
    return _read_number(text, _DB_MAX)


def _read_shards(text: bytes) -> int:
    nshards = _read_number(text, _SHARDS_MAX)
    if nshards == 0 or nshards & (nshards - 1):
        raise ValueError
    return nshards
