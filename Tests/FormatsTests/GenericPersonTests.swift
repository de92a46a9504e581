// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook
import Testing

/// Tests tables with the rows of several persons, and the selection of rows.
@Suite struct GenericPersonTests {
  private static let rows = "A1,2026-05-01 07:00,101\nA1,2026-05-01 12:00,104\nB2,2026-05-01 07:00,201\n"

  @Test(arguments: [
    "DeidentID", "Who", "child", "userID", "user_id", "User ID", "Person", "subject", "Subject ID", "patient",
    "PatientID", "PtID",
    "participant",
    "Benutzer", "Proband", "Patienten-ID", "utilisateur", "usuario", "paciente", "utente", "paziente",
    "gebruiker",
    "patiënt", "utilizador", "pacjent", "bruger", "användare", "bruker", "pasient", "full name", "Nachname",
    "email", "MRN", "Medical Record Number", "NHS number", "sid", "uid", "USUBJID", "subjid", "pet", "dog",
    "animal_id", "rfid", "badge", "PtNum", "case_id", "sibling", "Initials", "Initialen", "twin", "Daughter",
    "Sohn", "enfant", "hija", "who", "whose", "nickname", "Surname", "patient.firstName", "subject.display",
    "subject.reference", "meta.patient",
    "Person's name", "fk_resident_id", "employee_id", "resident", "Pat. name", "patient's initials",
    "brother/sister",
    "Name of person",
  ])
  func aTableOfSeveralPersonsIsRefusedUntilOneIsSelected(_ name: String) throws {
    let file = try ScratchFile("\(name),time,glucose\n\(Self.rows)")
    let refusal = try #require(try file.refusal(), "\(name)")
    #expect(refusal.contains("'\(name)'") && refusal.contains("--where"), "\(refusal)")
    let one = try file.readings { $0.rows = [RowFilter(column: name, value: "A1")] }
    #expect(one.readings.compactMap { $0.measurement.quantity?.number } == [101, 104])
    #expect(one.rejections.isEmpty)
  }

  /// The table has the rows of one number, and below them rows of another number at the same times. Each
  /// number must be a person or a device, whatever the column is named.
  @Test(arguments: ["nr", "cohort_no", "k"])
  func aTableWhoseNumbersDivideItIntoSeriesOfPersonsIsRefused(_ name: String) throws {
    func rows(_ number: Int, every minutes: Int = 5, from hour: Int = 7) -> String {
      (0..<12).map { index in
        let minute = index * minutes
        return
          "\(number),2026-05-01 \(10 + hour + minute / 60):\(10 + minute % 60 / 2),\(100 + index * number % 41)\n"
      }.joined()
    }
    let header = "\(name),time,glucose\n"
    let refusal = try #require(try ScratchFile(header + rows(17) + rows(18)).refusal())
    #expect(refusal.contains("'\(name)' divides the readings"), "\(refusal)")
    // The table is read if the times of the two numbers do not overlap, or if the numbers rise and fall, such
    // as a trend.
    #expect(try ScratchFile(header + rows(17) + rows(18, from: 9)).readings().readings.count == 24)
    let trend = (0..<24).map { "\(3 + $0 % 2),2026-05-01 07:\(10 + $0 * 2),\(100 + $0)\n" }.joined()
    #expect(try ScratchFile(header + trend).readings().readings.count == 24)
  }

  @Test func rowsOfPersonsThatWereNotSelectedAreCounted() throws {
    let export = try TextExport("userID,time,glucose\n\(Self.rows)") {
      $0.rows = [RowFilter(column: "userid", value: "B2")]
    }
    #expect(export.readings.count == 1 && export.skipped == ["row with another 'userID'": 2])
    #expect(export.rejections.isEmpty && export.warnings.isEmpty)
  }

