// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Detects times of a clock of twelve hours without AM and PM.
///
/// Such times are from 1:00 to 12:59. If the rows are in order of time, these times run backwards within a
/// day: dinner at 7:00 follows lunch at 12:30. In rows of any order, a word for the evening next to a time
/// such as 7:00 shows that PM is missing.
struct GenericHalfDays {
  private static let secondsPerHour: Int64 = 3600
  private static let secondsPerDay: Int64 = 86_400
  private static let minDays = 7
  private static let minSigns = 3
  /// The hours at which a word for the evening shows that PM is missing. No evening begins before 5 o'clock,
  /// and at 12 a word for the night is right.
  private static let eveningHours: ClosedRange<Int64> = 5...11

  /// The consecutive rows of one day.
  private struct Day {
    let number: Int64
    var last: Int64
    var isUp = false
    var isDown = false
  }

  /// Whether a time was before 1:00 or after 12:59, so that the clock has 24 hours. Later times are then
  /// ignored.
  private var isWhole = false
  private var day: Day?
  private var dayCount = 0
  private var goesUp = false
  private var goesDown = false
  /// The numbers of days whose times only rise, only fall, or do both.
  private var (up, down, mixed) = (0, 0, 0)
  private var evenings = 0

  /// Adds a time in civil seconds.
  ///
  /// - Returns: whether the words of its row may show that the time is in the evening.
  mutating func observe(_ seconds: Int64) -> Bool {
    if isWhole { return false }
    let number = DeviceTime.day(of: seconds)
    let hour = (seconds - number * Self.secondsPerDay) / Self.secondsPerHour
    isWhole = !(1...12 ~= hour)
    if !isWhole { observeOrder(seconds, of: number) }
    return !isWhole && Self.eveningHours.contains(hour)
  }

  /// Adds the texts of the row whose time was added last.
  mutating func observe(words: [String]) {
    if words.contains(where: Self.isOfEvening) { evenings += 1 }
  }

  private mutating func observeOrder(_ seconds: Int64, of number: Int64) {
    guard var day, day.number == number else {
      if let day { if number > day.number { goesUp = true } else { goesDown = true } }
      closeDay()
      day = Day(number: number, last: seconds)
      dayCount += 1
      return
    }
    if seconds > day.last { day.isUp = true }
    if seconds < day.last { day.isDown = true }
    day.last = seconds
    self.day = day
  }

  private mutating func closeDay() {
    guard let day else { return }
    switch (day.isUp, day.isDown) {
    case (true, true): mixed += 1
    case (true, false): up += 1
    case (false, true): down += 1
    case (false, false): break
    }
  }

  /// Completes the last day after all rows.
  mutating func decide() {
    closeDay()
    day = nil
  }

  private var mayBe: Bool { !isWhole && dayCount >= Self.minDays }

  /// The reason why the times are those of a clock of twelve hours, as text after the name of the column of
  /// values. Nil if nothing shows it.
  var fault: String? {
    guard mayBe else { return nil }
    let start = "has times from 1:00 to 12:59 only, "
    if evenings >= Self.minSigns {
      return start
        + "\(evenings) of the morning beside words for the evening, as a clock of twelve hours without AM and PM"
    }
    guard runsBackwards else { return nil }
    return start + "which run backwards within a day, as those of a clock of twelve hours without AM and PM"
  }

  private var runsBackwards: Bool {
    guard goesUp != goesDown else { return false }
    // In a diary with the newest day first, the times within each day may rise. This does not show a clock of
    // twelve hours.
    let isDiary = goesDown && mixed == 0 && down == 0
    let signs = mixed + (goesUp ? down : up)
    return !isDiary && signs >= Self.minSigns && signs * 3 >= up + down + mixed
  }

  /// Whether the times may be those of a clock of twelve hours although nothing shows it: most days have
  /// several times.
  var isDoubtful: Bool { mayBe && fault == nil && (up + down + mixed) * 2 > dayCount }

  private static let eveningWords: Set<String> = [
    "dinner", "supper", "evening", "bedtime", "pm", "abend", "abends", "abendessen", "cena", "dîner", "diner",
    "soir", "soirée", "sera", "noche", "jantar", "noite", "avond", "avondeten", "aften", "aftensmad", "kväll",
    "kveld", "kolacja", "wieczór", "večeře", "večer", "ужин", "вечер",
  ]

  private static func isOfEvening(_ text: String) -> Bool {
    text.lowercased().split { !$0.isLetter }.contains { eveningWords.contains(String($0)) }
  }
}
