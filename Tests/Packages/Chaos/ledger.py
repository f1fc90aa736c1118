"""What programs were told, compared with what is stored."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

FIRST_BALANCE = 1_000


@dataclass
class Call:
    """An operation, and what its caller was told. Without an answer the program was killed."""

    program: str
    kind: str
    words: list[str]
    start: float
    end: float | None = None
    outcome: str = "unanswered"
    code: str = ""
    milliseconds: float = 0
    message: str = ""

    @property
    def may_be_there(self) -> bool:
        return self.outcome in ("doubtful", "unanswered", "failed")


@dataclass
class Journals:
    calls: dict[str, Call] = field(default_factory=dict)
    openings: list[Call] = field(default_factory=list)
    hangs: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    ended: set[str] = field(default_factory=set)
    programs: set[str] = field(default_factory=set)

    def read(self, folder: Path) -> "Journals":
        for path in sorted(folder.glob("*.journal")):
            self.programs.add(path.stem)
            for line in path.read_text().splitlines():
                self._read(path.stem, line.split("\t"))
        return self

    def _read(self, program: str, words: list[str]) -> None:
        match words:
            case [time, "intent", name, operation]:
                kind, *rest = operation.split(" ")
                self.calls[name] = Call(program, kind, rest, float(time))
            case [time, "done", name, outcome, code, milliseconds, message]:
                call = self.calls[name]
                call.end, call.outcome, call.code = float(time), outcome, code
                call.milliseconds, call.message = float(milliseconds), message
            case [time, "open", _, outcome, code, milliseconds, message]:
                self.openings.append(Call(
                    program, "open", [], float(time) - float(milliseconds) / 1_000, float(time), outcome, code,
                    float(milliseconds), message))
            case [_, "hang", name, *_]:
                self.hangs.append(name)
            case [_, "problem", _, text]:
                self.problems.append(text)
            case [_, "end", *_]:
                self.ended.add(program)

    # Times

    def acknowledged_times(self, program: str | None = None) -> list[float]:
        return sorted(call.end for call in self.calls.values()
                      if call.outcome == "acknowledged" and call.end is not None and program in (None, call.program))

    def longest_outage(self, program: str) -> float:
        """The longest time without any acknowledged call of a program."""
        times = self.acknowledged_times(program)
        return max((later - earlier for earlier, later in zip(times, times[1:])), default=0)

    def longest_call(self, start: float = 0, end: float = float("inf")) -> Call | None:
        calls = [call for call in self.calls.values() if call.end and call.end >= start and call.start <= end]
        return max(calls, key=lambda call: call.milliseconds, default=None)


@dataclass
class Contents:
    """What is stored, a line for each object."""

    lines: Counter
    notes: list[str]

    @classmethod
    def parse(cls, text: str) -> "Contents":
        contents = cls(Counter(), [])
        for line in text.splitlines():
            if line.startswith(("finding", "history-")):
                contents.notes.append(line)
            elif line:
                contents.lines[line] += 1
        return contents

    def table(self, name: str) -> dict[str, list[list[str]]]:
        """The rows of a kind, by their first word."""
        rows: dict[str, list[list[str]]] = defaultdict(list)
        for line, count in self.lines.items():
            kind, key, *rest = line.split(" ")
            if kind == name:
                rows[key] += [rest] * count
        return rows


# The same lines as `chaos-client dump` prints.
CONTENTS_SQL = """
SELECT 'account ' || number || ' ' || balance FROM {s}."Account"
UNION ALL SELECT 'counter ' || number || ' ' || value FROM {s}."Counter"
UNION ALL SELECT 'item ' || i.key || ' ' || s.number FROM {s}."Item" i JOIN {s}."Shelf" s ON s._id = i.shelf
  WHERE i.key NOT LIKE 'filler.%'
UNION ALL SELECT 'pair ' || i.key || ' ' || l.number FROM {s}."{pairs}" p
  JOIN {s}."Item" i ON i._id = p."{item}" JOIN {s}."Label" l ON l._id = p."{label}"
UNION ALL SELECT 'transfer ' || t.key || ' ' || a.number || ' ' || b.number || ' ' || t.amount
  FROM {s}."Transfer" t JOIN {s}."Account" a ON a._id = t.source JOIN {s}."Account" b ON b._id = t.target
UNION ALL SELECT 'basket ' || b.key || ' ' || coalesce((
  SELECT string_agg(l.number::text, ',' ORDER BY l._basket_order, l._id) FROM {s}."Line" l WHERE l.basket = b._id), '')
  FROM {s}."Basket" b
