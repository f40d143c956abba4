# SPDX-License-Identifier: MIT
"""explain(): why URLs are or are not the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Union

from ._unseen import _explain

Url = Union[str, bytes]


class Step(NamedTuple):
    """One rule that changed a URL, and the part before and after."""

    rule: str
    sentence: str
    before: Url
    after: Url


class Explained(NamedTuple):
    """A URL, its canonical form, and the steps between. form is unchanged, rewritten, or failed: a
    text that is not a URL, whose last step says why."""

    url: Url
    canonical: Url
    form: str
    steps: list[Step]

    def __str__(self) -> str:
        lines = [_shown(self.url)]
        for step in self.steps:
            arrow = "" if self.form == "failed" and step is self.steps[-1] else f" -> {_shown(step.after) or '(nothing)'}"
            lines += [f"  {step.rule}: {step.sentence}", f"    {_shown(step.before) or '(nothing)'}{arrow}"]
        end = "not a URL: its bytes are its identity" if self.form == "failed" else f"= {_shown(self.canonical)}"
        return "\n".join([*lines, f"  {end}"])


class Explanation(NamedTuple):
    """Whether URLs are the same under a profile, and why; print it."""

    same: bool
    profile: str
    urls: list[Explained]

    def __str__(self) -> str:
        verdict = f"{'' if self.same else 'not '}the same under {self.profile}" if len(self.urls) > 1 else None
        return "\n".join([*map(str, self.urls), *([verdict] if verdict else [])])


def _shown(text: Url) -> str:
    text = text.decode(errors="replace") if isinstance(text, bytes) else text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _bytes(text: Url) -> bytes:
    return text if isinstance(text, bytes) else text.encode(errors="surrogateescape")


def explain(url: Url, *others: Url, profile: str | None = "crawl", rules: Iterable[str] = ()) -> Explanation:
    """Why the url and the others are, or are not, the same under the profile and the rules (as of canonicalize()): an
    Explanation, with .same and, for each URL, the steps to its canonical form."""
    urls = []
    for each in (url, *others):
        canonical, form, steps, identity = _explain(each, profile, rules=rules)
        urls.append(Explained(each, canonical, form, [Step(*step) for step in steps]))
    same = len({_bytes(u.canonical) for u in urls}) == 1
    return Explanation(same, identity, urls)
