// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@testable import Meters

/// Tests the lines of a OneTouch Ultra2.
struct Ultra2LineTests {
  /// Lines from recordings or published tests, except for the last three, which are constructed.
  private static let lines = [
    "?P02.00.00 01/18/08 03BD", "@ \"HAXGR4PV\" 02F8", "T \"SAT\",\"08/03/13\",\"22:12:00   \" 0608",
    "P 003,\"GMF600DCY\",\"MG/DL \" 05A6", "P 150,\"NNS210DPN\",\"MG/DL \" 05BD",
    "P \"SAT\",\"03/21/15\",\"16:45:24   \",\"  081 \",\"N\",\"03\", 00 09B6",
    "P \"FRI\",\"07/14/17\",\"10:10:53   \",\"  649 \",\"N\",\"00\", 00 09B2",
    "P \"SAT\",\" 6/02/01\",\" 1:21:30   \",\"  228 \", 00 07F6",
    "F \"SAT\",\"08/03/13\",\"22:12:00   \" 05FA", "SU?,\"MMOL/L\" 0307",
    "P 000,\"ABCDE123Y\",\"MG/DL \" 0591",
  ]

  @Test(arguments: lines) func aOneTouchUltra2LineWithItsChecksumIsRead(line: String) {
    #expect(Ultra2Line.text(line.utf8) == String(line.dropLast(5)))
    // A change of any other character makes the checksum wrong.
    for index in line.utf8.indices where index < line.utf8.index(line.endIndex, offsetBy: -5) {
      var bytes = Array(line.utf8)
      bytes[line.utf8.distance(from: line.startIndex, to: index)] ^= 1
      #expect(Ultra2Line.text(bytes) == nil)
    }
  }

  @Test(arguments: ["INVALID", ".", "", "% 2500", "% 1337", "% 13AZ", " 0000", "% +025"])
  func aOneTouchUltra2LineWithoutAValidChecksumIsRefused(line: String) {
    #expect(Ultra2Line.text(line.utf8) == nil)
  }

  @Test func oneTouchUltra2TimesAreOfThisCenturyAndMustExist() {
    #expect(Ultra2Line.time(" 6/02/01", " 1:21:30   ")?.text == "2001-06-02T01:21:30")
    #expect(Ultra2Line.time("02/30/15", "16:45:24   ") == nil)
    #expect(Ultra2Line.time("03/21/15", "24:00:00   ") == nil)
    #expect(Ultra2Line.time("03/21", "16:45:24   ") == nil)
    #expect(Ultra2Line.time("03/21/-1", "16:45:24   ") == nil)
    #expect(Ultra2Line.time("03/21/2015", "16:45:24   ") == nil)
  }

  private static func record(_ result: String, _ rest: String = ",\"N\",\"00\"") -> Ultra2Record {
    Ultra2Record("P \"TUE\",\"01/02/24\",\"03:04:05   \",\"\(result)\"\(rest), 00")
  }

  private static func reading(
    _ measurement: Measurement, _ marks: ReadingMarks = [], remark: String = ""
  ) -> Ultra2Record {
    .reading(
      MeterReading(.smbg, at: DeviceTime(seconds: 1_704_164_645), measurement, marks: marks), remark: remark)
  }

  private static func milligrams(_ number: Double) -> Measurement {
    .value(Quantity(number, .milligramsPerDecilitre))
  }