"""


class Ledger:
    """Finds what is lost, there twice, half there, or there although it was refused."""

    def __init__(self, journals: Journals, contents: Contents):
        self.calls = journals.calls
        self.contents = contents
        self.lost: list[str] = []
        self.twice: list[str] = []
        self.half: list[str] = []
        self.refused_but_there: list[str] = []
        self.unseen: list[str] = []

    def check(self) -> "Ledger":
        self._check_items()
        self._check_records("transfer", lambda call: [call.words[1:]])
        self._check_records("fill", lambda call: [["0,1,2"]])
        self._check_counters()
        self._check_money()
        return self

    def _say(self, name: str, call: Call, what: str = "") -> str:
        return f"{name} ({call.kind} {' '.join(call.words)}): {call.outcome} {call.code} at {call.end or 0:.3f} {what}"

    def _check_items(self) -> None:
        items = self.contents.table("item")
        pairs = Counter(tuple(line.split(" ")[1:]) for line in self.contents.lines.elements()
                        if line.startswith("pair "))
        by_key: dict[str, list[tuple[str, Call]]] = defaultdict(list)
        for name, call in self.calls.items():
            if call.kind in ("insert", "label", "delete", "read"):
                by_key[call.words[0]].append((name, call))
        for key in items.keys() - by_key.keys():
            self.refused_but_there.append(f"{key}: nobody has inserted it")
        for key, calls in by_key.items():
            rows = items.get(key, [])
            inserts = [(name, call) for name, call in calls if call.kind == "insert"]
            deletes = [call for _, call in calls if call.kind == "delete"]
            is_deleted = any(call.outcome == "acknowledged" for call in deletes)
            may_be_deleted = is_deleted or any(call.may_be_there for call in deletes)
            for name, call in inserts:
                self._check_rows(name, call, rows, [call.words[1:]], is_deleted, may_be_deleted)
                for other, seen in calls:
                    if call.outcome == "acknowledged" and seen.outcome == "missing" and not any(
                            delete.start < seen.start for delete in deletes if delete.outcome != "refused"
                            and delete is not seen):
                        self.unseen.append(self._say(other, seen))
            if not rows:
                continue
            labels: dict[str, list[tuple[str, Call]]] = defaultdict(list)
            for name, call in calls:
                if call.kind == "label":
                    labels[call.words[1]].append((name, call))
            for label, tries in labels.items():
                count = pairs[(key, label)]
                name, call = tries[-1]
                if count > 1:
                    self.twice.append(self._say(name, call))
                if count == 0 and any(call.outcome == "acknowledged" for _, call in tries):
                    self.lost.append(self._say(name, call))
                if count > 0 and all(call.outcome in ("refused", "missing") for _, call in tries):
                    self.refused_but_there.append(self._say(name, call, call.message))

    def _check_rows(
        self, name: str, call: Call, rows: list[list[str]], expected: list[list[str]], is_deleted: bool = False,
        may_be_deleted: bool = False
    ) -> None:
        if len(rows) > 1:
            self.twice.append(self._say(name, call))
        if rows and call.outcome in ("refused", "missing"):
            self.refused_but_there.append(self._say(name, call, call.message))
        elif rows and is_deleted:
            self.lost.append(self._say(name, call, "the acknowledged delete"))
        elif rows and rows[:1] != expected:
            self.half.append(self._say(name, call, f"{rows}"))
        elif not rows and call.outcome == "acknowledged" and not may_be_deleted:
            self.lost.append(self._say(name, call))

    def _check_records(self, kind: str, expected) -> None:
        table = self.contents.table("basket" if kind == "fill" else kind)
        known = set()
        for name, call in self.calls.items():
            if call.kind == kind:
                known.add(call.words[0])
                self._check_rows(name, call, table.get(call.words[0], []), expected(call))
        for key in table.keys() - known:
            self.refused_but_there.append(f"{kind} {key}: nobody has inserted it")

    def _check_counters(self) -> None:
        done, doubtful = Counter(), Counter()
        for call in self.calls.values():
            if call.kind == "count":
                done[call.words[0]] += call.outcome == "acknowledged"
                doubtful[call.words[0]] += call.may_be_there
        for number, rows in self.contents.table("counter").items():
            value = int(rows[0][0])
            if value < done[number]:
                self.lost += [f"an increment of the counter {number}"] * (done[number] - value)
            if value > done[number] + doubtful[number]:
                self.twice += [f"an increment of the counter {number}"] * (value - done[number] - doubtful[number])

    def _check_money(self) -> None:
        accounts = {number: int(rows[0][0]) for number, rows in self.contents.table("account").items()}
        expected = dict.fromkeys(accounts, FIRST_BALANCE)
        for rows in self.contents.table("transfer").values():
            for source, target, amount in rows:
                expected[source] -= int(amount)
                expected[target] += int(amount)
        for number, balance in accounts.items():
            if balance != expected[number]:
                self.half.append(f"account {number} has {balance}, its transfers say {expected[number]}")
        if sum(accounts.values()) != FIRST_BALANCE * len(accounts):
            self.half.append(f"the sum of all accounts is {sum(accounts.values())}")
