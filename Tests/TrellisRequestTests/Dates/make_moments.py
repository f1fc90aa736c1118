#!/usr/bin/env python3
"""Writes the facts of Moments.txt: random moments with their periods and parts by Python's zoneinfo.

    python3 make_moments.py [COUNT] [SEED] > Moments.txt

A line: microseconds, time zone, the starts of day, ISO week, month, quarter and year in seconds, and the weekday from
Sunday 1, hour, day of the month, day of the year, ISO week, month, year.
"""
import datetime
import random
import sys
import zoneinfo

ZONES = ["UTC", "Asia/Seoul", "Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Pacific/Apia",
         "Africa/Casablanca", "Asia/Kathmandu", "America/New_York", "Asia/Kolkata", "America/Caracas", "Europe/London"]
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def local(second, zone):
    return (EPOCH + datetime.timedelta(seconds=second)).astimezone(zone)


def start(date, zone):
    """The first second at which the date has begun."""
    noon = int((datetime.datetime(date.year, date.month, date.day, tzinfo=datetime.timezone.utc) - EPOCH).total_seconds())
    low, high = noon - 2 * 86400, noon + 2 * 86400
    while high - low > 1:
        middle = (low + high) // 2
        if local(middle, zone).date() >= date:
            high = middle
        else:
            low = middle
    return high


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1200
    chance = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    for _ in range(count):
        name = chance.choice(ZONES)
        zone = zoneinfo.ZoneInfo(name)
        micros = chance.randrange(-500_000_000_000_000, 1_790_000_000_000_000)
        if chance.random() < 0.5:
            # Near the start of a day.
            day = local(micros // 1_000_000, zone).date()
            micros = start(day, zone) * 1_000_000 + chance.choice([-1, 0, 1, -1_000_000, chance.randrange(-7_200_000_000, 7_200_000_000)])
        there = local(micros // 1_000_000, zone)
        date = there.date()
        firsts = [date, date - datetime.timedelta(days=date.weekday()), date.replace(day=1),
                  date.replace(month=(date.month - 1) // 3 * 3 + 1, day=1), date.replace(month=1, day=1)]
        facts = [start(first, zone) for first in firsts]
        facts += [date.isoweekday() % 7 + 1, there.hour, date.day, date.timetuple().tm_yday, date.isocalendar()[1],
                  date.month, date.year]
        print(micros, name, *facts)


main()