  @Test(arguments: [
    ("  081 ", "", reading(milligrams(81))), ("  228 ", "", reading(milligrams(228))),
    ("  105 ", ",\"B\",\"02\"", reading(milligrams(105), .beforeMeal, remark: "too much food")),
    ("  105 ", ",\"A\",\"11\"", reading(milligrams(105), .afterMeal, remark: "other")),
    ("  105 ", ",\"N\",\"12\"", reading(milligrams(105))),
    ("  649 ", "", reading(.high(above: 600, .milligramsPerDecilitre))),
    ("  019 ", "", reading(.low(below: 20, .milligramsPerDecilitre))),
    (" HIGH ", "", reading(.high(above: 600, .milligramsPerDecilitre))),
    ("CHIGH ", "", reading(.high(above: 600, .milligramsPerDecilitre), .controlSolution)),
    (" REXC ", "", reading(.high(above: 600, .milligramsPerDecilitre))),
    ("  REXC", "", reading(.high(above: 600, .milligramsPerDecilitre))),
    ("REXC  ", "", reading(.high(above: 600, .milligramsPerDecilitre))),
    ("CREXC ", "", reading(.high(above: 600, .milligramsPerDecilitre), .controlSolution)),
    ("KHIGH ", "", reading(.high(above: 600, .milligramsPerDecilitre), .controlSolution)),
    ("!HIGH ", "", .skipped("check strip")), ("IREXC ", "", .skipped("entry of insulin or carbohydrates")),
    (" REXC?", "", .rejected("a record that the meter marks as damaged")),
    ("XREXC ", "", .rejected("the result is not a number")),
    (" REXD ", "", .rejected("the result is not a number")),
    ("MMHIGH", "", .rejected("the result is not a number")),
    ("C 112 ", "", reading(milligrams(112), .controlSolution)),
    ("K 112 ", "", reading(milligrams(112), .controlSolution)),
    ("MM 5.6", "", reading(.value(Quantity(5.6, .millimolesPerLitre)))),
    ("! 112 ", "", .skipped("check strip")),
    ("I 012 ", "", .skipped("entry of insulin or carbohydrates")),
    ("  112?", "", .rejected("a record that the meter marks as damaged")),
    ("  1e2 ", "", .rejected("the result is not a number")),
    ("      ", "", .rejected("the result is not a number")),
  ]) func aOneTouchUltra2ResultIsParsedByItsCharacters(result: String, rest: String, expected: Ultra2Record) {
    #expect(Self.record(result, rest.isEmpty ? ",\"N\",\"00\"" : rest) == expected)
  }

  @Test(arguments: [
    "", "P", "P \"", "P \"a\",\"b\",\"c\"", "P \"\",\"\",\"\",\"\"", "X \"a\",\"b\",\"c\",\"d\"",
  ])
  func anInvalidOneTouchUltra2LineIsRejected(text: String) {
    guard case .rejected = Ultra2Record(text) else {
      Issue.record("'\(text)' was understood")
      return
    }
  }

  @Test func arbitraryBytesNeverCrashTheOneTouchUltra2Parser() {
    var random = SeededGenerator(seed: 42)
    for round in 0..<20_000 {
      let bytes = random.mutated(Array(Self.lines[round % Self.lines.count].utf8))
      _ = Ultra2Line.text(bytes)
      _ = Ultra2Record(String(decoding: bytes, as: UTF8.self))
    }
  }
}

/// Tests sessions with a OneTouch Ultra2.
struct OneTouchUltra2Tests {
  private static func connection(_ transport: ReplayedTransport) -> MeterConnection {
    MeterConnection(transport, model: OneTouchUltra2Driver.models[0], now: { 1_500_000_000 })
  }

  /// The lines of the version and the serial number are recorded. The checksum in the clock's line is
  /// calculated.
  private static func identified() -> WrittenSession {
    var session = WrittenSession()
    session.exchange("DM?", "?P02.00.00 01/18/08 03BD\r\n")
    session.exchange("DM@", "@ \"HAXGR4PV\" 02F8\r\n")
    session.exchange("DMF", "F \"SAT\",\"08/03/13\",\"22:12:00   \" 05FA\r\n")
    return session
  }

  private static let dump =
    "P 003,\"GMF600DCY\",\"MG/DL \" 05A6\r\n"
    + "P \"SAT\",\"03/21/15\",\"16:45:24   \",\"  081 \",\"N\",\"03\", 00 09B6\r\n"
    + "P \"SAT\",\"03/21/15\",\"16:42:11   \",\"  105 \",\"B\",\"02\", 00 099F\r\n"
    + "P \"SAT\",\"03/21/15\",\"16:39:46   \",\"  176 \",\"N\",\"02\", 00 09C1\r\n"

