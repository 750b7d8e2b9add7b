"""The result of a scan: for each code object, at which instruction which state is touched."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import CodeType
from typing import NamedTuple

from .value import Value

#: (file, name, first line): also finds the code that Dynamo rewrote, which is a new object of the same place.
CodeKey = tuple[str, str, int]


def key_of(code: CodeType) -> CodeKey:
    return (code.co_filename, code.co_name, code.co_firstlineno)


class Access(NamedTuple):
    """One read or write of a state by one instruction."""

    state: str
    write: bool

    @property
    def point(self) -> str:
        return ("write:" if self.write else "read:") + self.state


@dataclass
class CodeSites:
    """What is known of one code object.

    code     as compiled from the file; offsets refer to it
    sites    instruction offset -> accesses
    entry    declared states read by being called at all
    exit     declared states that are written by the time it returns
    fine     every place in it is a point
    entered  its start is a point
    before   instruction offset -> kind of point passed before it
    releases instruction offset -> (what is done, with which operands) where C code may give up the GIL
    makers   instruction offset -> what is called, where that may only make a generator
    """

    module: str
    qualname: str
    code: CodeType
    sites: dict[int, list[Access]] = field(default_factory=dict)
    entry: list[Access] = field(default_factory=list)
    exit: list[Access] = field(default_factory=list)
    fine: bool = False
    entered: bool = False
    before: dict[int, str] = field(default_factory=dict)
    releases: dict[int, tuple[str, tuple[Value, ...]]] = field(default_factory=dict)
    makers: dict[int, Value] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.module}.{self.qualname}"


@dataclass
class Table:
    """codes         what to instrument
    states        every state found, sorted
    save_restore  those that some function saves and later stores back: they must be as before when all is over
    modules       how many modules were scanned
    points        the kinds of points that were looked for
    by_kind       the states that each kind found
    files         file name -> module, for all that were scanned
    """

    codes: dict[CodeKey, CodeSites] = field(default_factory=dict)
    states: list[str] = field(default_factory=list)
    save_restore: list[str] = field(default_factory=list)
    modules: int = 0
    points: tuple[str, ...] = ()
    by_kind: dict[str, set[str]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    @property
    def sites(self) -> int:
        return sum(len(code.sites) + bool(code.entry) + bool(code.exit) for code in self.codes.values())
