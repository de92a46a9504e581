#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the data of the sample report: two invented weeks of a sensor, finger sticks, insulin, food and notes.

  sample.py FOLDER      writes FOLDER/sensor.csv, FOLDER/diary.csv, FOLDER/few.csv and FOLDER/journey.csv

few.csv has three days of sensor.csv. journey.csv has sensor.csv with the times of a journey to New York and back. The
values are the same in each run."""
import math
import sys
from datetime import datetime, timedelta, timezone

FIRST = datetime(2026, 3, 2)
DAYS = 14
HOME, AWAY = (timezone(timedelta(hours=hours)) for hours in (1, -5))
# The flights: at noon in Madrid, and at two o'clock at night in New York.
OUT, BACK = datetime(2026, 3, 5, 12, tzinfo=HOME), datetime(2026, 3, 12, 2, tzinfo=AWAY)
# The minute of the day, grams and units of each usual meal.
MEALS = [(7 * 60 + 25, 45, 4.5), (13 * 60 + 10, 60, 6), (16 * 60 + 45, 20, 2), (20 * 60 + 30, 55, 5.5)]


class Series:
    """A sequence of pseudo-random numbers."""

    def __init__(self, seed):
        self.state = seed

    def next(self, bound):
        self.state = (1103515245 * self.state + 12345) % 2**31
        return (self.state >> 16) % bound


def rise(minutes, height, width):
    """The rise of the glucose in mg/dL some minutes after a meal. It is fast at first and decreases slowly."""
    if minutes <= 0 or minutes > 6 * width:
        return 0
    part = minutes / width
    return height * part * math.exp(1 - part)


def meals():
    """Every meal with its time, grams, units, and maximum rise."""
    random = Series(20260302)
    for day in range(DAYS):
        for minute, grams, units in MEALS:
            if minute == 16 * 60 + 45 and random.next(2):
                continue
            at = FIRST + timedelta(days=day, minutes=minute + random.next(50) - 25)
            grams += 5 * (random.next(7) - 3)
            yield at, grams, units + (random.next(5) - 2) / 2, 18 + grams * (5 + random.next(9)) / 6


def sensor(eaten):
    """The readings of the sensor. A morning has none, because the sensor was changed."""
    random = Series(7)
    drift = 0
    for index in range(DAYS * 288):
        at = FIRST + timedelta(minutes=5 * index)
        drift = drift * 15 / 16 + random.next(13) - 6
        if at.day == 9 and 7 <= at.hour < 10:
            continue
        night = 14 * math.cos((at.hour * 60 + at.minute - 330) * math.pi / 720)
        value = 102 + night + drift + sum(
            rise((at - meal).total_seconds() / 60, height, 50) for meal, _, _, height in eaten)
        # The glucose falls on two afternoons with sport, and during one night.
        if at.day in (5, 12):
            value -= rise((at - at.replace(hour=17, minute=0)).total_seconds() / 60, 62, 60)
        if at.day == 7:
            value -= rise((at - at.replace(hour=1, minute=30)).total_seconds() / 60, 66, 50)
        yield at, max(42, round(value))


def write(path, readings):
    with open(path, "w", encoding="utf-8") as file:
        file.write("time,mg/dL,device\n")
        for at, value in readings:
            file.write(f"{at.isoformat()},{value},Sample Sensor\n")


def travelling(at):
    """The time that a phone on the journey shows, with its offset."""
    at = at.replace(tzinfo=HOME)
    return at.astimezone(AWAY if OUT <= at < BACK else HOME)


def main(folder):
    eaten = list(meals())
    readings = list(sensor(eaten))
    write(f"{folder}/sensor.csv", readings)
    write(f"{folder}/few.csv", readings[:3 * 288])
    write(f"{folder}/journey.csv", [(travelling(at), value) for at, value in readings])
    random = Series(11)
    rows = []
    for at, grams, units, _ in eaten:
        rows.append((at, "", f"{units:g}", f"{grams}", ""))
    for day in range(DAYS):
        rows.append((FIRST + timedelta(days=day, hours=22, minutes=30), "", "", "", "long-acting insulin as usual"
                     if day == 0 else ""))
        for hour in (7, 13, 22):
            at = FIRST + timedelta(days=day, hours=hour, minutes=random.next(20))
            near = min(readings, key=lambda reading: abs(reading[0] - at))
            rows.append((at, f"{near[1] + random.next(21) - 10}", "", "", ""))
    rows.append((datetime(2026, 3, 5, 17, 0), "", "", "", "football, one hour"))
    rows.append((datetime(2026, 3, 7, 2, 15), "", "", "", "woke up shaking; juice & a biscuit"))
    rows.append((datetime(2026, 3, 9, 7, 0), "", "", "", "changed the sensor"))
    with open(f"{folder}/diary.csv", "w", encoding="utf-8") as file:
        file.write("time,mg/dL,insulin,carbs,note,device\n")
        for at, value, units, grams, note in sorted(rows):
            if value or units or grams or note:
                quoted = f'"{note}"' if note else ""
                file.write(f"{at:%Y-%m-%dT%H:%M:%S},{value},{units},{grams},{quoted},Sample Meter\n")


if __name__ == "__main__":
    main(sys.argv[1])
