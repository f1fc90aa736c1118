"""The tables that a run prints."""

import bisect
from collections import Counter, defaultdict
from dataclasses import dataclass

from ledger import Contents, Journals, Ledger


@dataclass
class Fault:
    kind: str
    start: float
    end: float = 0


def rows(title: str, lines: list[tuple[str, str]]) -> None:
    print(f"\n{title}")
    width = max((len(name) for name, _ in lines), default=0)
    for name, value in lines:
        print(f"  {name.ljust(width)}  {value}")


def outages_by_kind(journals: Journals, faults: list[Fault]) -> list[tuple[str, str]]:
    """For each kind of fault how often it was made, and the longest time in which no program was acknowledged.

    A wait belongs to the fault that was the last one when it began.
    """
    starts = [fault.start for fault in faults]

    def fault_of(moment: float) -> Fault | None:
        place = bisect.bisect_right(starts, moment + 0.5)
        return faults[place - 1] if place else None

    longest: dict[str, float] = defaultdict(float)
    slowest: dict[str, float] = defaultdict(float)
    times = journals.acknowledged_times()
    for earlier, later in zip(times, times[1:]):
        if fault := fault_of(earlier):
            longest[fault.kind] = max(longest[fault.kind], later - earlier)
    for call in journals.calls.values():
        if fault := fault_of(call.start):
            slowest[fault.kind] = max(slowest[fault.kind], call.milliseconds / 1_000)
    counts = Counter(fault.kind for fault in faults)
    return [(kind, f"{count:4}   without any acknowledged call {longest[kind]:6.2f} s, "
                   f"longest call {slowest[kind]:6.2f} s")
            for kind, count in sorted(counts.items())]


def print_calls(journals: Journals) -> None:
    calls = list(journals.calls.values())
    by_outcome = Counter(call.outcome for call in calls)
    by_code = Counter(f"refused {call.code}" for call in calls if call.outcome == "refused")
    slowest = max(calls, key=lambda call: call.milliseconds, default=None)
    lines = [("operations", str(len(calls)))]
    lines += [(kind, str(by_outcome[kind])) for kind in ("acknowledged", "missing", "doubtful", "unanswered", "failed")]
    lines += sorted((code, str(count)) for code, count in by_code.items())
    outages = {program: journals.longest_outage(program) for program in journals.programs}
    if outages:
        program = max(outages, key=lambda name: outages[name])
        lines.append(("longest outage of a program", f"{outages[program]:.2f} s ({program})"))
    if slowest is not None:
        lines.append((
            "longest call", f"{slowest.milliseconds / 1_000:.2f} s ({slowest.kind}, {slowest.outcome} {slowest.code})"))
    lines.append(("calls beyond all time-outs", str(len(journals.hangs))))
    rows("calls", lines)
    openings = Counter(f"{call.outcome} {call.code}".strip() for call in journals.openings)
    longest = max((call.milliseconds for call in journals.openings), default=0)
    rows("openings", [*sorted((name, str(count)) for name, count in openings.items()),
                      ("longest", f"{longest / 1_000:.2f} s")])


def print_messages(journals: Journals) -> None:
    """One message for each code, so that a reader can judge them."""
    samples: dict[tuple[str, str], str] = {}
    for call in [*journals.calls.values(), *journals.openings]:
        if call.message:
            samples.setdefault((f"{call.outcome} {call.code}", call.message.split(":")[0][:40]), call.message)
    rows("messages", [(name, message[:300]) for (name, _), message in sorted(samples.items())])
    if journals.problems:
        rows("problems", [(str(count), text[:300]) for text, count in Counter(journals.problems).most_common(5)])


def print_ledger(ledger: Ledger, contents: Contents, from_sql: Contents) -> None:
    difference = (contents.lines - from_sql.lines) + (from_sql.lines - contents.lines)
    rows("what is stored", [
        ("objects", str(contents.lines.total())),
        ("acknowledged and lost", str(len(ledger.lost))),
        ("there twice", str(len(ledger.twice))),
        ("half there", str(len(ledger.half))),
        ("refused and there", str(len(ledger.refused_but_there))),
        ("not seen by a later read", str(len(ledger.unseen))),
        ("read by Trellis and by SQL differently", str(difference.total())),
        ("findings of the check and of the history", str(len(contents.notes))),
    ])
    for title, found in (
            ("lost", ledger.lost), ("twice", ledger.twice), ("half", ledger.half),
            ("refused and there", ledger.refused_but_there), ("not seen", ledger.unseen),
            ("findings", contents.notes), ("differences", list(difference))):
        if found:
            print(f"\n{title}:")
            for line in found[:12]:
                print(f"  {line[:400]}")


def failures(journals: Journals, ledger: Ledger, contents: Contents, from_sql: Contents, may_lose: bool) -> list[str]:
    """Why a run has failed."""
    found = {
        "acknowledged saves were lost": [] if may_lose else ledger.lost,
        "saves are there twice": ledger.twice,
        "saves are half there": ledger.half,
        "refused saves are there": ledger.refused_but_there,
        "acknowledged saves were not seen": [] if may_lose else ledger.unseen,
        "calls ended without a code of a store": [c for c in journals.calls.values() if c.outcome == "failed"],
        "calls did not return": journals.hangs,
        "the check or the history found something": contents.notes,
        "Trellis and SQL read differently":
            list(contents.lines - from_sql.lines) + list(from_sql.lines - contents.lines),
        "nothing was acknowledged": [] if journals.acknowledged_times() else ["nothing"],
    }
    return [f"{len(list(what))}: {reason}" for reason, what in found.items() if what]
