# SPDX-License-Identifier: MIT
"""What was found before, in files of the user's cache. A file that is damaged, that belongs to
something else or that cannot be written is never an error: then there is none."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any


def folder() -> Path | None:
    """$XDG_CACHE_HOME/remat-plan, by default ~/.cache/remat-plan. None where the user has no
    home, as in many containers."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "remat-plan" if os.path.isabs(base) else None


class Entry:
    """One entry: an object that JSON can hold, found by `key`, under a folder `kind`.

    The file has the key and a digest of the object beside it, and counts only if both are
    right.
    """

    def __init__(self, kind: str, key: Sequence[str]) -> None:
        self.key = list(key)
        place = folder()
        self.path = place / kind / f"{_digest(self.key)}.json" if place else None

    def read(self) -> dict[str, Any] | None:
        """The object, or None."""
        if self.path is None:
            return None
        try:
            data = json.loads(self.path.read_bytes())
            about = data.pop("cache")
            whole = about == {"key": self.key, "sha256": _digest(data)}
        except Exception:  # nesting, types, text: whatever it is, it is not ours
            return None
        return data if whole else None

    def write(self, data: dict[str, Any]) -> None:
        """Write beside the place and rename."""
        if self.path is None:
            return
        about = {"key": self.key, "sha256": _digest(data)}
        text = json.dumps({**data, "cache": about}, separators=(",", ":"))
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.path.parent)
            try:
                with os.fdopen(handle, "w") as file:
                    file.write(text)
                os.replace(name, self.path)
            except BaseException:
                os.unlink(name)
                raise


def _digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
