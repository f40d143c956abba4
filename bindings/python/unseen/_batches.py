# SPDX-License-Identifier: MIT
"""The URLs of a call in batches, for the clients of servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def batches(
    urls: Iterable[str | bytes | None], item: Callable[[str | bytes], bytes], most: int, most_bytes: int
) -> Iterator[list[bytes | None]]:
    """The URLs as item makes them, or None, `most` at a time; fewer if they have most_bytes."""
    batch: list[bytes | None] = []
    size = 0
    for url in urls:
        one = None if url is None else item(url)
        batch.append(one)
        size += len(one or b"")
        if len(batch) == most or size >= most_bytes:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
