// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestProgram
import Testing

/// Tests `count`, and items that are counted once, with the built program. The data are a diary and the Apple
/// Health export of the same phone.
@Suite(.timeLimit(.minutes(5)))
struct CountTests {
  private static let columns = [
    "Date", "Time", "Tags", "Blood Glucose Measurement (mg/dL)", "Insulin Injection Units (Pen)",
    "Basal Injection Units", "Insulin Injection Units (pump)", "Insulin (Meal)", "Insulin (Correction)",
    "Temporary Basal Percentage", "Temporary Basal Duration (Minutes)",
    "Meal Carbohydrates (Grams, Factor 1)",
    "Meal Descriptions", "Activity Duration (Minutes)",
    "Activity Intensity (1: Cosy, 2: Ordinary, 3: Demanding)", "Activity Description", "Steps", "Note",
    "Location", "Blood pressure", "Body weight (lbs)", "HbA1c (Percent)", "Ketones", "Food type",
    "Medication",
  ]

  /// Four days, each with a finger stick, a dose and a meal. The first day has 5.5 U and 45 g. Each later day
  /// has 1 U and 1 g more.
  private static let diary = diary(days: 4)

  private static func diary(days: Int) -> String {
    let rows = (0..<days).map { day in
      var cells = [String](repeating: "", count: columns.count)
      cells[0] = "May \(day + 4), 2026"
      cells[1] = "8:00:27 AM"
      (cells[3], cells[4], cells[11]) = ("\(110 + day)", "\(5.5 + Double(day))", "\(45 + day)")
      return cells
    }
    return ([columns] + rows).map { $0.map { "\"\($0)\"" }.joined(separator: ",") + "\n" }.joined()
  }

  /// The items of `diary` in the Apple Health export of the phone. Their times have no seconds, and are
  /// `minutes` later.
  ///
  /// - Parameter earlier: the day whose dose, meal and value differ from those of the diary; nil for none.
  private static func phone(
    minutes: Int = 0, seconds: String = "00", days: Int = 4, earlier: Int? = nil
  ) -> String {
    let records = (0..<days).map { day -> String in
      let time =
        "2026-05-\(day < 6 ? "0" : "")\(day + 4) 08:\(minutes < 10 ? "0" : "")\(minutes):\(seconds) +0200"
      let less = day == earlier ? 3 : 0
      func record(_ type: String, _ unit: String, _ value: String, _ more: String) -> String {
        " <Record type=\"HKQuantityTypeIdentifier\(type)\" sourceName=\"mySugr\" unit=\"\(unit)\" startDate=\"\(time)\" value=\"\(value)\">\(more)</Record>\n"
      }
      let bolus = "<MetadataEntry key=\"HKInsulinDeliveryReason\" value=\"2\"/>"
      return record("InsulinDelivery", "IU", "\(5.5 + Double(day - less))", bolus)
        + record("DietaryCarbohydrates", "g", "\(45 + day - less)", "")
        + record("BloodGlucose", "mg/dL", "\(110 + day - less)", "")
    }
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<HealthData locale=\"en_US\">\n"
      + " <ExportDate value=\"2026-05-31 18:21:36 +0200\"/>\n" + records.joined() + "</HealthData>\n"
  }

  private static func program(minutes: Int = 0) throws -> Program {
    let program = try Program()
    try program.write(diary, to: "diary.csv")
    try program.write(phone(minutes: minutes), to: "export.xml")
    return program
  }

  private static func importBoth(_ program: Program, quiet: Bool = false) async throws -> Program.Outcome {
    let first = try await program.run(
      "import", "--quiet", "--timezone", "Europe/Madrid", program.path("diary.csv"))
    #expect(first.status == 0 && first.errors == "", "\(first.errors)")
    let arguments = ["import", program.path("export.xml")] + (quiet ? ["--quiet"] : [])
    return try await program.run(arguments: arguments)
  }

