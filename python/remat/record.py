# Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JSON objects with attributes.

A subclass annotates the keys that it knows, and names the classes of the objects in them. Keys that
a later version adds are attributes, too: they need no new code here.
"""

from __future__ import annotations

from typing import Any, ClassVar, Iterator, Mapping


class Record:
    """An object of a JSON file. `json` is the object as it was read."""

    #: The class of the object, or of the objects of the list, under a key.
    classes: ClassVar[Mapping[str, type[Record]]] = {}

    def __init__(self, json: Mapping[str, Any]) -> None:
        self.json = json

    def __getattr__(self, name: str) -> Any:
        # Not in `self.json` while an object is copied or unpickled.
        json = self.__dict__.get("json", {})
        if name not in json:
            raise AttributeError(f"{type(self).__name__} has no '{name}'")
        value = json[name]
        record = self.classes.get(name)
        if record is None or value is None:
            return value
        return [record(item) for item in value] if isinstance(value, list) else record(value)

    def __dir__(self) -> Iterator[str]:
        yield from super().__dir__()
        yield from self.json

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.json == other.json

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.json!r})"