  @Test func readingsAndRemarksOfARecordedOneTouchUltra2DumpAreRead() throws {
    var session = Self.identified()
    session.exchange("DMP", String(Self.dump.prefix(20)))
    session.receive(Array(Self.dump.utf8.dropFirst(20)))
    let transport = session.replayed
    let contents = try OneTouchUltra2Driver().read(Self.connection(transport))
    #expect(transport.isExhausted)
    #expect(
      contents.identity.device
        == Device(
          vendor: "LifeScan", model: "OneTouch UltraLink", serial: "HAXGR4PV", format: "onetouch-ultra2"))
    #expect(contents.identity.firmware == "P02.00.00")
    #expect(contents.identity.clock?.meter.text == "2013-08-03T22:12:00")
    #expect(
      contents.readings.map(\.deviceTime.text) == [
        "2015-03-21T16:39:46", "2015-03-21T16:42:11", "2015-03-21T16:45:24",
      ])
    #expect(contents.readings.compactMap(\.measurement.quantity?.number) == [176, 105, 81])
    #expect(contents.readings.map(\.marks) == [[], .beforeMeal, []])
    #expect(
      contents.records.map(\.fields["text"]) == [
        .text("mild exercise"), .text("too much food"), .text("too much food"),
      ])
    #expect(contents.records.allSatisfy { $0.kind == .note })
  }

  /// Only the last letter of the serial number states the model.
  @Test(arguments: [
    ("ABC123DEY", "OneTouch Ultra2"), ("ABC123DET", "OneTouch Ultra"), ("ABC123DV", "OneTouch UltraLink"),
    ("ABC123DEX", "OneTouch Ultra, Ultra2 or UltraLink"), ("Y", "OneTouch Ultra2"),
  ])
  func theSerialNumberDeterminesTheOneTouchUltraModel(serial: String, model: String) throws {
    var session = WrittenSession()
    session.exchange("DM?", "?P02.00.00 01/18/08 03BD\r\n")
    session.exchange("DM@", Self.line("@ \"\(serial)\""))
    session.exchange("DMF", "F \"SAT\",\"08/03/13\",\"22:12:00   \" 05FA\r\n")
    #expect(try OneTouchUltra2Driver().identify(Self.connection(session.replayed)).device.model == model)
  }

  /// The lines have the layout of those in a recorded session, with other numbers, times and values.
  @Test func anOldOneTouchUltraIsRead() throws {
    var session = WrittenSession()
    session.exchange("DM?", Self.line("?P02.00.01   /  /  "))
    session.exchange("DM@", Self.line("@ \"ABC1DE2FT\""))
    session.exchange("DMF", Self.line("F \"WED\",\"09/10/14\",\"16:20:31   \""))
    session.exchange(
      "DMP",
      Self.line("P 002,\"ABC1DE2FT\",\"MG/DL \"")
        + Self.line("P \"TUE\",\"09/09/14\",\"18:01:12   \",\"  104 \", 00")
        + Self.line("P \"MON\",\"09/08/14\",\" 7:01:12   \",\"C 115 \", 00"))
    let transport = session.replayed
    let contents = try OneTouchUltra2Driver().read(Self.connection(transport))
    #expect(transport.isExhausted)
    #expect(contents.identity.device.model == "OneTouch Ultra")
    #expect(contents.identity.firmware == "P02.00.01")
    #expect(contents.identity.clock?.meter.text == "2014-09-10T16:20:31")
    #expect(contents.readings.compactMap(\.measurement.quantity?.number) == [115, 104])
    #expect(contents.readings.map(\.marks) == [.controlSolution, []])
    #expect(contents.readings.map(\.deviceTime.text) == ["2014-09-08T07:01:12", "2014-09-09T18:01:12"])
    #expect(contents.records.isEmpty && contents.rejections.isEmpty && contents.warnings.isEmpty)
  }

  @Test func aOneTouchUltraClockThatIsNotSetIsReportedAndTheReadingsKept() throws {
    var session = WrittenSession()
    session.exchange("DM?", "?P02.00.00 01/18/08 03BD\r\n")
    session.exchange("DM@", "@ \"HAXGR4PV\" 02F8\r\n")
    session.exchange("DMF", Self.line("F \"   \",\"  /  /  \",\"  :  :     \""))
    session.exchange("DMP", Self.dump)
    let contents = try OneTouchUltra2Driver().read(Self.connection(session.replayed))
    #expect(contents.readings.count == 3 && contents.identity.clock == nil)
    #expect(contents.warnings == ["the meter's clock is not set"])
  }

  /// A recorded Ultra took 3.5 seconds for its first answer.
  @Test func theDriverWaitsForASlowFirstAnswerOfAOneTouchUltra() throws {
    let slow = SlowFirstAnswer(Self.identified().replayed, milliseconds: 3500)
    let meter = MeterConnection(slow, model: OneTouchUltra2Driver.models[0], now: { 0 })
    #expect(try OneTouchUltra2Driver().identify(meter).device.serial == "HAXGR4PV")
  }

  @Test func aLostCommandToAOneTouchUltra2IsRepeated() throws {
    var session = WrittenSession()
    session.exchange("DM?", nil)
    session.receive(.timedOut)
    session.exchange("DM?", "\0")
    session.exchange("DM?", "?P02.00.00 01/18/08 03BE\r\n")
    session.exchange("DM?", "?P02.00.00 01/18/08 03BD\r\n")
    session.exchange("DM@", "@ \"HAXGR4PV\" 02F8\r\n")
    session.exchange("DMF", "F \"SAT\",\"08/03/13\",\"22:12:00   \" 05FA\r\n")
    #expect(
      try OneTouchUltra2Driver().identify(Self.connection(session.replayed)).device.serial == "HAXGR4PV")
  }

  @Test func aSilentOneTouchUltra2FailsAfterFiveTries() {
    var session = WrittenSession()
    for _ in 0..<5 {
      session.exchange("DM?", nil)
      session.receive(.timedOut)
    }
    let transport = session.replayed
    #expect(throws: Failure.self) { try OneTouchUltra2Driver().identify(Self.connection(transport)) }
    #expect(transport.isExhausted)
  }

  @Test func aOneTouchUltra2DumpWithADamagedLineIsRepeatedAsAWhole() throws {
    var session = Self.identified()
    session.exchange("DMP", Self.dump.replacing("  105 ", with: "  106 "))
    session.receive(.timedOut)
    var hopeless = session
    session.exchange("DMP", Self.dump)
    #expect(try OneTouchUltra2Driver().read(Self.connection(session.replayed)).readings.count == 3)
    for _ in 0..<2 {
      hopeless.exchange("DMP", Self.dump.replacing("  105 ", with: "  106 "))
      hopeless.receive(.timedOut)
    }
    let transport = hopeless.replayed
    let failure = #expect(throws: Failure.self) {
      _ = try OneTouchUltra2Driver().read(Self.connection(transport))
    }
    #expect(failure?.category == .protocolViolation)
    #expect(transport.isExhausted)
  }

  @Test func anIncompleteOneTouchUltra2DumpFailsTheRead() {
    var session = Self.identified()
    session.exchange("DMP", String(Self.dump.prefix(160)))
    session.receive(.timedOut)
    let failure = #expect(throws: Failure.self) {
      _ = try OneTouchUltra2Driver().read(Self.connection(session.replayed))
    }
    #expect(failure?.message.hasPrefix("reading record 3 of 3: ") == true)
  }

  @Test func anEmptyOneTouchUltra2MemoryAndDamagedRecordsAreReported() throws {
    var session = Self.identified()
    session.exchange("DMP", "P 000,\"ABCDE123Y\",\"MG/DL \" 0591\r\n")
    #expect(try OneTouchUltra2Driver().read(Self.connection(session.replayed)).readings.isEmpty)
    var damaged = Self.identified()
    damaged.exchange(
      "DMP",
      Self.line("P 002,\"ABCDE123Y\",\"MG/DL \"")
        + "P \"TUE\",\"01/02/24\",\"03:04:05   \",\"  112?\",\"A\",\"11\", 00 09BB\r\n"
        + "P \"TUE\",\"01/02/24\",\"03:04:05   \",\"C 112 \",\"N\",\"00\", 00 09CA\r\n")
    let contents = try OneTouchUltra2Driver().read(Self.connection(damaged.replayed))
    #expect(contents.rejections.map(\.line) == [1])
    #expect(contents.readings.map { $0.marks.contains(.controlSolution) } == [true])
  }

  @Test func aOneTouchProfileIsRefusedAsUnsupported() {
    var session = Self.identified()
    session.exchange("DMP", Self.line("P 001,\"ABCDE123Y\",\"MG/DL \",\"ENGL. \",\"M.D.Y. \""))
    let failure = #expect(throws: Failure.self) {
      _ = try OneTouchUltra2Driver().read(Self.connection(session.replayed))
    }
    #expect(failure?.message.contains("Profile") == true)
  }

  @Test func theClockOfAOneTouchUltra2IsSetAndTheAnswerChecked() throws {
    let time = try #require(DeviceTime(text: "2013-08-03T22:12:00"))
    var session = WrittenSession()
    session.exchange("DMT08/03/13 22:12:00", "T \"SAT\",\"08/03/13\",\"22:12:00   \" 0608\r\n")
    try OneTouchUltra2Driver().setClock(Self.connection(session.replayed), to: time)
    var wrong = WrittenSession()
    wrong.exchange("DMT08/03/13 22:12:00", Self.line("T \"SAT\",\"08/03/13\",\"21:12:00   \""))
    #expect(throws: Failure.self) {
      try OneTouchUltra2Driver().setClock(Self.connection(wrong.replayed), to: time)
    }
  }

  /// A line with its checksum.
  private static func line(_ text: String) -> String {
    let digits = String(text.utf8.reduce(0) { $0 + Int($1) }, radix: 16, uppercase: true)
    return text + " " + String(repeating: "0", count: 4 - digits.count) + digits + "\r\n"
  }
}

extension WrittenSession {
  /// A command and its immediate answer; nil for none.
  fileprivate mutating func exchange(_ command: String, _ answer: String?) {
    add(.discard)
    send([0x11, 0x0D] + Array(command.utf8) + [0x0D])
    if let answer { receive(Array(answer.utf8)) }
  }
}
