// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import TestProgram
import Testing

/// Tests the period of `stats`, `report` and `day` with the built program, if the command line does not give
/// both ends.
@Suite(.timeLimit(.minutes(10)))
struct PeriodTests {
  private func add(_ record: String..., to program: Program) async throws {
    let added = try await program.run(arguments: ["record", "add"] + record + ["--quiet"])
    #expect(added.status == 0, "\(added.errors)")
  }

  private func figures(_ program: Program, _ arguments: String...) async throws -> [String: any Sendable] {
    let outcome = try await program.run(arguments: ["stats", "--json"] + arguments)
    #expect(outcome.status == 0, "\(outcome.errors)")
    return try #require(try outcome.objects().first)
  }

  /// The units of insulin in the whole period.
  private func insulin(_ figures: [String: any Sendable]) -> Int? {
    let total = figures["total"] as? [String: any Sendable]
    let insulin = (total?["insulin"] as? [String: any Sendable])?["all"] as? [String: any Sendable]
    return insulin?["total"] as? Int
  }

  // MARK: - Sensors side by side

  /// Four days of sensor values from a reader, and from a phone whose values are 7 minutes later. The reader
  /// pauses for an hour on the second day.
  private static let readerAndPhone: (reader: String, phone: String) = {
    var (reader, phone) = (ReadingRows(), ReadingRows())
    reader.addSamples(137, every: 15, from: "2026-05-02T00:03", serial: "A reader", base: 90)
    reader.addSamples(243, every: 15, from: "2026-05-03T11:18", serial: "A reader", base: 90)
    phone.addSamples(384, every: 15, from: "2026-05-02T00:10", serial: "B phone", base: 140)
    return (reader.csv, phone.csv)
  }()

  private static func program(importing files: [String]) async throws -> Program {
    let program = try Program()
    for (index, csv) in files.enumerated() {
      try program.write(csv, to: "\(index).csv")
      let imported = try await program.run(
        "import", "--quiet", "--timezone", "UTC", program.path("\(index).csv"))
      #expect(imported.status == 0, "\(imported.errors)")
    }
    return program
  }

  @Test func theOrderOfImportsDoesNotDetermineWhichSensorIsUsed() async throws {
    let (reader, phone) = Self.readerAndPhone
    let first = try await Self.program(importing: [reader, phone])
    let second = try await Self.program(importing: [phone, reader])
    let figures = try await first.run("stats", "--json", "--by", "day")
    #expect(try await second.run("stats", "--json", "--by", "day").output == figures.output)
    let curves = try await first.run("day", "2026-05-03", "--json").output
    #expect(try await second.run("day", "2026-05-03", "--json").output == curves)
    // The figures include all values of the reader, and those of the phone only in the pause of the reader.
    let sensor = try #require(try figures.objects().first?["total"] as? [String: any Sendable])["sensor"]
    #expect((sensor as? [String: any Sendable])?["readings"] as? Int == 380 + 3)
  }

  @Test(arguments: ["2026-05-02", "2026-05-03", "2026-05-04", "2026-05-05"])
  func aDayHasTheSameSensorFiguresInEveryPeriod(_ day: String) async throws {
    let (reader, phone) = Self.readerAndPhone
    let program = try await Self.program(importing: [phone, reader])
    let all = try await program.run("stats", "--json", "--by", "day").objects()
    let groups = try #require(all.first?["groups"] as? [[String: any Sendable]])
    let group = try #require(groups.first { $0["group"] as? String == day })
    let next = try #require(DeviceTime(text: "\(day)T00:00")).seconds + 86400
    let until = String(DeviceTime(seconds: next).text.prefix(10))
    let alone = try await figures(program, "--since", day, "--until", until)
    let total = try #require(alone["total"] as? [String: any Sendable])
    for name in ["readings", "minutes", "mean", "lowest", "highest"] {
      let values = [group, total].map { figures in
        let figure = (figures["sensor"] as? [String: any Sendable])?[name]
        return (figure as? [String: any Sendable])?["value"] as? Double ?? figure as? Double
      }
      #expect(values[0] != nil && values[0] == values[1], "\(name)")
    }
  }

  // MARK: - The end