  /// Names of columns whose words may differ from row to row although all finger sticks are of one person.
  @Test(arguments: [
    "finger", "hand", "site", "meal", "mood", "operator", "entered by", "source", "app", "nurse", "doctor",
    "clinic",
    "initial", "strip lot", "device.name", "device.display", "relation to meal", "context", "child lock",
  ])
  func aColumnOfAnotherSubjectIsNotTakenForPersons(_ name: String) throws {
    let rows = (0..<9).map { "\(["left", "right"][$0 % 2]),2026-05-0\($0 + 1) 07:0\($0),10\($0)\n" }.joined()
    let text = "\(name),time,glucose (mg/dL)\n\(rows)"
    #expect(try ScratchFile(text).readings { $0.kind = .smbg }.readings.count == 9)
  }

  @Test func aTableOfOnePersonIsRead() throws {
    for name in ["userID", "name", "id"] {
      let text =
        "\(name),time,glucose\nA1,2026-05-01 07:00,101\n,2026-05-01 08:00,99\nA1,2026-05-01 12:00,104\n"
      #expect(try ScratchFile(text).readings().readings.count == 3, "\(name)")
    }
  }

  @Test func aSecondPersonFarAfterTheFirstRowsRefusesTheInput() throws {
    let many = (0..<900).map { row in
      "A1,\(DeviceTime(seconds: 1_777_600_000 + Int64(row) * 9000).text),101\n"
    }.joined()
    let file = try ScratchFile("subject,time,glucose mg/dL\n\(many)B2,2027-05-01 07:00,201\n")
    #expect(try file.refusal()?.contains("distinguishes persons") == true)
  }

  @Test func anIDColumnDistinguishesPersonsIfItsValuesRepeat() throws {
    let rows = (0..<9).map { "\($0 < 5 ? 1 : 2),2026-05-0\($0 + 1) 07:00,101\n" }.joined()
    #expect(try ScratchFile("id,time,glucose\n\(rows)").refusal()?.contains("distinguishes persons") == true)
    let numbered = (0..<9).map { "\($0),2026-05-0\($0 + 1) 07:0\($0),101\n" }.joined()
    #expect(try ScratchFile("id,time,glucose\n\(numbered)").readings().readings.count == 9)
  }

