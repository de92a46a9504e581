// SPDX-License-Identifier: Apache-2.0

/// Inputs with difficult values and times.
extension NastyInput {
  private static func values(_ cells: String...) -> String {
    cells.enumerated().reduce("time,glucose (mg/dL)\n") {
      $0 + "2026-03-01T08:0\($1.offset):00,\($1.element)\n"
    }
  }

  private static func times(_ cells: String...) -> String {
    cells.reduce("time,glucose (mg/dL)\n") { $0 + "\($1),110\n" }
  }

  private static func entries(_ values: String...) -> String {
    let objects = values.enumerated().map {
      "{\"type\":\"sgv\",\"date\":\(1_772_352_000_000 + $0.offset * 300_000),\"sgv\":\($0.element)}"
    }
    return "[" + objects.joined(separator: ",") + "]"
  }

  static let values: [NastyInput] = [
    NastyInput(
      "25 words for low and high", values("Low", "HI", "Niedrig", "Alto", "<40", ">400"), status: 0, new: 6),
    NastyInput("25 words for no value", values("110", "---", "NaN", "null", "#N/A"), status: 0, new: 1),
    NastyInput(
      "25 zero and negative values", values("110", "112", "115", "0", "-1", "-110"), status: 3, new: 3,
      rejected: 3),
    NastyInput(
      "25 values of which most are no glucose", values("110", "-1", "-110"), status: 65,
      new: nil, says: "--force"),
    NastyInput("25 error codes of Nightscout", entries("110", "5", "10", "39", "401"), status: 0, new: 3),
    NastyInput("28 mmol/L in a mg/dL column", values("110", "5.6", "112"), status: 3, new: 2, rejected: 1),
    NastyInput(
      "28 mg/dL in a mmol/L column",
      "time,glucose (mmol/L)\n2026-03-01T08:00:00,5.6\n2026-03-01T08:05:00,101\n2026-03-01T08:10:00,5.8\n",
      status: 3, new: 2, rejected: 1),
    NastyInput("29 thousands separators", values("110", "\"1,234\"", "112"), status: 3, new: 2, rejected: 1),
    NastyInput(
      "29 no-break blanks and units", values("110\u{A0}mg/dL", " 112 mg/dl", "\u{202F}113"), status: 0, new: 3
    ),
    NastyInput("29 an exponent", values("110", "1.2E+02"), status: 3, new: 1, rejected: 1),
    NastyInput(
      "30 ten decimals", "time,glucose (mmol/L)\n2026-03-01T08:00:00,5.639970043208873\n", status: 0, new: 1),
  ]

  static let times: [NastyInput] = [
    NastyInput(
      "33 days and months mixed", times("13/01/2026 08:00", "01/13/2026 08:05"), status: 65, new: nil),
    NastyInput("33 days or months", times("03/04/2026 08:00"), status: 65, new: nil, says: "--date-order"),
    NastyInput("34 the hour that spring skips", times("2026-03-29T02:30:00"), status: 0, new: 1),
    NastyInput(
      "34 the hour that autumn repeats",
      "time,glucose (mg/dL)\n2025-10-26T02:30:00,110\n2025-10-26T02:30:00,120\n", status: 0, new: 2),
    NastyInput(
      "35 a meter without a set clock", times("2000-01-01T00:05:00", "1961-01-01T00:05:00"), status: 0, new: 2
    ),
    NastyInput(
      "35 days and times that do not exist",
      times(
        "2026-02-28T08:00:00", "2026-02-29T08:00:00", "2026-04-31T08:00:00", "2026-04-30T24:00:01",
        "2026-04-30T12:60:00", "2026-04-30T12:00:61"), status: 3, new: 1, rejected: 5),
    NastyInput(
      "36 a day of three digits", times("2026-03-01T08:00:00Z", "2025-07-067T05:11:23Z"), status: 3, new: 1,
      rejected: 1),
    NastyInput(
      "36 spellings of ISO 8601",
      times(
        "2026-03-01t08:00:00z", "\"2026-03-01T08:01:00,5Z\"", "2026-03-01T08:02:00.123456789Z",
        "2026-03-01T08:03:00+0100"), status: 0, new: 4),
    NastyInput("37 epoch seconds", times("1772352000", "1772352300"), status: 0, new: 2),
    NastyInput("37 epoch milliseconds", times("1772352000000", "1772352300000"), status: 0, new: 2),
    NastyInput("37 times with dots", times("14.03.2026 07.12.35"), status: 0, new: 1),
    NastyInput(
      "37 a narrow blank before PM", times("03/14/2026 8:00\u{202F}PM", "03/14/2026 8:05 a.m."), status: 0,
      new: 2),
    NastyInput(
      "38 date and time in two columns", "date,time,glucose (mg/dL)\n2026-03-01,08:00,110\n", status: 0,
      new: 1),
    NastyInput("38 only a date", "date,glucose (mg/dL)\n2026-03-01,110\n", status: 65, new: nil),
    NastyInput(
      "39 rows in no order", times("2026-03-01T09:00:00", "2026-03-01T07:00:00", "2026-03-01T08:00:00"),
      status: 0,
      new: 3),
  ]
}