  @Test func thePeriodOfStatisticsEndsWithTheDayOfTheNewestReading() async throws {
    let program = try await ReadingRows.sticks()
    #expect(try await figures(program)["until"] as? String == "2026-03-03T08:00:01Z")
    try await add("insulin", "4", "--at", "2026-03-03T20:00", to: program)
    try await add("insulin", "9", "--at", "2026-03-05T08:00", to: program)
    try await add("note", "a walk", "--at", "2026-03-07T08:00", to: program)
    let all = try await figures(program, "--last", "2d")
    #expect(all["since"] as? String == "2026-03-02T00:00:00Z")
    #expect(all["until"] as? String == "2026-03-03T20:00:01Z" && insulin(all) == 4)
    // A record has no device, so records are left out.
    let device = try await figures(program, "--device", "A-1")
    #expect(device["until"] as? String == "2026-03-02T08:00:01Z" && insulin(device) == 0)
    let page = try await program.run("report", "--pages", "all", "-o", "-").output
    #expect(page.contains("2026-02-18 – 2026-03-03") && !page.contains("Note a walk"))
    let open = try await program.run("report", "--since", "2026-03-02", "--pages", "all", "-o", "-").output
    #expect(open.contains("2026-03-02 – 2026-03-07") && open.contains("Note a walk"))
  }

  @Test func recordsAfterThePeriodOfStatisticsAreReported() async throws {
    let program = try await ReadingRows.sticks()
    #expect(try await program.run("stats").errors == "")
    try await add("insulin", "9", "--at", "2026-03-05T08:00", to: program)
    let words =
      "glucoport: the figures end with the newest reading, 2026-03-03 08:00; records up to 2026-03-05 08:00 are newer and not in them; to add them: --since 2026-02-18\n"
    #expect(try await program.run("stats").errors == words)
    #expect(try await program.run("stats", "--json").errors == words)
    #expect(try await program.run("report", "-o", "-", "--quiet").errors == words)
    let open = try await program.run("stats", "--since", "2026-02-18")
    #expect(open.errors == "" && open.output.contains("Insulin: 9.0 U"), "\(open)")
  }

  /// The readings state their offsets. The newest one was taken far to the east or to the west of home.
  @Test(arguments: [
    ("America/New_York", 540, "2026-05-23T22:11:07Z", "2026-05-24"),
    ("Asia/Tokyo", -420, "2026-05-25T05:55:00Z", "2026-05-24"),
  ])
  func aJourneyAtTheEndOfTheDataIsInThePeriod(
    _ home: String, _ minutes: Int, _ newest: String, _ last: String
  ) async throws {
    let program = try Program()
    let days = (11...22).map { "2026-05-\($0)T15:00:00Z" } + [newest]
    let entries = days.map {
      #"{"type":"mbg","mbg":120,"dateString":"\#($0)","utcOffset":\#($0 == newest ? minutes : 0)}"#
    }
    try program.write("[\(entries.joined(separator: ","))]", to: "entries.json")
    let imported = try await program.run(
      "import", "--quiet", "--timezone", home, program.path("entries.json"))
    #expect(imported.status == 0, "\(imported.errors)")
    let stats = try await program.run("stats")
    #expect(stats.output.contains("… \(last) · 14 days") && stats.errors == "", "\(stats)")
  }