  @Test func namesOfPersonsAreDetectedEvenIfEachHasOneRow() throws {
    let rows = ["Anna", "Ben", "Carla"].enumerated().map { "\($1),2026-05-0\($0 + 1) 07:00,10\($0)\n" }
      .joined()
    let file = try ScratchFile("Name,time,glucose (mg/dL)\n\(rows)")
    let refusal = try #require(try file.refusal())
    #expect(refusal.contains("distinguishes persons") && !refusal.contains("Anna"), "\(refusal)")
    #expect(
      try file.readings { $0.rows = [RowFilter(column: "Name", value: "2 of 3")] }.readings.count == 1)
    // A name with a number, such as Reading 1, is that of a row and not of a person. A single name in all
    // rows is the person's.
    for name in ["Reading", ""] {
      let numbered = (0..<3).map { "\(name) \($0),2026-05-0\($0 + 1) 07:00,10\($0)\n" }.joined()
      #expect(try ScratchFile("Name,time,glucose (mg/dL)\n\(numbered)").readings().readings.count == 3)
    }
    let alone = (0..<3).map { "Anna,2026-05-0\($0 + 1) 07:00,10\($0)\n" }.joined()
    #expect(try ScratchFile("Name,time,glucose (mg/dL)\n\(alone)").readings().readings.count == 3)
  }

  // MARK: Sections

  @Test(arguments: [
    ["Patient: Anna", "Patient: Ben"], ["Name,Anna Muster", "Name,Ben Muster"],
    ["Patient Name: Anna,,", "Patient Name: Ben,,"], ["# patient 1", "# patient 2"],
    ["Export of May", "Nombre: Ben"],
  ])
  func aTableWithSectionsOfSeveralPersonsIsRefused(_ lines: [String]) throws {
    let text = Self.section(lines[0], day: 1) + Self.section(lines[1], day: 1)
    let refusal = try #require(try ScratchFile(text).refusal())
    #expect(refusal.contains("sections of several persons"), "\(refusal)")
    #expect(!refusal.contains("Ben") && !refusal.contains("Anna"), "\(refusal)")
  }

  @Test(arguments: [
    ["Patient: Anna", "Patient: Anna"], ["Export of May", "Export of June"], ["Patient: Anna", "Page 2"],
  ])
  func repeatedHeadersOfOnePersonAreRead(_ lines: [String]) throws {
    let text = Self.section(lines[0], day: 1) + Self.section(lines[1], day: 2)
    #expect(try ScratchFile(text).readings().readings.count == 60)
    let bare = text.split(separator: "\n").filter { !lines.contains(String($0)) }.joined(separator: "\n")
    #expect(try ScratchFile(bare + "\n").readings().readings.count == 60)
  }

  private static func section(_ line: String, day: Int) -> String {
    let rows = (0..<30).map { "2026-05-0\(day),\(10 + $0 / 6):\(10 + $0 % 6 * 5),\(100 + $0 * 7 % 31)\n" }
    return "\(line)\nDate,Time,Glucose mg/dL\n" + rows.joined()
  }

  // MARK: Persons in known formats

  private static let diary = [
    "Date", "Time", "Tags", "Blood Glucose Measurement (mg/dL)", "Insulin Injection Units (Pen)",
    "Basal Injection Units", "Insulin Injection Units (pump)", "Insulin (Meal)", "Insulin (Correction)",
    "Temporary Basal Percentage", "Temporary Basal Duration (Minutes)",
    "Meal Carbohydrates (Grams, Factor 1)", "Meal Descriptions", "Activity Duration (Minutes)",
    "Activity Intensity (1: Cosy, 2: Ordinary, 3: Demanding)", "Activity Description", "Steps", "Note",
    "Location", "Blood pressure", "Body weight (lbs)", "HbA1c (Percent)", "Ketones", "Food type",
    "Medication",
  ]

  /// Rows of mySugr with an additional column.
  private static func diary(_ column: String, _ people: [String]) -> String {
    let rows = people.enumerated().map { index, person in
      var cells = [String](repeating: "", count: diary.count) + [person]
      (cells[0], cells[1], cells[3]) = ("May \(index + 1), 2026", "8:00:27 AM", "\(110 + index)")
      return cells
    }
    return ([diary + [column]] + rows).map { $0.map { "\"\($0)\"" }.joined(separator: ",") + "\n" }.joined()
  }

  @Test func aPersonColumnAddedToAKnownFormatRequiresARowFilter() throws {
    let file = try ScratchFile(Self.diary("Person", ["Anna", "Ben", "Anna", ""]))
    let refusal = try #require(try file.refusal())
    #expect(refusal.contains("data of 2 people") && refusal.contains("--where Person=2"), "\(refusal)")
    #expect(!refusal.contains("Anna"))
    func values(_ value: String) throws -> [Double] {
      try file.readings { $0.rows = [RowFilter(column: "person", value: value)] }.readings
        .compactMap(\.measurement.quantity?.number)
    }
    #expect(try values("1") == [110, 112] && values("Anna") == [110, 112] && values("2") == [111])
    #expect(
      try file.refusal { $0.rows = [RowFilter(column: "Person", value: "3")] }?.contains("no person") == true)
    // The table is read if the column has one person, or if it describes something else.
    #expect(try ScratchFile(Self.diary("Person", ["Anna", "Anna", ""])).readings().readings.count == 3)
    #expect(try ScratchFile(Self.diary("Mood", ["good", "bad", "good"])).readings().readings.count == 3)
  }

  @Test func jsonObjectsOfTwoAccountsRequireARowFilter() throws {
    func body(_ users: [String]) -> String {
      "["
        + users.enumerated().map { index, user in
          """
          {"type":"smbg","time":"2026-05-0\(index + 1)T07:00:00.000Z","deviceId":"m","uploadId":"u","units":"mg/dL",
           "value":\(110 + index),"_userId":"\(user)"}
          """
        }.joined(separator: ",") + "]"
    }
    let file = try ScratchFile(body(["a1", "b2", "a1"]))
    #expect(try file.refusal()?.contains("--where _userId=2") == true)
    let one = try file.readings { $0.rows = [RowFilter(column: "_userId", value: "b2")] }
    #expect(one.readings.compactMap { $0.measurement.quantity?.number } == [111])
    #expect(try ScratchFile(body(["a1", "a1"])).readings().readings.count == 2)
  }

  @Test func aJSONMemberThatNamesPersonsRequiresARowFilter() throws {
    func entries(_ member: String, _ people: [String]) -> String {
      "["
        + people.enumerated().map { index, person in
          #"{"_id":"\#(index)","type":"sgv","sgv":\#(110 + index),"date":\#(1_777_600_000_000 + index * 300_000),"device":"d","\#(member)":"\#(person)"}"#
        }.joined(separator: ",") + "]"
    }
    for member in ["patient", "user_id", "subject", "owner"] {
      let file = try ScratchFile(entries(member, ["anna", "ben", "anna"]))
      #expect(try file.refusal()?.contains("--where \(member)=2") == true, "\(member)")
      let one = try file.readings { $0.rows = [RowFilter(column: member, value: "ben")] }
      #expect(one.readings.compactMap { $0.measurement.quantity?.number } == [111])
      #expect(try ScratchFile(entries(member, ["anna", "anna"])).readings().readings.count == 2)
    }
    #expect(try ScratchFile(entries("app", ["x", "y"])).readings().readings.count == 2)
  }

  @Test func jsonBodiesOfSeveralPeopleAreRefused() throws {
    func dexcom(_ users: [String]) -> String {
      users.enumerated().map { index, user in
        #"{"recordType":"egv","userId":"\#(user)","records":[{"recordId":"\#(index)","systemTime":"2026-05-0\#(index + 1)T07:00:00Z","displayTime":"2026-05-0\#(index + 1)T07:00:00Z","value":\#(110 + index),"unit":"mg/dL"}]}"#
          + "\n"
      }.joined()
    }
    func own(_ people: [String]) -> String {
      people.enumerated().map { index, person in
        #"{"patient": "\#(person)", "data": [{"time":"2026-05-0\#(index + 1)T07:00:00Z","glucose_mgdl":\#(110 + index)}]}"#
          + "\n"
      }.joined()
    }
    for body in [dexcom, own] {
      let refusal = try #require(try ScratchFile(body(["anna", "anna", "ben"])).refusal())
      #expect(refusal.contains("bodies of several people") && !refusal.contains("ben"), "\(refusal)")
      #expect(try ScratchFile(body(["anna", "anna", "anna"])).readings().readings.count == 3)
    }
  }

  @Test(arguments: ["user", "userName", "owner", "child"])
  func aUserNamedOutsideTheListOfReadingsIsThePerson(_ member: String) throws {
    func stated(_ text: String) throws -> [StatedPerson] {
      let file = try ScratchFile(text)
      return try withExtendedLifetime(file) {
        try InputReader(path: file.url.path, options: Rendering.options()).statedPersons
      }
    }
    let list =
      #"[{"time":"2026-05-01T07:00:00Z","glucose_mgdl":110},{"time":"2026-05-01T08:00:00Z","glucose_mgdl":120}]"#
    let (anna, ben) = (
      try stated(#"{"\#(member)":"anna","data":\#(list)}"#),
      try stated(#"{"\#(member)":"ben","data":\#(list)}"#)
    )
    #expect(anna.count == 1 && ben.count == 1 && anna != ben)
    #expect(try stated(#"{"app":"anna","data":\#(list)}"#).isEmpty)
    #expect(try stated(#"{"\#(member)":7,"data":\#(list)}"#).isEmpty)
  }

  @Test func aNumericPersonIDIsNotReadAsTheNumberInTheList() throws {
    func body(_ patient: String, _ day: Int) -> String {
      let measurement =
        #"{"FactoryTimestamp":"5/\#(day)/2026 7:00:00 AM","Timestamp":"5/\#(day)/2026 9:00:00 AM","ValueInMgPerDl":\#(100 + day)}"#
      return
        #"{"status":0,"data":{"connection":{"patientId":"\#(patient)","glucoseMeasurement":\#(measurement)},"graphData":[]}}"#
        + "\n"
    }
    let file = try ScratchFile(body("7", 1) + body("1", 2))
    func values(_ value: String) throws -> [Double] {
      try file.readings { $0.rows = [RowFilter(column: "patientId", value: value)] }.readings
        .compactMap(\.measurement.quantity?.number)
    }
    // The id 1 is that of the second person. No person has the id 2, so 2 means the second person.
    #expect(try values("1") == [102] && values("7") == [101] && values("2") == [102])
  }

  @Test func mappedTablesOfSeveralPersonsAlsoRequireARowFilter() throws {
    let file = try ScratchFile("who,userID,at,n\nx,A1,2026-05-01 07:00,101\nx,B2,2026-05-01 07:00,201\n")
    let map = ["time": "at", "value": "n"]
    #expect(try file.refusal { $0.columns = map }?.contains("distinguishes persons") == true)
    let one = try file.readings {
      $0.columns = map
      $0.rows = [RowFilter(column: "userID", value: "B2")]
    }
    #expect(one.readings.compactMap { $0.measurement.quantity?.number } == [201])
    // If `--map` names `userID` as the column of devices, its values are devices of one person.
    let devices = try file.readings { $0.columns = map.merging(["device": "userID"]) { $1 } }
    #expect(devices.readings.count == 2)
  }

  @Test func personsAreAlsoDistinguishedInJSONObjects() throws {
    let text = """
      [{"user":{"id":1},"time":"2026-05-01T07:00:00Z","glucose":101,"unit":"mg/dL"},
       {"user":{"id":2},"time":"2026-05-01T07:00:00Z","glucose":201,"unit":"mg/dL"}]
      """
    let file = try ScratchFile(text)
    #expect(try file.refusal()?.contains("--where 'user.id=1 of 2'") == true)
    let one = try file.readings { $0.rows = [RowFilter(column: "user.id", value: "2")] }
    #expect(one.readings.compactMap { $0.measurement.quantity?.number } == [201])
    let byTime = try file.readings {
      $0.rows = [RowFilter(column: "user.id", value: "2"), RowFilter(column: "unit", value: "mg/dL")]
    }
    #expect(byTime.readings.count == 1)
  }

  @Test func rowsCanBeSelectedByAnyColumn() throws {
    let text =
      "time,event type,glucose\n2026-05-01 07:00,Alert,70\n2026-05-01 08:05,Measured,99\n2026-05-01 12:00,Measured,98\n"
    let picked = try ScratchFile(text).readings {
      $0.rows = [RowFilter(column: "Event Type", value: "Measured")]
    }
    #expect(picked.readings.compactMap { $0.measurement.quantity?.number } == [99, 98])
  }

  @Test func aRepeatedHeaderIsNotTakenForAnotherPerson() throws {
    let text = "userID,time,glucose\nA1,2026-05-01 07:00,101\nuserID,time,glucose\nA1,2026-05-01 12:00,104\n"
    let picked = try TextExport(text) { $0.rows = [RowFilter(column: "userID", value: "A1")] }
    #expect(picked.readings.count == 2 && picked.skipped.isEmpty && picked.rejections.isEmpty)
    #expect(try TextExport(text).readings.count == 2)
  }

  @Test func afterAHeaderWithOtherColumnsNoRowsAreSelected() throws {
    let text = """
      time,id,glucose (mg/dL)
      2026-05-01 07:00,1,101
      2026-05-01 08:00,2,99
      time,id,insulin rate,glucose value
      2026-05-02 07:00,1,60,110

      """
    let picked = try TextExport(text) { $0.rows = [RowFilter(column: "id", value: "1")] }
    #expect(picked.readings.compactMap { $0.measurement.quantity?.number } == [101])
    #expect(Set(picked.rejections.map(\.line)) == [4, 5])
    #expect(picked.skipped == ["row with another 'id'": 1])
  }

  @Test func aLastRowWhosePersonMayBeTruncatedIsNotRead() throws {
    let text =
      "time,glucose,userID\n2026-05-01 07:00,101,A1\n2026-05-01 08:00,99,A12\n2026-05-01 12:00,104,A1"
    let picked = try TextExport(text) { $0.rows = [RowFilter(column: "userID", value: "A1")] }
    #expect(picked.readings.count == 1 && picked.isTruncated)
  }

  @Test func aRowFilterThatMatchesNoRowIsRefused() throws {
    let file = try ScratchFile("userID,time,glucose\n\(Self.rows)")
    let refusal = try file.refusal { $0.rows = [RowFilter(column: "userID", value: "a1")] }
    #expect(refusal?.contains("no row has the value of --where in 'userID'") == true, "\(refusal ?? "read")")
    // In a table without rows, a row filter that matches no row is not an error.
    let empty = try ScratchFile("userID,time,glucose (mg/dL)\n")
    #expect(try empty.readings { $0.rows = [RowFilter(column: "userID", value: "A1")] }.readings.isEmpty)
  }

  @Test func aRowFilterByAMissingColumnIsRefused() throws {
    let refusal = try ScratchFile("userID,time,glucose\n\(Self.rows)").refusal {
      $0.rows = [RowFilter(column: "patient", value: "A1")]
    }
    #expect(refusal?.contains("no column has the name in --where") == true)
  }

  @Test func aTableWithoutAHeaderRefusesARowFilter() throws {
    let text = "\"2016-05-14 07:31:00\",\"112.00\",\"Before Meal\",\"blood sample\",\"x\"\n"
    let refusal = try ScratchFile(text).refusal { $0.rows = [RowFilter(column: "Index", value: "1")] }
    #expect(refusal?.contains("--where picks rows of a table with a header") == true, "\(refusal ?? "read")")
  }

  // MARK: Columns that divide readings into series

  /// A table with a row at each of these minutes, and a word in an additional column.
  private func table(_ word: (Int) -> String, rows: Int = 200, minutes: (Int) -> Int) -> String {
    (0..<rows).reduce(into: "time,glucose (mg/dL),column\n") { text, row in
      let time = DeviceTime(seconds: 1_777_600_000 + Int64(minutes(row)) * 60).text
      text += "\(time),\(90 + row * 37 % 71),\(word(row))\n"
    }
  }

  @Test func aColumnThatDividesReadingsIntoSimultaneousSeriesIsRefused() throws {
    let names = ["Rex", "Bella"]
    for text in [
      table({ names[$0 % 2] }, minutes: { $0 / 2 * 5 + $0 % 2 * 2 }),
      table({ names[$0 % 2] }, minutes: { $0 / 2 * 5 }),
      // All rows of one series are above those of the other.
      table({ names[$0 / 100] }, minutes: { $0 % 100 * 5 + $0 / 100 }),
    ] {
      let file = try ScratchFile(text)
      let refusal = try #require(try file.refusal())
      #expect(refusal.contains("'column' divides the readings") && !refusal.contains("Rex"), "\(refusal)")
      #expect(
        try file.readings { $0.rows = [RowFilter(column: "column", value: "Rex")] }.readings.count == 100)
      let devices = ["time": "time", "value": "glucose (mg/dL)", "device": "column"]
      #expect(try file.readings { $0.columns = devices }.readings.count == 200)
    }
  }

  @Test func aColumnThatDescribesOneSeriesIsNotTakenForPersons() throws {
    let words = ["good", "poor", "fair"]
    for text in [
      table({ words[$0 * 7 % 5 % 3] }, minutes: { $0 * 5 }),
      table({ words[$0 / 20 % 2] }, minutes: { $0 * 5 }),
      table({ _ in "good" }, minutes: { $0 * 5 }), table({ "\($0) ok" }, minutes: { $0 * 5 }),
      // The rows are finger sticks at meals.
      table({ words[$0 % 3] }, minutes: { $0 * 290 + $0 % 7 }),
      // One row has no word in the column.
      table({ $0 == 120 ? "" : words[$0 % 2] }, minutes: { $0 / 2 * 5 + $0 % 2 * 2 }),
    ] {
      #expect(try ScratchFile(text).readings().readings.count == 200)
    }
  }

  @Test func theNamesOfPersonsAreNotShownInARefusal() throws {
    let text = "Patient,time,glucose\nJane Doe,2026-05-01 07:00,101\nJohn Doe,2026-05-01 07:00,201\n"
    let refusal = try #require(try ScratchFile(text).refusal())
    #expect(refusal.contains("--where 'Patient=1 of 2'") && !refusal.contains("Doe"), "\(refusal)")
  }

  // MARK: Persons by the number of their value

  private func numbers(_ text: String, where pairs: (String, String)...) throws -> [Double] {
    try ScratchFile(text).readings { options in
      options.rows = pairs.map { RowFilter(column: $0.0, value: $0.1) }
    }.readings.compactMap(\.measurement.quantity?.number)
  }

  @Test func aPersonIsSelectedByTheirNumberInTheOrderOfFirstRows() throws {
    let rows = [("b", 101), ("a", 201), ("b", 103), ("", 301), ("c", 401), ("a", 205)]
    let text = rows.enumerated().reduce("MRN,time,glucose (mg/dL)\n") { text, row in
      text + "\(row.element.0),2026-05-01 0\(row.offset):30,\(row.element.1)\n"
    }
    #expect(try numbers(text, where: ("MRN", "1 of 3")) == [101, 103])
    #expect(try numbers(text, where: ("mrn", "2 of 3")) == [201, 205])
    #expect(try numbers(text, where: ("MRN", "3 of 3")) == [401])
    let missing = try ScratchFile(text).refusal { $0.rows = [RowFilter(column: "MRN", value: "4 of 4")] }
    #expect(missing?.contains("no row has the value of --where in 'MRN'") == true)
    // A text such as `4 of 3` does not number a person. It is compared with the values of the column, and no
    // row matches.
    for value in ["0 of 3", "4 of 3", "1 of", "one of 3", "1  of 3"] {
      #expect(try ScratchFile(text).refusal { $0.rows = [RowFilter(column: "MRN", value: value)] } != nil)
    }
  }

  /// A message numbers only persons whose rows have a valid time and match the other row filters. The import
  /// numbers them in the same way.
  @Test func thePersonNumberInAMessageSelectsThatPerson() throws {
    let text =
      "kind,MRN,time,glucose (mg/dL)\nx,q,2026-05-01 07:00,99\ny,z,no time,98\ny,b,2026-05-01 07:30,101\n"
      + "y,a,2026-05-01 08:00,201\ny,b,2026-05-01 08:30,103\n"
    let refusal = try #require(
      try ScratchFile(text).refusal { $0.rows = [RowFilter(column: "kind", value: "y")] })
    #expect(refusal.contains("--where kind=y --where 'MRN=1 of 2'"), "\(refusal)")
    #expect(try numbers(text, where: ("kind", "y"), ("MRN", "1 of 2")) == [101, 103])
    #expect(try numbers(text, where: ("MRN", "2 of 2"), ("kind", "y")) == [201])
  }

  @Test func aNumberInARowFilterIsAValueAndNotAPosition() throws {
    let text = (0..<8).reduce("sid,time,glucose (mg/dL)\n") { text, row in
      text + "\(1 - row % 2),2026-05-01 0\(row):00,\(100 + row % 2 * 100 + row)\n"
    }
    #expect(try numbers(text, where: ("sid", "1")) == [100, 102, 104, 106])
    #expect(try numbers(text, where: ("sid", "2 of 2")) == [201, 203, 205, 207])
  }
}
