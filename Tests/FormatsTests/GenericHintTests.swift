// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook
import Testing

/// Tests that the suggestions in a refusal are complete commands that can be pasted.
@Suite struct GenericHintTests {
  /// The commands in a message, split into words as by a shell.
  private func commands(in message: String) throws -> [[String]] {
    try message.split(separator: "\n").filter { $0.hasPrefix("  glucoport import ") }.map { line in
      let shell = Process()
      shell.executableURL = URL(filePath: "/bin/sh")
      shell.arguments = ["-c", "for word in \(line); do printf '%s\\n' \"$word\"; done"]
      let output = Pipe()
      shell.standardOutput = output
      try shell.run()
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      shell.waitUntilExit()
      return text.split(separator: "\n").map(String.init)
    }
  }

  /// Reads the input that a command imports, with the path and the options of the command.
  private func run(_ words: [String]) throws -> [Reading] {
    try #require(Array(words.prefix(2)) == ["glucoport", "import"])
    var options = try Rendering.options()
    var arguments = words.dropFirst(2)
    let last = arguments.popLast()
    let path = try #require(last)
    while let option = arguments.popFirst() {
      if option == "--force" {
        options.force = true
        continue
      }
      let next = arguments.popFirst()
      let value = try #require(next)
      let pairs = ColumnPairs.parse(value)
      switch option {
      case "--map": options.columns = Dictionary(uniqueKeysWithValues: try #require(pairs).map { ($0, $1) })
      case "--where": options.rows += try #require(pairs).map { RowFilter(column: $0.name, value: $0.value) }
      case "--unit": options.unit = GlucoseUnit(name: value)
      case "--kind": options.kind = ReadingKind(name: value)
      case "--date-order": options.dateOrder = value
      case "--device": options.device = value
      default: Issue.record("\(option) is no option of a hint")
      }
    }
    var reader = try InputReader(path: path, options: options)
    var batch = IngestBatch()
    while try reader.read(into: &batch) {}
    return batch.readings
  }

  @Test(arguments: [
    ("Timestamp,Name,Value,Medication Type\n2026-05-01 07:00,x,101,Tablet\n", 1),
    ("time,value\n2026-05-01 07:00,101\n2026-05-01 12:00,140\n", 1),
    // The values do not show the unit, or the dates do not show the order of day and month.
    ("time,value\n2026-05-01 07:00,5\n2026-05-01 12:00,12\n", 1),
    ("time,value\n2026-05-01 07:00,32\n2026-05-01 12:00,12\n", 2),
    ("time,value\n03/04/2026 07:00,5.4\n03/04/2026 12:00,12.1\n", 2),
    ("time,value\n03/04/2026 07:00,32\n03/04/2026 12:00,12\n", 4),
    ("time,glucose_kitchen\n2026-05-01 07:00,101\n2026-05-01 12:00,140\n", 1),
    ("time,CBG\n2026-05-01 07:00,101\n2026-05-01 12:00,140\n", 2),
    // One suggested command both selects the rows with glucose and names the columns.
    (
      "class,value,occurred_at\nGlucoseMeasurement,101,2026-05-01 07:00\nStepCount,90,2026-05-01 07:05\n"
        + "GlucoseMeasurement,104,2026-05-01 12:00\n", 1
    ),
    ("time,glucose,bg\n2026-05-01 07:00,101,102\n", 2),
    ("start time,end time,glucose\n2026-05-01 07:00,2026-05-01 07:05,101\n", 2),
    ("start time,end time,glucose,bg\n2026-05-01 07:00,2026-05-01 07:05,101,102\n", 4),
    ("time,glucose\n44927.5,101\n44927.75,103\n", 1),
    ("Datum;Uhrzeit;Wert\n01.05.2026;07:00;5,4\n", 1),
    ("time,event type,glucose\n2026-05-01 07:00,Alert,70\n2026-05-01 07:05,Measured,99\n", 2),
    ("when it was,what\n2026-05-01 07:00,101\n2026-05-01 12:00,140\n", 1),
    // These column names need quotes in a shell or in a list of columns.
    ("time,\"it's the value, really\",value=2\n2026-05-01 07:00,101,102\n", 2),
    ("time;value $(1) \\ \"a\"\n2026-05-01 07:00;101\n", 1),
    (#"[{"at":"2026-05-01T07:00:00Z","reading":{"value":101}}]"#, 1),
    ("userID,time,glucose\nA1,2026-05-01 07:00,101\nB2,2026-05-01 12:00,104\n", 2),
    ("time,glucose\n2026-05-01 07:00,5\n2026-05-01 12:00,12\n", 1),
    ("time,glucose (mg/dL)\n2026-05-01 07:00,5.4\n2026-05-01 12:00,12.1\n2026-05-02 12:00,6.1\n", 1),
    // The names are Finnish and Hungarian, which are not known; times of day have dots, or dates end in one.
    ("Päivämäärä;Aika;Verensokeri (mmol/l);Pikainsuliini\n13.3.2026;7.05;5,8;4\n13.3.2026;12.30;7,2;6\n", 1),
    ("Dátum;Idő;Vércukor (mmol/l);Szénhidrát (g)\n2026.03.02.;7:05;5,8;40\n2026.03.13.;19:10;6,1;60\n", 1),
    // The version and the counter are numbers of a database.
    (
      #"[{"startDate":"2026-05-01T07:00:00Z","quantity":101,"quantityUnit":"mg/dL","syncVersion":1,"counter":5}]"#,
      1
    ),
    ("time,result a,row version\n2026-05-01 07:00,101,5\n2026-05-01 12:00,140,6\n", 1),
    ("time,glucose mg/dl\n03/04/2026 07:00,101\n", 2),
    ("time,glucose mg/dl\n13/04/2026 07:00,101\n04/13/2026 07:00,101\n", 2),
  ])
  func eachSuggestedCommandImportsTheInput(_ text: String, _ count: Int) throws {
    let file = try ScratchFile(text)
    let refusal = try #require(try file.refusal(), "\(text)")
    let commands = try commands(in: refusal)
    #expect(commands.count == count, "\(refusal)")
    for command in commands { #expect(try !run(command).isEmpty, "\(command)") }
  }

  @Test func aSuggestedCommandKeepsTheGivenOptions() throws {
    let file = try ScratchFile(
      "who,time,value\nA1,2026-05-01 07:00,5\nA1,2026-05-01 12:00,12\nB2,2026-05-01 12:00,9\n")
    let refusal = try file.refusal {
      $0.rows = [RowFilter(column: "who", value: "A1")]
      $0.kind = .scan
      $0.device = "Meter X"
      $0.commandStart = "glucoport import --dry-run"
    }
    let text = try #require(refusal).replacing("glucoport import --dry-run", with: "glucoport import")
    #expect(
      refusal?.contains("glucoport import --dry-run --map time=time,value=value --where who=A1") == true)
    for command in try commands(in: text) {
      let readings = try run(command)
      #expect(!readings.isEmpty && readings.allSatisfy { $0.kind == .scan })
    }
  }

  @Test(arguments: [
    // These inputs have no header line.
    "2026-05-01 07:00,101\n2026-05-01 12:00,140\n", "1;01.05.2026 07:00;101\n2;01.05.2026 12:00;140\n",
    // These values are inside of other objects.
    #"{"patient":{"days":[{"date":"2026-05-01","list":[{"clock":"07:00","v":101}]}]}}"#,
    #"[{"a":{"list":[1,2]},"b":"x"}]"#,
    // These inputs contain nothing that could be glucose.
    "datetime,heart_rate\n2026-05-01 07:00:00,72\n2026-05-01 07:00:05,73\n", "a shopping list\n2 apples\n",
    "time,insulin\n2026-05-01 07:00,4\n",
    // A unit of doses states nothing about glucose, and `7.5` is not a time of day.
    "time,insulin,dose,doseUnit\n2026-05-01 07:00,4,5,mg\n",
    "Päivämäärä;Aika;Verensokeri (mmol/l)\n13.3.2026;7.5;5,8\n13.3.2026;12.3;7,2\n",
    #"{"user":{"glucose":{"time":"2026-05-01T07:00:00Z","value":101,"other":"2026-05-01T07:00:00Z"}},"graph":[{"v":1}]}"#,
    "Zeitstempel,Insulin-Typ,Abgabe (E)\n2026-05-01 07:00,Normal,4.5\n",
    // Two columns have the same name, so that `--map` cannot distinguish them.
    "time,value,value\n2026-05-01 07:00,101,102\n",
  ])
  func noMappingIsSuggestedIfItWouldNotHelp(_ text: String) throws {
    let refusal = try #require(try ScratchFile(text).refusal(), "\(text)")
    #expect(!refusal.contains("--map"), "\(refusal)")
  }

  /// The first line has words for glucose and for a time, but is a sentence and not a header.
  @Test(arguments: [
    (
      "# notes\n\nEach day I note my blood glucose and the time of it, in one book, by hand.\n\n- Not, as yet, complete.\n",
      false
    ),
    ("time of it,glucose,by\nearly,\"142 mg\",me\n", true),
  ])
  func aProseTextWithCommasIsNotExplainedAsATable(_ text: String, _ isTable: Bool) throws {
    let refusal = try #require(try ScratchFile(text).refusal())
    #expect(refusal.contains("as a table") == isTable, "\(refusal)")
    #expect(refusal.contains("unknown format; 'glucoport formats' lists the formats") != isTable)
  }

  /// The two suggested commands name different devices, so that both together import all values.
  @Test func theSuggestionReadsEachOfSeveralValueColumnsAsASeparateSeries() throws {
    let file = try ScratchFile(
      "Timestamp,Libre GL,Dexcom GL\n2026-05-01 07:00,101,102\n2026-05-01 07:05,99,98\n")
    let refusal = try #require(try file.refusal())
    #expect(refusal.contains("--device 'Libre GL'") && refusal.contains("--device 'Dexcom GL'"), "\(refusal)")
  }

  /// If all suggested commands are run, the ketone column is imported only once.
  @Test func theSuggestionForSeveralSeriesIncludesKetonesInOneCommand() throws {
    let file = try ScratchFile(
      "Timestamp,Libre GL,Dexcom GL,Ketone (mmol/L)\n2026-05-01 07:00,101,102,0.4\n2026-05-01 07:05,99,98,\n")
    let readings = try commands(in: try #require(try file.refusal())).flatMap(run)
    #expect(readings.count { $0.kind == .ketone } == 1 && readings.count == 5)
  }

  @Test func aTableWithTwoTimesForOneValueIsRefusedWithACommandForEach() throws {
    let file = try ScratchFile("start time,end time,glucose\n2026-05-01 07:00,2026-05-01 07:05,101\n")
    #expect(try file.refusal()?.contains("Import it with one of these, not with several") == true)
    let series = try ScratchFile("Timestamp,Libre GL,Dexcom GL\n2026-05-01 07:00,101,102\n")
    #expect(try series.refusal()?.contains("not with several") == false)
  }

  @Test func aSuggestedCommandNeverRepeatsAGivenOption() throws {
    let file = try ScratchFile(
      "class,value,occurred_at\nGlucoseMeasurement,101,2026-05-01 07:00\nStepCount,90,2026-05-01 07:05\n")
    let refusal = try file.refusal {
      $0.rows = [RowFilter(column: "class", value: "GlucoseMeasurement")]
    }
    let count = refusal?.components(separatedBy: "--where class=").count ?? 0
    #expect(count == 2, "\(refusal ?? "read")")
  }

  @Test func aMappingOfMissingColumnsIsRefusedWithAnExample() throws {
    let file = try ScratchFile("Date;Clock;Sugar level\n2026-05-01;07:00;101\n2026-05-01;12:00;140\n")
    let refusal = try #require(try file.refusal { $0.columns = ["time": "when", "value": "level"] })
    #expect(refusal.contains("columns: 'Date', 'Clock', 'Sugar level'. For example:\n"), "\(refusal)")
    let commands = try commands(in: refusal)
    #expect(commands.count == 1)
    for command in commands { #expect(try run(command).count == 2) }
  }

  @Test func aTableWithoutAHeaderIsRefusedWithTheReason() throws {
    let refusal = try ScratchFile("2026-05-01 07:00,101\n2026-05-01 12:00,140\n").refusal()
    #expect(refusal?.contains("no header line") == true)
    #expect(try ScratchFile("time,glucose (mg/dL)\n2026-05-01 07:00,101\n").readings().readings.count == 1)
  }

  /// Doses of insulin pens as Glooko writes them.
  private static let doses =
    #"[{"timestamp":"2026-05-01T08:25:02Z","value":3,"currentValue":3,"type":"Insulin","insulinType":"bolus","units":"units"},"#
    + #"{"timestamp":"2026-05-01T12:24:40Z","value":2,"currentValue":2,"type":"Insulin","insulinType":"bolus","units":"units"}]"#

  @Test(arguments: [
    (doses, "'bolus' in 'insulinType'"),
    ("Timestamp,Name,Value,Insulin Type\n2026-05-01 07:00,x,101,Rapid\n", "'Rapid' in 'Insulin Type'"),
    ("time,value,unit\n2026-05-01 07:00,4,IU\n2026-05-01 12:00,6,IU\n", "'IU' in 'unit'"),
    ("time,value,units\n2026-05-01 07:00,4,U\n2026-05-01 12:00,6,U\n", "'U' in 'units'"),
    ("time,value,current value,type\n2026-05-01 07:00,4,4,Insulin\n", "'Insulin' in 'type'"),
  ])
  func noSuggestedCommandReadsDosesOfInsulinAsGlucose(_ text: String, _ sign: String) throws {
    let refusal = try #require(try ScratchFile(text).refusal(), "\(text)")
    #expect(!refusal.contains("value="), "\(refusal)")
    #expect(refusal.contains("may be doses of insulin, as \(sign) shows"), "\(refusal)")
  }

  @Test(arguments: [
    ("Date,Insulin,Value", "NovoRapid", "Tresiba"), ("Timestamp,Medication,Value", "Fiasp", "Lantus"),
    ("Zeit,Medikament,Wert", "Humalog", "Toujeo"), ("Time,Dose type,Value", "Novorapid", "Levemir"),
    ("Time,Drug,Value", "Lyumjev", "Insulatard"), ("Dato,Insulin,Verdi", "Apidra", "Abasaglar"),
    ("Fecha y hora,Insulina,Valor", "NovoRapid", "Tresiba"), ("Time,Food,Value", "Humalog", "Lantus"),
    ("Date/heure,Insuline,Valeur", "Humalog", "Tresiba"),
  ])
  func aTableOfDosesWithNamesOfInsulinsIsSuggestedAsDoses(
    _ header: String, _ rapid: String, _ long: String
  ) throws {
    let names = header.split(separator: ",").map(String.init)
    let file = try ScratchFile("\(header)\n2026-05-01 07:00,\(rapid),4.5\n2026-05-01 22:00,\(long),18\n")
    let refusal = try #require(try file.refusal())
    #expect(!refusal.contains("value="), "\(refusal)")
    #expect(refusal.contains("insulin=\(names[2])"), "\(refusal)")
    let doses = try file.readings {
      $0.columns = ["time": names[0], "insulin": names[2], "use": names[1]]
    }
    #expect(doses.readings.isEmpty && doses.rejections.isEmpty)
    let mapped = try file.refusal { $0.columns = ["time": names[0], "value": names[2]] }
    #expect(mapped?.contains("may be doses of insulin") == true)
  }

  @Test(arguments: [
    ("Tijdstempel,Waarde,Insulinetype", "Snelwerkend"), ("Tidsstempel,Værdi,Insulintype", "Hurtigtvirkende"),
    ("Time,Value,Insulin", "evening"), ("Time,Value,Medicine name", "Metformin"), ("Time,Value,Lek", "A"),
    ("Čas,Value,Inzulin", "večer"),
    ("Time,Value,Drug", "insulin lispro"), ("Time,Value,Insulin", "Tresiba U200"),
  ])
  func noMappingOfGlucoseIsSuggestedNextToAColumnOfMedicines(_ header: String, _ cell: String) throws {
    let text = "\(header)\n2026-05-01 07:00,5,\(cell)\n2026-05-01 12:00,6,\(cell)\n"
    let refusal = try #require(try ScratchFile(text).refusal())
    #expect(!refusal.contains("value="), "\(refusal)")
    #expect(refusal.contains("may be doses of insulin, as '\(cell)'"), "\(refusal)")
  }

  @Test(arguments: [
    "time,value,insulin\n2026-05-01 07:00,101,yes\n2026-05-01 12:00,140,no\n",
    "time,value,insulin\n2026-05-01 07:00,101,NovoRapid 4\n2026-05-01 12:00,140,Lantus 18 U\n",
    "time,value,dose\n2026-05-01 07:00,101,4 U\n2026-05-01 12:00,140,6 U\n",
    "time,value,comment\n2026-05-01 07:00,101,took my Lantus\n2026-05-01 12:00,140,a walk\n",
    "time,value,sport\n2026-05-01 07:00,101,long walk\n2026-05-01 12:00,140,\n",
    "time,value,insulin,pen\n2026-05-01 07:00,101,4,NovoRapid\n2026-05-01 12:00,140,6,NovoRapid\n",
    "time,value,medication\n2026-05-01 07:00,101,\n2026-05-01 12:00,140,\n",
    "time,value,code\n2026-05-01 07:00,101,58\n2026-05-01 12:00,140,60\n",
  ])
  func aTableOfGlucoseThatNamesAnInsulinOrACodeStillGetsItsCommand(_ text: String) throws {
    let file = try ScratchFile(text)
    let refusal = try #require(try file.refusal(), "\(text)")
    #expect(refusal.contains("time=time,value=value"), "\(refusal)")
    let map = ["time": "time", "value": "value"]
    #expect(try file.refusal { $0.columns = map }?.contains("doses of insulin") != true, "\(text)")
  }

  /// The diabetes data of the UCI repository: 33 to 35 are doses of insulin, 48 and 57 to 64 are glucose.
  @Test func codesOfDosesPreventACommandForAllRows() throws {
    let rows = "04-21-1991,9:09,58,100\n04-21-1991,9:09,33,9\n04-21-1991,17:08,62,119\n"
    let file = try ScratchFile("Date,Time,Code,Value\n" + rows)
    let refusal = try #require(try file.refusal())
    #expect(!refusal.contains("value=") && refusal.contains("'Code'"), "\(refusal)")
    let map = ["date": "Date", "clock": "Time", "value": "Value"]
    #expect(try file.refusal { $0.columns = map }?.contains("codes 33 to 35") == true)
    let glucose = try file.readings {
      $0.columns = map
      $0.rows = [RowFilter(column: "Code", value: "58")]
      $0.unit = .milligramsPerDecilitre
    }
    #expect(glucose.readings.count == 1)
  }

  @Test(arguments: [
    #"[{"openaps":{"enacted":{"bg":145,"deliverAt":"2026-05-01T14:30:00Z","timestamp":"2026-05-01T14:30:04Z"}}}]"#,
    #"[{"suggested":{"bg":145,"deliverAt":"2026-05-01T14:30:00Z","timestamp":"2026-05-01T14:30:04Z"}}]"#,
    #"[{"deliverAt":"2026-05-01T14:30:00Z","timestamp":"2026-05-01T14:30:04Z","bg":85,"predBGs":{"ZT":85}}]"#,
    #"[{"deliverAt":"2026-05-01T14:30:00Z","timestamp":"2026-05-01T14:30:04Z","bg":85,"eventualBG":160}]"#,
    "start time,end time,bg,eventualBG\n2026-05-01 07:00,2026-05-01 07:05,101,120\n",
  ])
  func noSuggestedCommandReadsTheNumbersOfAnAlgorithmAsGlucose(_ text: String) throws {
    let refusal = try #require(try ScratchFile(text).refusal(), "\(text)")
    #expect(!refusal.contains("value="), "\(refusal)")
    #expect(refusal.contains("an algorithm used or predicted"), "\(refusal)")
  }

  /// In these tables, the words for insulin do not belong to the value. In one of them, `openaps` is only in
  /// the address of a device.
  @Test(arguments: [
    "time,value,insulin,insulin type\n2026-05-01 07:00,101,4,Rapid\n2026-05-01 12:00,140,6,Rapid\n",
    "time,value,insulin,unit\n2026-05-01 07:00,101,4,U\n2026-05-01 12:00,140,6,U\n",
    "time,value,insulin type\n2026-05-01 07:00,101,\n2026-05-01 12:00,140,\n",
    "time,value,current value,type\n2026-05-01 07:00,101,101,before insulin\n2026-05-01 12:00,140,140,before insulin\n",
    "time,value,device\n2026-05-01 07:00,101,openaps://phone\n2026-05-01 12:00,140,openaps://phone\n",
    "time,value,suggested bolus\n2026-05-01 07:00,101,4\n2026-05-01 12:00,140,6\n",
  ])
  func aTableThatOnlyMentionsInsulinStillGetsASuggestedCommand(_ text: String) throws {
    let refusal = try #require(try ScratchFile(text).refusal(), "\(text)")
    #expect(refusal.contains("time=time,value=value"), "\(refusal)")
    #expect(!refusal.contains("No command is suggested"), "\(refusal)")
  }

  @Test func aSuggestedCommandSelectsOnlyRowsWithoutDoses() throws {
    let rows =
      "2026-05-01 07:00,101,mg/dL,Zucker\n2026-05-01 07:05,40,mg/dL,Insulin\n2026-05-01 12:00,140,mg/dL,Zucker\n"
    let file = try ScratchFile("time,value,unit,type\n" + rows)
    for map in [[:], ["time": "time", "value": "value"]] {
      let refusal = try #require(try file.refusal { $0.columns = map })
      #expect(refusal.contains("--where type=Zucker") && !refusal.contains("type=Insulin"), "\(refusal)")
    }
  }

  @Test(arguments: ["Bolus", ""])
  func noSuggestedCommandForcesMappedRowsOfInsulin(_ other: String) throws {
    let file = try ScratchFile(
      "time,value,type\n2026-05-01 07:00,40,Insulin\n2026-05-01 07:30,50,\(other)\n2026-05-01 12:00,44,Insulin\n"
    )
    let refusal = try #require(try file.refusal { $0.columns = ["time": "time", "value": "value"] })
    #expect(refusal.contains("some may be doses of insulin") && !refusal.contains("--force"), "\(refusal)")
  }

  @Test func aMappingOfMissingColumnsIsRefusedWithoutAnExampleForATableOfDoses() throws {
    let map = ["time": "when", "value": "level"]
    let doses = try ScratchFile("time,value,unit\n2026-05-01 07:00,4,IU\n2026-05-01 12:00,6,IU\n")
    let refusal = try #require(try doses.refusal { $0.columns = map })
    #expect(refusal.contains("may be doses of insulin") && !refusal.contains("For example"), "\(refusal)")
    let plain = try ScratchFile("time,value\n2026-05-01 07:00,101\n2026-05-01 12:00,140\n")
    #expect(try plain.refusal { $0.columns = map }?.contains("For example") == true)
  }

  @Test func aSuggestedCommandContainsNoControlCharacters() throws {
    let refusal = try #require(try ScratchFile("time,value\u{1B}[2J\n2026-05-01 07:00,101\n").refusal())
    #expect(!refusal.unicodeScalars.contains("\u{1B}"))
  }

  /// A pump's history as oref0 writes it. The glucose of its bolus calculator is a copy of a reading.
  @Test func theHintsForTheHistoryOfAPumpReadDosesAndNoCopiesOfReadings() throws {
    let history = (0..<8).map { hour in
      #"{"timestamp":"2026-05-04T1\#(hour):27:00+02:00","_type":"Bolus","amount":2.6,"programmed":2.6},"#
        + #"{"timestamp":"2026-05-04T1\#(hour):27:00+02:00","_type":"BolusWizard","bg":14\#(hour)},"#
        + #"{"timestamp":"2026-05-04T1\#(hour):32:00+02:00","_type":"TempBasal","rate":1.56}"#
    }
    let file = try ScratchFile("[\(history.joined(separator: ","))]")
    let refusal = try #require(try file.refusal())
    let commands = try commands(in: refusal)
    #expect(commands.count == 1 && commands[0].contains("time=timestamp,insulin=amount"), "\(refusal)")
    #expect(commands.first?.contains("_type=Bolus") == true)
    #expect(try run(try #require(commands.first)).isEmpty)
  }

  @Test func aKindOfRowsWithGlucoseIsStillHinted() throws {
    let rows = (0..<8).map { hour in
      #"{"timestamp":"2026-05-04T1\#(hour):27:00+02:00","_type":"Alpha","bg":14\#(hour)},"#
        + #"{"timestamp":"2026-05-04T1\#(hour):32:00+02:00","_type":"TempBasal","rate":1.56}"#
    }
    let file = try ScratchFile("[\(rows.joined(separator: ","))]")
    let refusal = try #require(try file.refusal())
    let commands = try commands(in: refusal)
    #expect(commands.count == 1 && commands[0].contains("_type=Alpha"), "\(refusal)")
    #expect(try run(try #require(commands.first)).count == 8)
  }

  /// No time of such an object belongs to the value of another entry.
  @Test func entriesByIDInAnObjectHaveNoHints() throws {
    func object(_ count: Int) -> String {
      let entries = (0..<count).map { #""-N\#($0)":{"timestamp":177761306\#($0)000,"glucose":12\#($0)}"# }
      return #"{"readings":{\#(entries.joined(separator: ","))}}"#
    }
    let refusal = try #require(try ScratchFile(object(6)).refusal())
    #expect(refusal.contains("entries by id") && !refusal.contains("--map"), "\(refusal)")
    #expect(try ScratchFile(object(2)).refusal()?.contains("entries by id") == false)
  }

  @Test func theListOfAServerForWatchesIsReadAsATable() throws {
    func text(_ list: String) -> String {
      let rows = (0..<6).map { #"{"sgv":"7.\#($0)","datetime":17776130\#($0)1000,"direction":"Flat"}"# }
      return #"{"status":[{"now":1779482253000}],"\#(list)":[\#(rows.joined(separator: ","))],"cals":[]}"#
    }
    let export = try ScratchFile(text("bgs")).readings()
    #expect(export.readings.count == 6 && export.readings.allSatisfy { $0.kind == .cbg })
    let other = try ScratchFile(#"{"status":404,"message":"no bgs"}"#).refusal()
    #expect(other?.contains("an error message of a server") == true)
  }
}