  private static func figures(_ program: Program, _ arguments: String...) async throws -> [String:
    any Sendable]
  {
    let outcome = try await program.run(arguments: ["stats", "--json", "--last", "30d"] + arguments)
    let objects = try outcome.objects()
    return try #require(objects.first?["total"] as? [String: any Sendable])
  }

  private static func total(_ figures: [String: any Sendable], _ section: String, _ part: String) -> Double? {
    ((figures[section] as? [String: any Sendable])?[part] as? [String: any Sendable])?["total"] as? Double
  }

  @Test func statsCountEqualDosesMealsAndFingerSticksOfTwoSourcesOnce() async throws {
    let program = try Self.program()
    let imported = try await Self.importBoth(program)
    #expect(imported.status == 0)
    #expect(
      imported.output.contains("4 doses also in mySugr: counted once; to count both: 'glucoport count both"))
    let once = try await Self.figures(program)
    #expect(Self.total(once, "insulin", "all") == 28 && Self.total(once, "carbohydrates", "grams") == 186)
    #expect((once["finger_sticks"] as? [String: any Sendable])?["readings"] as? Int == 4)
    #expect((once["left_out"] as? [String: any Sendable])?["doubled"] as? Int == 12)
    let all = try await Self.figures(program, "--count", "all")
    #expect(Self.total(all, "insulin", "all") == 56 && Self.total(all, "carbohydrates", "grams") == 372)
    let again = try await program.run("import", program.path("export.xml"))
    #expect(!again.output.contains("counted once"))
  }

  @Test func amountsThatTheDiaryCorrectedLaterCountOnceAndAreNamed() async throws {
    let program = try Program()
    try program.write(Self.diary(days: 8), to: "diary.csv")
    try program.write(Self.phone(seconds: "27", days: 8, earlier: 4), to: "export.xml")
    let imported = try await Self.importBoth(program)
    #expect(imported.status == 0)
    for items in [
      "7 doses also in mySugr: counted once", "1 dose with another amount in mySugr: counted once",
      "1 meal with another amount in mySugr", "1 finger stick with another value in mySugr",
    ] {
      #expect(imported.output.contains(items), "\(imported.output)")
    }
    let once = try await Self.figures(program)
    #expect(Self.total(once, "insulin", "all") == 72 && Self.total(once, "carbohydrates", "grams") == 388)
    #expect((once["finger_sticks"] as? [String: any Sendable])?["readings"] as? Int == 8)
    let leftOut = try await program.run("list", "--left-out").output
    #expect(
      leftOut.contains("insulin  6.5 U") && leftOut.contains("(left out: mySugr has it with another amount"))
    let stats = try await program.run("stats", "--last", "30d").output
    #expect(stats.contains("1 dose of Apple Health (mySugr): with another amount in mySugr, which counts"))
    #expect(try await program.run("count", "both", "mysugr", "apple-health").status == 0)
    let both = try await Self.figures(program)
    #expect(Self.total(both, "insulin", "all") == 141)
  }

  @Test func aQuietImportReportsOnceThatItemsAreCountedOnce() async throws {
    let program = try Self.program()
    let imported = try await Self.importBoth(program, quiet: true)
    #expect(imported.output == "" && imported.errors.contains("4 doses also in mySugr: counted once"))
    let again = try await program.run("import", "--quiet", program.path("export.xml"))
    #expect(again.output == "" && again.errors == "")
  }

  /// A row for each day with a finger stick, a dose and a meal, or only with the dose.
  private static func rows(_ clock: String, _ days: Int, onlyDose: Bool = false) -> String {
    (0..<days).map { day in
      var cells = [String](repeating: "", count: columns.count)
      (cells[0], cells[1], cells[4]) = ("May \(day + 4), 2026", clock, "5.5")
      if !onlyDose { (cells[3], cells[11]) = ("\(110 + day)", "45") }
      return cells
    }.map { $0.map { "\"\($0)\"" }.joined(separator: ",") + "\n" }.joined()
  }

  private static var headerRow: String { columns.map { "\"\($0)\"" }.joined(separator: ",") + "\n" }

  @Test func anImportOfEachItemTwiceReportsOneCopyOfEach() async throws {
    let program = try Program()
    try program.write(
      Self.headerRow + Self.rows("8:00:27 AM", 7) + Self.rows("8:00 AM", 7), to: "both.csv")
    let imported = try await program.run("import", "--timezone", "Europe/Madrid", program.path("both.csv"))
    for items in ["7 doses", "7 meals", "7 finger sticks"] {
      #expect(imported.output.contains("\(items) a second time"), "\(imported.output)\(imported.errors)")
    }
    #expect(try await program.run("log").output.contains("doubled 21"))
    #expect(Self.total(try await Self.figures(program), "insulin", "all") == 38.5)
  }

  /// A person splits a large dose, and types the second half together with a finger stick.
  @Test func aDoseEnteredInTwoHalvesWithinOneMinuteCountsCompletely() async throws {
    let program = try Program()
    try program.write(
      Self.headerRow + Self.rows("8:00:20 AM", 12, onlyDose: true) + Self.rows("8:00 AM", 12),
      to: "halves.csv")
    let imported = try await program.run("import", "--timezone", "Europe/Madrid", program.path("halves.csv"))
    #expect(!imported.output.contains("a second time"), "\(imported.output)\(imported.errors)")
    #expect(Self.total(try await Self.figures(program), "insulin", "all") == 132)
  }

  /// A spreadsheet program saved the diary, and truncated its times to the minute.
  @Test func dosesInTwoExportsOfOneAppAreCountedOnce() async throws {
    func diary(_ clock: String, _ days: Int) -> String { Self.headerRow + Self.rows(clock, days) }
    for order in [["own.csv", "cut.csv"], ["cut.csv", "own.csv"]] {
      let program = try Program()
      try program.write(diary("8:00:27 AM", 7), to: "own.csv")
      try program.write(diary("8:00 AM", 7), to: "cut.csv")
      let first = try await program.run(
        "import", "--timezone", "Europe/Madrid", program.path(order[0]))
      #expect(!first.output.contains("counted once"), "\(first.errors)")
      let second = try await program.run("import", "--quiet", program.path(order[1]))
      #expect(
        second.status == 0
          && second.errors.contains(
            "7 doses a second time, with another form of the time, in the other unit or under another id: counted once; to count both: 'glucoport count both mysugr mysugr'"
          ), "\(second.errors)")
      let once = try await Self.figures(program)
      #expect(Self.total(once, "insulin", "all") == 38.5 && Self.total(once, "carbohydrates", "grams") == 315)
      #expect((once["finger_sticks"] as? [String: any Sendable])?["readings"] as? Int == 7)
      #expect((once["left_out"] as? [String: any Sendable])?["doubled"] as? Int == 21)
      let both = try await program.run("count", "both", "mysugr", "mysugr")
      #expect(both.status == 0 && both.output == "both count: mysugr and mysugr\n", "\(both.errors)")
      #expect(Self.total(try await Self.figures(program), "insulin", "all") == 77)
      _ = try await program.run("count", "remove", "1")
      let undone = try await program.run("undo", "1", "--yes")
      #expect(undone.status == 0, "\(undone.errors)")
      #expect(Self.total(try await Self.figures(program), "insulin", "all") == 38.5)
      // After the undo of the first export, the second one has no copies, so the decision is refused.
      #expect(try await program.run("count", "both", "mysugr", "mysugr").status == 64)
    }
    // Two pairs of equal doses may be a coincidence, so all doses count.
    let few = try Program()
    try few.write(diary("8:00:27 AM", 2), to: "own.csv")
    try few.write(diary("8:00 AM", 2), to: "cut.csv")
    for name in ["own.csv", "cut.csv"] {
      let imported = try await few.run("import", "--timezone", "Europe/Madrid", few.path(name))
      #expect(!imported.output.contains("counted once"), "\(imported.output)")
    }
    #expect(Self.total(try await Self.figures(few), "insulin", "all") == 22)
  }

  @Test func aCountingDecisionIsMadeListedAndRemoved() async throws {
    let program = try Self.program()
    _ = try await Self.importBoth(program)
    let both = try await program.run("count", "both", "mysugr", "apple-health")
    #expect(both.status == 0 && both.output == "both count: mysugr and apple-health\n", "\(both.errors)")
    #expect(Self.total(try await Self.figures(program), "insulin", "all") == 56)
    let list = try await program.run("count")
    #expect(
      list.output.contains("  1  both count: apple-health and mysugr\n"), "\(list.output)\(list.errors)")
    let removed = try await program.run("count", "remove", "1")
    #expect(removed.output == "removed: both count: apple-health and mysugr\n")
    #expect(Self.total(try await Self.figures(program), "insulin", "all") == 28)
    let only = try await program.run(
      "count", "only", "mysugr", "--kind", "insulin", "--until", "2026-05-06")
    #expect(only.output == "only mysugr counts for insulin until 2026-05-06T00:00:00\n", "\(only.errors)")
    let same = try await program.run("count", "only", "mysugr", "--kind", "insulin", "--until", "2026-05-06")
    #expect(same.output.hasPrefix("unchanged: "))
  }

  @Test func dayAndListShowRepeatedItemsWithTheReasonForLeavingThemOut() async throws {
    let program = try Self.program()
    _ = try await Self.importBoth(program)
    let day = try await program.run("day", "2026-05-05", "--plain")
    #expect(day.output.contains("insulin 6.5 U rapid (also in Apple Health"), "\(day.output)")
    #expect(day.output.contains("Insulin 6.5 U"))
    // Items that are left out are shown with the reason, also without colours.
    for line in [
      "08:00 insulin 6.5 U rapid (also in mySugr, not counted)",
      "08:00 food 46 g (also in mySugr, not counted)",
      "08:00: finger stick 111 (also in mySugr, not counted)",
    ] {
      #expect(day.output.contains("\n\(line).\n"), "\(day.output)")
      let picture = try await program.run("day", "2026-05-05")
      #expect(picture.output.contains("\n\(line)\n"), "\(picture.output)")
    }
    let list = try await program.run("list", "--left-out", "--kind", "insulin")
    #expect(list.output.split(separator: "\n").count == 4)
    #expect(list.output.contains("(left out: mySugr has it, too, as "), "\(list.output)")
  }

  @Test func theLogShowsTheNumberOfRepeatedItemsOfEachImport() async throws {
    let program = try Self.program()
    let first = try await program.run(
      "import", "--quiet", "--timezone", "Europe/Madrid", program.path("diary.csv"))
    #expect(first.status == 0, "\(first.errors)")
    #expect(try await !program.run("log").output.contains("doubled"))
    _ = try await program.run("import", "--quiet", program.path("export.xml"))
    let log = try await program.run("log")
    let lines = log.output.split(separator: "\n")
    #expect(lines.count == 2 && lines.allSatisfy { $0.hasSuffix(" · rejected 0 · doubled 12") }, "\(log)")
    let objects = try await program.run("log", "--json").objects()
    #expect(objects.map { $0["doubled"] as? Int } == [12, 12])
    let one = try await program.run("log", "1", "--json").objects()
    #expect(one.first?["doubled"] as? Int == 12)
    _ = try await program.run("count", "both", "mysugr", "apple-health")
    #expect(try await !program.run("log").output.contains("doubled"))
  }

  /// The sensor values of a day, and a phone that passes on twelve of them as finger sticks, next to one real
  /// finger stick.
  private static func relayed(_ count: Int = 12) async throws -> Program {
    let program = try Program()
    var rows = ReadingRows()
    rows.addSamples(288, every: 5, from: "2026-05-04")
    try program.write(rows.csv, to: "sensor.csv")
    let records = (0..<count + 1).map { index -> String in
      // The 96th sample is that of 8 o'clock. Values every 5 minutes would be read as those of a sensor.
      let (minutes, value) = index < count ? (index * 25, 90 + (96 + index * 5) * 7 % 90) : (3, 99)
      let time = "2026-05-04 " + String(format: "%02d:%02d:00 +0000", 8 + minutes / 60, minutes % 60)
      return
        " <Record type=\"HKQuantityTypeIdentifierBloodGlucose\" sourceName=\"Health Sync\" unit=\"mg/dL\" startDate=\"\(time)\" value=\"\(value)\"></Record>\n"
    }
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<HealthData locale=\"en_US\">\n"
    let date = " <ExportDate value=\"2026-05-31 18:21:36 +0000\"/>\n"
    try program.write(head + date + records.joined() + "</HealthData>\n", to: "export.xml")
    let sensor = try await program.run("import", "--quiet", "--timezone", "UTC", program.path("sensor.csv"))
    #expect(sensor.status == 0, "\(sensor.errors)")
    return program
  }

  @Test func statsDoNotCountCopiesOfSensorValuesAsFingerSticks() async throws {
    let program = try await Self.relayed()
    let imported = try await program.run("import", program.path("export.xml"))
    let line = "12 finger sticks with the own values of Vendor Meter S: not counted; to count them: "
    let command = "glucoport count both 'apple-health/Health Sync' 'f/Vendor Meter S'"
    #expect(imported.output.contains(line + command + "\n"), "\(imported)")
    let figures = try await Self.figures(program)
    #expect((figures["finger_sticks"] as? [String: any Sendable])?["readings"] as? Int == 1)
    #expect((figures["left_out"] as? [String: any Sendable])?["sensor_copies"] as? Int == 12)
    let text = try await program.run("stats", "--last", "30d").output
    #expect(text.contains("sensor copies 12"), "\(text)")
    #expect(text.contains("12 finger sticks of Apple Health (Health Sync): the own values of Vendor Meter S"))
    let day = try await program.run("day", "2026-05-04", "--plain").output
    #expect(
      day.contains(
        "12 finger sticks of Apple Health (Health Sync) with the own values of a sensor (not counted)"),
      "\(day)")
    let list = try await program.run("list", "--left-out").output
    #expect(list.split(separator: "\n").count == 12)
    #expect(list.contains("(left out: the own value of the sensor Vendor Meter S)"), "\(list)")
    let status = try await program.run("status").output
    #expect(status.contains("12 finger sticks with the own values of a sensor"), "\(status)")
    #expect(try await program.run("status", "--json").objects()[0]["sensor_copies"] as? Int == 12)
    let log = try await program.run("log").output
    #expect(log.contains("· copies of a sensor 12"), "\(log)")
    let details = try await program.run("log", "2", "--json").objects()[0]
    #expect(details["sensor_copies"] as? Int == 12 && details["doubled"] as? Int == 0)
    let both = try await program.run("count", "both", "health sync", "vendor meter s")
    #expect(both.status == 0, "\(both.errors)")
    let counted = try await Self.figures(program)
    #expect((counted["finger_sticks"] as? [String: any Sendable])?["readings"] as? Int == 13)
  }

  @Test func aFewValuesEqualToTheSensorAreCountedAsFingerSticks() async throws {
    let program = try await Self.relayed(10)
    let imported = try await program.run("import", program.path("export.xml"))
    #expect(imported.status == 0 && !imported.output.contains("own values"), "\(imported)")
    let figures = try await Self.figures(program)
    #expect((figures["finger_sticks"] as? [String: any Sendable])?["readings"] as? Int == 11)
  }

  @Test func fingerSticksOfTwoSourcesWithAConstantDelayHaveNoNumberPerDay() async throws {
    let program = try Self.program(minutes: 7)
    let imported = try await Self.importBoth(program)
    let line =
      "finger sticks of two sources on 4 days: Apple Health (mySugr) 1.0, mySugr 1.0 a day, the same values 0 h 7 min apart; both are counted, so there is no sum"
    #expect(imported.output.contains(line), "\(imported.output)")
    #expect(imported.output.contains("glucoport count only apple-health/mySugr --kind smbg"))
    let figures = try await Self.figures(program)
    let sticks = try #require(figures["finger_sticks"] as? [String: any Sendable])
    #expect((sticks["per_day"] as? [String: any Sendable])?["reason"] as? String == "two sources differ")
    let sources = sticks["sources"] as? [[String: any Sendable]]
    let shifts = Dictionary(
      uniqueKeysWithValues: (sources ?? []).map {
        ($0["source"] as? String ?? "", $0["shift_minutes"] as? Int)
      })
    #expect(shifts == ["mysugr/mySugr": -7, "apple-health/mySugr": 7], "\(shifts)")
    let page = try await program.run("report", "--last", "30d", "-o", "-")
    #expect(page.output.contains("0 h 7 min apart"))
    _ = try await program.run("count", "only", "mysugr", "--kind", "smbg")
    #expect(try await !program.run("stats", "--last", "30d").output.contains("finger sticks of two sources"))
  }

  @Test func twoDifferentDosesAreCountedOnceAfterADecision() async throws {
    let program = try Self.program(minutes: 20)
    _ = try await Self.importBoth(program)
    for (date, next) in [("2026-05-04", "2026-05-05"), ("2026-05-05", "2026-05-06")] {
      let rows = try await program.run(
        "list", "--long", "--kind", "insulin", "--since", date, "--until", next)
      let ids = rows.output.split(separator: "\n").compactMap {
        $0.firstMatch(of: /[0-9a-f]{8}-[0-9a-f-]{27}/)
      }
      try #require(ids.count == 2, "\(rows.output)")
      let once = try await program.run("count", "once", String(ids[0].output), String(ids[1].output))
      #expect(once.status == 0, "\(once.errors)")
    }
    // Half of the doses are matched. So it is not doubtful any more whether the sources state the same doses,
    // and the other doses have a sum.
    let day = try await program.run("day", "2026-05-04", "--plain")
    #expect(day.output.contains("Insulin 5.5 U"), "\(day.output)")
    let other = try await program.run("day", "2026-05-06", "--plain")
    #expect(other.output.contains("Insulin 15 U"), "\(other.output)")
  }

  @Test func twoSourcesWithoutMatchingDosesHaveSeparateTotalsAndNoSum() async throws {
    let program = try Self.program(minutes: 20)
    let imported = try await Self.importBoth(program)
    #expect(imported.output.contains("bolus insulin of two sources on 4 days"), "\(imported.output)")
    let text = try await program.run("stats", "--last", "30d")
    #expect(text.output.contains("Insulin: no sum"), "\(text.output)")
    #expect(text.output.contains("glucoport count only"))
    let page = try await program.run("report", "--last", "30d", "--language", "de", "-o", "-")
    #expect(page.output.contains("Darum steht hier keine Summe"))
    let figures = try await Self.figures(program)
    #expect(Self.total(figures, "insulin", "all") == nil)
    let sources = (figures["insulin"] as? [String: any Sendable])?["sources"] as? [[String: any Sendable]]
    #expect(sources?.compactMap { $0["total"] as? Double } == [28, 28])
    #expect(sources?.allSatisfy { $0["differs_from"] is String } == true)
    _ = try await program.run("count", "both", "mysugr", "apple-health")
    #expect(Self.total(try await Self.figures(program), "insulin", "all") == 56)
    _ = try await program.run("count", "remove", "1")
    // The app mySugr in the Apple Health export is another source than the diary, so only the diary counts.
    _ = try await program.run("count", "only", "mysugr", "--kind", "insulin")
    #expect(Self.total(try await Self.figures(program), "insulin", "all") == 28)
  }

  @Test func twoSourcesWithoutMatchingDosesThatCountOnceStillHaveNoSum() async throws {
    let program = try Self.program(minutes: 20)
    _ = try await Self.importBoth(program)
    let once = try await program.run("count", "once", "mysugr", "apple-health")
    #expect(
      once.status == 0 && once.output.hasPrefix("counted once: mysugr and apple-health\n"), "\(once.errors)")
    #expect(once.output.contains("bolus insulin of two sources on 4 days"), "\(once.output)")
    #expect(
      once.output.contains(
        "count one: 'glucoport count only apple-health/mySugr --kind insulin' or "
          + "'glucoport count only mysugr --kind insulin'; add them up"),
      "\(once.output)")
    let figures = try await Self.figures(program)
    #expect(Self.total(figures, "insulin", "all") == nil)
    #expect(Self.total(figures, "carbohydrates", "grams") == nil)
    let both = try await program.run("count", "both", "mysugr", "apple-health")
    #expect(both.output == "both count: mysugr and apple-health\n", "\(both.output)")
    #expect(Self.total(try await Self.figures(program), "insulin", "all") == 56)
  }

  @Test func twoSourcesWithMatchingDosesThatCountOnceHaveOneSum() async throws {
    let program = try Self.program()
    _ = try await Self.importBoth(program)
    let once = try await program.run("count", "once", "mysugr", "apple-health")
    #expect(once.output == "counted once: mysugr and apple-health\n", "\(once.output)")
    #expect(Self.total(try await Self.figures(program), "insulin", "all") == 28)
  }

  @Test func twoSourcesWithoutMatchingDosesHaveNoSumInAShortPeriodEither() async throws {
    let program = try Self.program(minutes: 20)
    _ = try await Self.importBoth(program)
    for arguments in [
      ["stats", "--last", "1d"], ["day", "2026-05-05", "--plain"], ["report", "--last", "1d", "-o", "-"],
      ["stats", "--since", "2026-05-04", "--until", "2026-05-05"],
    ] {
      let outcome = try await program.run(arguments: arguments)
      #expect(outcome.status == 0)
      #expect(outcome.output.contains("two sources"), "\(arguments): \(outcome.output)")
      #expect(!outcome.output.contains("Insulin 13 U") && !outcome.output.contains("11 U,"))
    }
    // Days with only one source keep their sum.
    let day = try await program.run(
      "stats", "--since", "2026-05-01", "--until", "2026-05-04", "--by", "day")
    #expect(!day.output.contains("no sum"), "\(day.output)")
  }

  @Test func anExportContainsTheCountingDecisions() async throws {
    let program = try Self.program()
    _ = try await Self.importBoth(program)
    _ = try await program.run("count", "both", "mysugr", "apple-health")
    let exported = try await program.run("export", "--format", "ndjson")
    #expect(exported.output.contains("\"kind\":\"count\""))
    try program.write(exported.output, to: "all.ndjson")
    let other = try await program.run(
      "import", "--quiet", "--store", program.path("other.db"), program.path("all.ndjson"))
    #expect(other.status == 0, "\(other.errors)")
    let outcome = try await program.run(
      "stats", "--json", "--last", "30d", "--store", program.path("other.db"))
    let total = try #require(try outcome.objects().first?["total"] as? [String: any Sendable])
    #expect(Self.total(total, "insulin", "all") == 56)
  }

  @Test(
    arguments: [
      (["count", "both", "mysugr", "mysugar"], 66, "this logbook has no such source; its sources are"),
      (["count", "both", "mysugr", "MySugr"], 64, "one source"),
      (["count", "once", "mysugr", "mysugr/mySugr"], 64, "both name one source"),
      (
        ["count", "only", "mysugr", "--kind", "ketone"], 66,
        "no ketone readings of this source, so no ketone readings would count"
      ),
      (["count", "both", "mysugr", "abcdef"], 66, "no such reading or record"),
      (["count", "only", "mysugr", "--kind", "note"], 64, "--kind"),
      (
        ["count", "only", "mysugr", "--kind", "food", "--since", "2026-05-02", "--until", "2026-05-01"], 64,
        "--until is not after --since"
      ), (["count", "remove", "1"], 66, "there is no such decision"),
      (["list", "--left-out", "--days"], 64, "--left-out is only for tables"),
    ] as [([String], Int32, String)])
  func countRefusesSourcesAndItemsThatDoNotExist(_ arguments: [String], _ status: Int32, _ words: String)
    async throws
  {
    let program = try Self.program()
    _ = try await Self.importBoth(program)
    let outcome = try await program.run(arguments: arguments)
    #expect(outcome.status == status && outcome.errors.contains(words), "\(outcome.errors)")
  }

  // MARK: Changes of an item that has copies

  @Test func anEditOfADoseReportsTheCopyThatCountsAfterwards() async throws {
    let program = try Self.program()
    _ = try await Self.importBoth(program)
    let doses = try await program.run("list", "--kind", "insulin", "--format", "ndjson").output.split(
      separator: "\n")
    let line = try #require(doses.first { $0.contains("mysugr") && $0.contains("5.5") })
    let id = try #require(line.firstMatch(of: /"(?:id|guid)":"([0-9a-f]{8})/)?.1)
    // An edit that keeps the amount changes nothing about the copy.
    let same = try await program.run("record", "edit", String(id), "--note", "soup")
    #expect(same.status == 0 && same.errors == "", "\(same.errors)")
    let edited = try await program.run("record", "edit", String(id), "7", "U")
    #expect(edited.status == 0, "\(edited.errors)")
    let copy = try #require(edited.errors.firstMatch(of: /glucoport record hide ([0-9a-f]{8})/)?.1)
    #expect(
      edited.errors.contains("has the same insulin as \(copy), and that counts now"), "\(edited.errors)")
    func total() async throws -> String {
      try await program.run("stats", "--since", "2026-05-04", "--until", "2026-05-05").output
    }
    #expect(try await total().contains("12.5 U"))
    #expect(try await program.run("record", "hide", String(copy)).errors == "")
    #expect(try await total().contains("7.0 U"))
  }

  @Test func hidingADoseReportsTheCopyThatCountsAfterwards() async throws {
    let program = try Self.program()
    _ = try await Self.importBoth(program)
    let doses = try await program.run("list", "--kind", "insulin", "--format", "ndjson").output.split(
      separator: "\n")
    let line = try #require(doses.first { $0.contains("mysugr") && $0.contains("6.5") })
    let id = try #require(line.firstMatch(of: /"(?:id|guid)":"([0-9a-f]{8})/)?.1)
    let hidden = try await program.run("record", "hide", String(id))
    #expect(hidden.errors.contains("and that counts now"), "\(hidden.errors)")
  }

  /// The list shows both rows alike, so a person may take the one that does not count.
  @Test(arguments: ["hide", "delete"]) func hidingACopyOfADoseReportsTheOneThatStillCounts(
    _ command: String
  ) async throws {
    let program = try Self.program()
    _ = try await Self.importBoth(program)
    let doses = try await program.run("list", "--kind", "insulin", "--format", "ndjson").output.split(
      separator: "\n"
    ).filter { $0.contains("6.5") }
    let (copy, counting) = (
      try #require(doses.first { $0.contains("apple-health") }),
      try #require(doses.first { $0.contains("mysugr") })
    )
    func id(_ line: Substring) throws -> String {
      String(try #require(line.firstMatch(of: /"(?:id|guid)":"([0-9a-f]{8})/)?.1))
    }
    let outcome = try await program.run("record", command, try id(copy))
    #expect(
      outcome.errors.contains("has the same insulin as \(try id(counting)), and that still counts"),
      "\(outcome.errors)")
  }
}