  @Test func aPeriodWithoutReadingsNamesTheNewestReading() async throws {
    let program = try await ReadingRows.sticks()
    let newest = "the newest reading is of 2026-03-03 08:00; to see it: "
    for arguments in [["stats"], ["stats", "--json"], ["stats", "--by", "day", "--format", "csv"]] {
      let stats = try await program.run(
        arguments: arguments + ["--since", "2026-04-01", "--until", "2026-04-15"])
      #expect(
        stats.status == 0
          && stats.errors
            == "glucoport: no readings from 2026-04-01 to 2026-04-14; \(newest)'glucoport stats --last 14d'\n",
        "\(stats)")
    }
    let store = ["--store", program.store]
    let day = try await program.run(
      arguments: ["day", "2026-03-10", "--device", "B 2"] + store)
    #expect(day.status == 66, "\(day)")
    let ofDevice = try await program.run(arguments: ["day", "2026-03-10", "--device", "A-1"] + store)
    #expect(
      ofDevice.errors
        == "glucoport: no readings on 2026-03-10; the newest reading is of 2026-03-02 08:00; to see it: 'glucoport day --store \(program.store) 2026-03-02 --device A-1'\n",
      "\(ofDevice)")
    let page = try await program.run("report", "--since", "2026-04-01", "--until", "2026-04-15", "-o", "-")
    #expect(
      page.status == 0 && page.errors.contains("\(newest)'glucoport report --last 14d --output -'\n")
        && page.errors.contains("2026-04-01 to 2026-04-14, 0 readings\n"), "\(page.errors)")
    // This period has no end, and begins after all data.
    let late = try await program.run("stats", "--since", "2026-04-01")
    #expect(
      late.output == "no readings\n"
        && late.errors == "glucoport: no readings in this period; \(newest)'glucoport stats --last 14d'\n",
      "\(late)")
    let none = try await program.run("report", "--since", "2026-04-01", "-o", "-")
    #expect(
      none.status == 66 && none.errors.contains("\(newest)'glucoport report --last 14d --output -'\n")
        && none.errors.contains("no readings and no records in this period; there is nothing"), "\(none)")
    // The day of the newest item is also shown if it has no readings.
    try await add("note", "a walk", "--at", "2026-03-07T08:00", to: program)
    let last = try await program.run("day")
    #expect(
      last.output.hasPrefix("Saturday 2026-03-07 · ")
        && last.errors.contains("no readings on 2026-03-07; \(newest)'glucoport day 2026-03-03'"), "\(last)")
    #expect(try await program.run("day", "2026-03-03").errors == "")
  }

  @Test func anItemInTheFarFutureDoesNotExtendThePeriodOfStatistics() async throws {
    let program = try await ReadingRows.sticks()
    try await add("insulin", "4", "--at", "2099-01-01T08:00", "--force", to: program)
    var rows = ReadingRows()
    rows.add(.smbg, "300", at: "2099-01-02T08:00", serial: "A-1")
    try program.write(rows.csv, to: "future.csv")
    let imported = try await program.run("import", "--quiet", program.path("future.csv"))
    #expect(imported.status == 0, "\(imported.errors)")
    for arguments in [[], ["--since", "2026-03-01"]] {
      let outcome = try await program.run(arguments: ["stats", "--json"] + arguments)
      let figures = try #require(try outcome.objects().first)
      #expect(figures["until"] as? String == "2026-03-03T08:00:01Z" && insulin(figures) == 0, "\(arguments)")
    }
    #expect(try await program.run("day").output.hasPrefix("Tuesday 2026-03-03 · "))
    // The day in the far future is shown on request.
    #expect(try await program.run("day", "2099-01-01", "--plain").output.contains("08:00 insulin 4 U."))
  }

  /// The clock of a meter or of another computer may be some minutes fast.
  @Test func statisticsIncludeReadingsAFewMinutesInTheFuture() async throws {
    let program = try await ReadingRows.sticks()
    let soon = Int64(Date().timeIntervalSince1970) + 600
    func time(_ seconds: Int64) -> String { DeviceTime(seconds: seconds).text + "Z" }
    try await add("insulin", "4", "--at", time(soon), "--force", to: program)
    for arguments in [["--since", "1d"], ["--since", "1d", "--until", time(soon + 3600)]] {
      let outcome = try await program.run(arguments: ["stats", "--json"] + arguments)
      let figures = try #require(try outcome.objects().first)
      #expect(insulin(figures) == 4 && figures["until"] as? String == time(soon + 1), "\(arguments)")
    }
    let before = try await figures(program, "--since", "1d", "--until", time(soon))
    #expect(insulin(before) == 0)
    for arguments in [[], [time(soon)]] {
      #expect(
        try await program.run(arguments: ["day", "--plain"] + arguments).output.contains("insulin 4 U."),
        "\(arguments)")
    }
  }

  /// The clock of the meter has the time of Greenwich. It still showed the evening of a day when the next day
  /// had begun in Madrid.
  @Test func theLastDayOfAPeriodFollowsTheClockOfTheNewestReading() async throws {
    let program = try Program()
    var rows = ReadingRows()
    rows.add(.smbg, "100", at: "2026-03-02T23:30")
    try program.write(rows.csv, to: "rows.csv")
    let imported = try await program.run(
      "import", "--quiet", "--timezone", "Europe/Madrid", program.path("rows.csv"))
    #expect(imported.status == 0, "\(imported.errors)")
    let stats = try await program.run("stats").output
    #expect(stats.hasPrefix("2026-02-17 … 2026-03-02 · 14 days · zone Europe/Madrid"), "\(stats)")
    #expect(stats.contains("1 reading on 1 day"), "\(stats)")
    #expect(
      try await program.run("stats", "--last", "1d").output.hasPrefix("2026-03-02 … 2026-03-02 · 1 day "))
    #expect(try await program.run("day").output.hasPrefix("Monday 2026-03-02 · "))
  }

  // MARK: - The beginning

  @Test func aPeriodFromTheYearOneBeginsWithTheFirstReading() async throws {
    let program = try await ReadingRows.sticks()
    for since in ["0001-01-01", "36525d", "2025-03-01"] {
      let table = try await program.run("stats", "--since", since, "--by", "day").output
      #expect(table.hasPrefix("2026-03-02 … 2026-03-03 · 2 days · "), "\(since)")
      #expect(table.contains("\n2026-03-02 ") && !table.contains("\n2026-03-01 "))
      let page = try await program.run("report", "--since", since, "-o", "-").output
      #expect(page.contains("2026-03-02 – 2026-03-03") && page.contains("· 2 days<"), "\(since)")
    }
    // If the time without data is shorter than a year, it is a part of the period.
    let year = try await program.run("stats", "--since", "2025-03-02").output
    #expect(year.hasPrefix("2025-03-02 … 2026-03-03 · 367 days · "))
  }

  // MARK: - Without readings

  @Test func statsAndDayWorkForAStoreWithOnlyRecords() async throws {
    let program = try Program()
    #expect(try await program.run("config", "timezone", "UTC").status == 0)
    try await add("insulin", "4", "--at", "2026-03-02T08:00", to: program)
    try await add("food", "45", "g", "--at", "2026-03-02T08:00", to: program)
    let stats = try await program.run("stats").output
    #expect(stats.hasPrefix("2026-02-17 … 2026-03-02 · 14 days · zone UTC"))
    #expect(stats.contains("\nInsulin: 4.0 U, ") && stats.contains("\nCarbohydrates: 45.0 g, "))
    let day = try await program.run("day").output
    #expect(day.hasPrefix("Monday 2026-03-02 · ") && day.contains("\nno readings\n"))
    #expect(day.contains("Insulin 4 U") && day.contains("Carbohydrates 45 g"))
    let page = try await program.run("report", "--pages", "all", "-o", "-")
    #expect(page.status == 0 && page.output.contains("Food 45 g · Insulin 4 U"), "\(page.errors)")
    // Without readings there is no device, so there are no groups.
    #expect(try await program.run("stats", "--by", "device").output == stats)
    // A note is in no statistics, but `day` shows it.
    let notes = try Program()
    #expect(try await notes.run("config", "timezone", "UTC").status == 0)
    try await add("note", "a walk", "--at", "2026-03-02T08:00", to: notes)
    #expect(try await notes.run("stats").output == "no readings\n")
    #expect(try await notes.run("day", "--plain").output.contains("08:00 note a walk.\n"))
  }

  /// The export of another program may contain any number. Every command that reads records must accept it.
  @Test(arguments: [
    "{\"rate\":1,\"minutes\":-1e300,\"subtype\":\"basal\"}",
    "{\"rate\":1e300,\"minutes\":1e300,\"subtype\":\"basal\"}", "{\"units\":1e300}", "{\"units\":-1e300}",
    "{\"units\":1,\"extended\":1e19,\"minutes\":1e19}",
  ])
  func impossibleAmountsDoNotStopStatisticsAndDays(_ fields: String) async throws {
    let program = try await ReadingRows.sticks()
    let record =
      "{\"item\":\"record\",\"kind\":\"insulin\",\"time\":\"2026-03-03T09:00:00Z\",\"device_time\":\"2026-03-03T09:00:00\",\"utc_offset\":\"Z\",\"offset_source\":\"stated\",\"guid\":\"9d9cf28c-37f7-4c53-9302-e6a9c2c67df0\",\"entry_guid\":null,\"fields\":\(fields),\"deleted\":false}\n"
    try program.write(record, to: "record.ndjson")
    let imported = try await program.run("import", "--quiet", program.path("record.ndjson"))
    #expect(imported.status == 0, "\(imported.errors)")
    for arguments in [
      ["stats"], ["stats", "--json"], ["stats", "--by", "day"], ["day"], ["day", "--plain"],
      ["report", "-o", "-", "--quiet"], ["list", "--plot"],
    ] {
      let outcome = try await program.run(arguments: arguments)
      #expect(outcome.status == 0 && outcome.errors == "", "\(arguments): \(outcome.errors)")
    }
    // If the duration of a rate is impossible, its amount is unknown, so there is no total.
    let total =
      fields.contains("rate") ? nil : fields.contains("\"units\":1,") ? 1 : 0
    #expect(insulin(try await figures(program)) == total)
  }
}
