// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Meters

/// Tests whole sessions with FreeStyle meters.
struct FreeStyleDriverTests {
  private static let products: [String: UInt16] = [
    "freestyle-libre": 0x3650, "freestyle-neo": 0x3850, "freestyle-insulinx": 0x3450,
  ]

  private func read(
    _ driver: any MeterDriver.Type, _ session: FreeStyleTranscript, product: UInt16? = nil
  ) throws -> MeterContents {
    let replayed = try ReplayedSession(
      session.transcript, driver, product: product ?? Self.products[driver.id], now: 77)
    let contents = try driver.init().read(replayed.connection)
    #expect(replayed.transport.isExhausted)
    return contents
  }

  private func failure(_ session: FreeStyleTranscript) throws -> Failure? {
    let replayed = try ReplayedSession(session.transcript, FreeStyleNeoDriver.self, product: 0x3850)
    let failure = #expect(throws: Failure.self) { _ = try FreeStyleNeoDriver().read(replayed.connection) }
    #expect(replayed.transport.isExhausted)
    return failure
  }

  /// A session with a Neo or an InsuLinx that holds these rows.
  private func results(_ rows: [String], serial: String = "JAGT241-U6242") -> FreeStyleTranscript {
    var session = FreeStyleTranscript()
    session.identify("$serlnum?", serial)
    session.command("$result?")
    session.answer(FreeStyleTranscript.table(rows))
    return session
  }

  private func libre(history: [String] = [], results: [String] = []) -> FreeStyleTranscript {
    var session = FreeStyleTranscript()
    session.identify("$sn?", "JCMT123-A0001")
    session.command("$history?")
    session.answer(FreeStyleTranscript.table(history))
    session.command("$arresult?")
    session.answer(FreeStyleTranscript.table(results))
    return session
  }

  private func glucose(_ number: Double) -> Measurement { .value(Quantity(number, .milligramsPerDecilitre)) }

  private func ketone(_ number: Double) -> Measurement { .value(Quantity(number, .millimolesPerLitre)) }

  @Test func theRowsOfARealFreeStyleInsuLinxAreRead() throws {
    let contents = try read(
      FreeStyleInsuLinxDriver.self,
      results([
        "0,20476,8,27,14,12,47,1,0,0,0,3,0,68,0,0", "4,20470,8,26,14,11,26,1,0,5,70,160,26,2,0",
        "0,20180,7,23,14,12,18,1,0,0,0,1,0,127,0,0", "6,20175,7,22,14,10,58,1,7,22,14,9,50",
        "6,20171,8,29,13,23,59,1,8,29,13,23,58",
      ]))
    #expect(
      contents.identity.device
        == Device(
          vendor: "Abbott", model: "FreeStyle InsuLinx", serial: "JAGT241-U6242", format: "freestyle-insulinx"
        ))
    #expect(contents.identity.firmware == "1.40")
    #expect(
      contents.identity.clock?.meter.text == "2014-08-27T13:22:00" && contents.identity.clock?.host == 77)
    #expect(contents.readings.map(\.measurement) == [glucose(127), glucose(68)])
    #expect(contents.readings.map(\.deviceTime.text) == ["2014-07-23T12:18:00", "2014-08-27T12:47:00"])
    #expect(contents.readings.allSatisfy { $0.tick == nil && $0.marks.isEmpty && $0.kind == .smbg })
    #expect(contents.skipped == ["clock change": 2, "weekly trend": 1])
  }

  /// The rows are constructed, since no real ones of this kind are known.
  @Test func markedLimitAndUnknownRowsOfAFreeStyleInsuLinxAreRead() throws {
    let contents = try read(
      FreeStyleInsuLinxDriver.self,
      results([
        "3,5,7,23,14,12,22,1,0", "0,4,7,23,14,12,21,1,0,0,0,3,0,HI,0,0",
        "0,3,7,23,14,12,20,1,1,0,0,3,0,90,0,0",
        "0,2,7,23,14,12,19,0,0,0,0,3,0,91,0,0", "0,1,7,23,14,12,18,1,0,0,0,3,9,0,0,0",
      ]))
    #expect(
      contents.readings.map(\.measurement)
        == [ketone(0.5), glucose(91), glucose(90), .high(above: 500, .milligramsPerDecilitre)])
    #expect(contents.readings.map(\.kind) == [.ketone, .smbg, .smbg, .smbg])
    #expect(contents.readings.map(\.marks) == [[], .doubtfulTime, .temperatureWarning, []])
    #expect(contents.skipped == ["record of type 3": 1])
  }

  @Test func theKetoneRowsOfARealFreeStyleNeoAreRead() throws {
    let contents = try read(
      FreeStyleNeoDriver.self,
      results([
        "9,13,7,18,17,18,33,1,6,1,0", "6,7,11,23,17,20,8,1,11,23,17,20,10", "9,4,7,18,17,14,36,1,1,1,0",
        "6,2,7,18,17,14,32,1,7,18,17,14,5",
      ]))
    #expect(contents.readings.map(\.measurement) == [ketone(0.1), ketone(0.3)])
    #expect(contents.readings.map(\.deviceTime.text) == ["2017-07-18T14:36:00", "2017-07-18T18:33:00"])
    #expect(contents.skipped == ["clock change": 2])
  }

  /// The rows have the layout of those in a recorded session, with other numbers, times and values.
  @Test func stripTestsOfARecordedFreeStyleNeoSessionAreRead() throws {
    var session = FreeStyleTranscript()
    session.exchange("$serlnum?", "LXXX123S45678")
    session.exchange("$swver?", "1.19 May 30 2014")
    session.exchange("$date?", "3,5,17")
    session.exchange("$time?", "18,56")
    session.command("$result?")
    session.answer(
      FreeStyleTranscript.table([
        "6,71,3,4,17,0,43,1,3,4,17,0,41", "6,69,3,4,17,0,41,1,3,3,17,23,41",
        "7,42,3,2,17,13,14,1,131,0,1,0,1,66,1,0,0,0,1", "7,41,3,2,17,7,5,1,98,0,0,0,1,66,1,0,0,0,1",
      ]), piece: 62)
    let contents = try read(FreeStyleNeoDriver.self, session)
    #expect(contents.identity.device.serial == "LXXX123S45678")
    #expect(contents.identity.firmware == "1.19 May 30 2014")
    #expect(contents.identity.clock?.meter.text == "2017-03-05T18:56:00")
    #expect(contents.readings.map(\.measurement) == [glucose(98), glucose(131)])
    #expect(contents.readings.map(\.deviceTime.text) == ["2017-03-02T07:05:00", "2017-03-02T13:14:00"])
    #expect(contents.readings.map(\.marks) == [.controlSolution, []])
    #expect(contents.skipped == ["clock change": 2])
    #expect(contents.rejections.isEmpty)
  }

  /// The rows are constructed from the documented layout.
  @Test func limitsControlSolutionAndInsulinOfAFreeStyleNeoAreRead() throws {
    let contents = try read(
      FreeStyleNeoDriver.self,
      results([
        "11,9,7,18,17,9,9,1", "10,8,7,18,17,9,8,1,3,14,0,0,0", "10,7,7,18,17,9,7,1,1,6,0,0,0",
        "9,6,7,18,17,9,6,1,4,0,0", "9,5,7,18,17,9,5,1,HI,1,0", "7,4,7,18,17,9,4,1,105,0,0,0,0,0,0,0,0,0,0",
        "7,3,7,18,17,9,3,1,LO,0,1,0,0,0,0,0,0,0,0", "7,2,7,18,17,9,2,1,HI,0,1,0,0,0,0,0,0,0,0",
        "7,1,7,18,17,9,1,1,112,0,1,0,0,0,0,0,0,0,0",
      ]))
    #expect(
      contents.readings.map(\.measurement) == [
        glucose(112), .high(above: 500, .milligramsPerDecilitre), .low(below: 20, .milligramsPerDecilitre),
        glucose(105), .high(above: 8, .millimolesPerLitre), ketone(0.2),
      ])
    #expect(contents.readings.map(\.marks) == [[], [], [], .controlSolution, [], .controlSolution])
    #expect(
      contents.records.map(\.fields.json) == [
        #"{"subtype":"rapid","units":6}"#, #"{"subtype":"long","units":14}"#,
      ])
    #expect(contents.skipped == ["record of type 11": 1])
    #expect(contents.warnings.count == 1)
  }

  @Test(arguments: [
    ("0", #"{"subtype":"rapid"}"#), ("255", #"{"subtype":"rapid"}"#),
    ("1", #"{"subtype":"rapid","units":1}"#),
  ])
  func insulinOfAFreeStyleNeoWithoutADoseHasAnUnknownAmount(units: String, fields: String) throws {
    let contents = try read(FreeStyleNeoDriver.self, results(["10,7,7,18,17,9,7,1,1,\(units),0,0,0"]))
    #expect(contents.records.map(\.fields.json) == [fields])
    #expect(contents.rejections.isEmpty)
  }

  @Test func invalidFreeStyleRowsAreRejectedWithTheirNumber() throws {
    let contents = try read(
      FreeStyleNeoDriver.self,
      results([
        "7,4,7,18,17,9,4,1,x1,0,1", "7,3,2,30,17,9,3,1,100,0,1", "", "10,2,7,18,17,9,8,1,3,-1,0,0,0",
        "7,1,7,18,17,9,1,1,112",
      ]))
    #expect(contents.readings.count == 1)
    #expect(contents.rejections.map(\.line).sorted() == [1, 2, 3, 4])
  }

  @Test func sensorHistoryOfARealLibreHasTheTimesOfLibreView() throws {
    let contents = try read(
      FreeStyleLibreDriver.self,
      libre(history: [
        "58014,12,4,8,19,23,26,13,1,0,0,0,0,0,3795,32768", "58013,12,4,8,19,23,11,13,1,0,0,0,0,500,3780,0",
        "58012,12,4,8,19,22,56,13,1,0,0,0,0,191,3765,0", "58011,12,4,8,19,22,41,13,1,0,0,0,0,40,3750,0",
      ]))
    #expect(
      contents.identity.device.serial == "JCMT123-A0001"
        && contents.identity.device.model == "FreeStyle Libre")
    #expect(contents.readings.map(\.measurement) == [glucose(40), glucose(191), glucose(500)])
    #expect(contents.readings[1].deviceTime.text == "2019-04-08T22:56:00")
    #expect(contents.readings.map(\.marks) == [.atLimit, [], .atLimit])
    #expect(contents.readings.allSatisfy { $0.kind == .cbg && $0.tick == nil })
    #expect(contents.skipped == ["sensor reading with an error": 1])
  }

  /// The first two rows are documented. The others are constructed like them, since no other row of this
  /// length is public.
  @Test func scansAndStripTestsOfALibreIncludeTheirNotes() throws {
    let contents = try read(
      FreeStyleLibreDriver.self,
      libre(results: [
        #"226005,2,4,8,19,7,20,0,1,2,0,1,0,1,0,0,0,0,0,2,0,0,0,9,0,0,0,0,32768,"Walk","Party, late","","","","""#,
        #"226004,2,4,8,19,7,15,0,1,2,0,0,235,1,3,0,1,1,0,0,1,238,3,0,0,0,0,0,0,"","","","","","",7,4,8,19,7,16,5,1,6"#,
        "226003,5,4,8,19,7,12,0,1,4,8,19,8,12,0,0,0,0,0,0",
        #"226002,2,4,8,19,7,11,0,1,1,0,0,144,0,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,"","","","","","""#,
        #"226001,2,4,8,19,7,9,2,1,2,0,0,118,1,3,1,0,0,0,0,0,0,0,0,0,1,30,0,0,"","","","","","""#,
        #"226000,2,4,8,19,7,5,30,1,0,0,0,112,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"","","","","","""#,
      ]))
    #expect(contents.readings.map(\.kind) == [.smbg, .scan, .ketone, .scan])
    #expect(contents.readings.map(\.measurement) == [glucose(112), glucose(118), ketone(8), glucose(235)])
    #expect(contents.readings.map(\.marks) == [[], [], .atLimit, []])
    #expect(
      contents.records.map { "\($0.deviceTime.text.suffix(8)) \($0.kind) \($0.fields.json)" } == [
        #"07:09:00 food {"carbs":30}"#, "07:09:00 exercise {}", #"07:11:00 insulin {"subtype":"long"}"#,
        #"07:16:00 insulin {"subtype":"rapid","units":3}"#, #"07:15:00 note {"tags":["medication"]}"#,
        #"07:20:00 insulin {"subtype":"long","units":4.5}"#, #"07:20:00 note {"text":"Party, late"}"#,
      ])
    #expect(contents.skipped == ["clock change": 1, "reading with an error": 1])
  }

  /// The rows are constructed. LibreView exports the limits of the range as numbers, so the driver returns
  /// numbers, too, and both give the same readings.
  @Test func valuesAtTheEndsOfTheLibreRangeAreNumbersWithAMark() throws {
    let texts = #","","","","","","""#
    let rows = [(3, 2, 0, 500), (2, 2, 1, 40), (1, 0, 1, 40), (0, 0, 0, 40)].map { id, kind, low, value in
      "\(id),2,4,8,19,7,\(id),30,1,\(kind),0,\(low),\(value),0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0\(texts)"
    }
    let contents = try read(FreeStyleLibreDriver.self, libre(results: rows))
    #expect(contents.readings.map(\.measurement) == [glucose(40), glucose(40), glucose(40), glucose(500)])
    #expect(contents.readings.map(\.marks) == [[], .atLimit, .atLimit, .atLimit])
  }

  private func texts(_ contents: MeterContents) -> [String] {
    contents.records.map { "\($0.kind) \($0.fields.json)" }
  }

  /// Constructed cases: the two flags for food, the grams, and the expected records.
  @Test(arguments: [
    ("1,1", "0", ["food {}"]), ("0,1", "", ["food {}"]), ("1,0", "0", ["food {}"]),
    ("1,0", "30", ["food {}"]),
    ("0,1", "30", [#"food {"carbs":30}"#]), ("1,1", "7", [#"food {"carbs":7}"#]), ("0,0", "30", []),
    ("0,0", "0", []),
  ])
  func foodOfALibreWithoutGramsHasAnUnknownAmount(flags: String, grams: String, records: [String]) throws {
    let row =
      "1,2,4,8,19,7,9,2,1,2,0,0,118,1,3,0,0,0,0,0,0,0,0,0,\(flags),\(grams),0,0"
      + #","","","","","","""#
    let contents = try read(FreeStyleLibreDriver.self, libre(results: [row]))
    #expect(contents.readings.map(\.measurement) == [glucose(118)])
    #expect(texts(contents) == records)
    #expect(contents.rejections.isEmpty)
  }

  @Test func invalidFoodGramsOfALibreAreRejectedAndTheReadingIsKept() throws {
    let row = #"1,2,4,8,19,7,9,2,1,2,0,0,118,1,3,0,0,0,0,0,0,0,0,0,0,1,x,0,0,"","","","","","""#
    let contents = try read(FreeStyleLibreDriver.self, libre(results: [row]))
    #expect(contents.readings.count == 1 && contents.records.isEmpty && contents.rejections.count == 1)
  }

  @Test(arguments: [
    ("1,0", "0", "7,4,8,19,7,16,5,1,0", [#"insulin {"subtype":"rapid"}"#]),
    ("1,0", "0", "7,4,8,19,7,16,5,1,6", [#"insulin {"subtype":"rapid","units":3}"#]),
    ("1,1", "0", "0,0,0,0,0,0,0,0,0", [#"insulin {"subtype":"rapid"}"#, #"insulin {"subtype":"long"}"#]),
    ("0,1", "9", "0,0,0,0,0,0,0,0,0", [#"insulin {"subtype":"long","units":4.5}"#]),
    ("0,0", "0", "0,0,0,0,0,0,0,0,6", []),
  ])
  func insulinOfALibreWithoutADoseHasAnUnknownAmount(
    flags: String, long: String, rapid: String, records: [String]
  ) throws {
    let row =
      "1,2,4,8,19,7,9,2,1,2,0,0,118,1,3,0,0,\(flags),0,0,0,0,\(long),0,0,0,0,0"
      + #","","","","","","","# + rapid
    let contents = try read(FreeStyleLibreDriver.self, libre(results: [row]))
    #expect(contents.readings.map(\.measurement) == [glucose(118)])
    #expect(texts(contents) == records)
  }

  /// The test shortens and lengthens a row. All known fields that the row still has must be read.
  @Test(arguments: [13, 15, 16, 24, 26, 28, 29, 33, 36, 40, 43, 45, 50, 60])
  func theKnownFieldsOfALibreRowOfAnyLengthAreRead(count: Int) throws {
    let whole =
      #"1,2,4,8,19,7,9,2,1,2,0,0,118,1,3,1,0,0,0,2,0,0,0,9,0,1,30,0,0,"Walk","Party","","","","""#
      + ",0,0,0,0,0,0,0,0,0"
    let fields = whole.split(separator: ",").map(String.init)
    let row = (fields + [String](repeating: "0", count: 20)).prefix(count).joined(separator: ",")
    let contents = try read(FreeStyleLibreDriver.self, libre(results: [row]))
    #expect(contents.readings.map(\.measurement) == [glucose(118)])
    #expect(contents.rejections.isEmpty)
    var records: [String] = []
    if count > 23 { records.append(#"insulin {"subtype":"long","units":4.5}"#) }
    if count > 25 { records.append(count > 26 ? #"food {"carbs":30}"# : "food {}") }
    if count > 15 { records.append("exercise {}") }
    if count > 30 { records.append(#"note {"text":"Party"}"#) }
    #expect(texts(contents) == records)
  }

  @Test func aLibreRowThatEndsBeforeItsValueIsRejected() throws {
    let contents = try read(FreeStyleLibreDriver.self, libre(results: ["2,2,4,8,19,7,9,2,1,2,0,0", "1,2"]))
    #expect(
      contents.readings.isEmpty && contents.records.isEmpty && contents.rejections.map(\.line) == [2, 1])
  }

  /// A row with an error has no reading, whatever its length.
  @Test(arguments: [0, 5]) func aLibreRowWithAnErrorIsNotReadAsAReading(extra: Int) throws {
    let row =
      #"1,2,4,8,19,7,9,2,1,2,0,1,118,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,32768,"","","","","","""#
      + String(repeating: ",0", count: extra)
    let contents = try read(FreeStyleLibreDriver.self, libre(results: [row]))
    #expect(contents.readings.isEmpty && contents.skipped == ["reading with an error": 1])
  }

  /// The rows of a Libre 2 have three more numbers before the texts. The values are not those of the
  /// published rows.
  @Test func textsAndInsulinOfALibre2RowAreRead() throws {
    let contents = try read(
      FreeStyleLibreDriver.self,
      libre(
        history: ["243,12,1,11,25,10,23,43,1,0,0,0,85,60,0"],
        results: [
          "442,2,6,19,26,8,59,41,1,2,0,0,95,1,3,0,0,0,0,3,0,0,3,0,1,0,0,0,0,277,95,-35,"
            + #""12","Late","","","","""#,
          "441,2,6,19,26,8,57,41,1,2,0,0,86,1,3,0,0,1,0,0,1,238,3,0,0,0,0,0,0,289,86,-56,,,,,,,"
            + "7,6,19,26,8,58,16,1,5",
        ]))
    #expect(contents.readings.map(\.measurement) == [glucose(86), glucose(95)])
    #expect(
      texts(contents) == [
        #"insulin {"subtype":"rapid","units":2.5}"#, "food {}", #"note {"text":"12"}"#,
        #"note {"text":"Late"}"#,
      ])
    // The only known sensor history of the first Libre has rows with 16 fields, so a row with 15 is rejected.
    #expect(contents.rejections.map(\.line) == [1])
  }

  @Test func freeStyleReadingsAfterTheClockWasSetBackAreMarked() throws {
    let rows = [(4, 11), (3, 9), (2, 10), (1, 8)].map { "7,\($0.0),7,18,17,\($0.1),4,1,105,0,1" }
    let contents = try read(FreeStyleNeoDriver.self, results(rows))
    #expect(contents.readings.map(\.marks) == [[], [], .clockSetBack, []])
  }

  @Test func aLibreProReceivesTheSameReportsAsFromTheVendorProgram() throws {
    var session = FreeStyleTranscript()
    session.textType = 0x21
    session.identify("$sn?", "JCMT123-A0001")
    for command in ["$history?", "$arresult?"] {
      session.command(command)
      session.answer(FreeStyleTranscript.table([]))
    }
    #expect(try read(FreeStyleLibreDriver.self, session, product: 0x3670).readings.isEmpty)
  }

  @Test func aFreeStyleThatLostItsClockReportsNoClock() throws {
    var session = FreeStyleTranscript()
    session.exchange("$serlnum?", "JAGT241-U6242")
    session.exchange("$swver?", "1.17 May 14 2014")
    session.exchange("$date?", "255,255,255")
    session.exchange("$time?", "255,255")
    let replayed = try ReplayedSession(session.transcript, FreeStyleNeoDriver.self, product: 0x3850)
    let identity = try FreeStyleNeoDriver().identify(replayed.connection)
    #expect(identity.clock == nil && identity.firmware == "1.17 May 14 2014")
  }

  @Test func dataLeftByAnEarlierFreeStyleSessionIsDiscarded() throws {
    var session = FreeStyleTranscript(begun: false)
    session.meter([0x60, 7] + Array("\r\nCKSM:".utf8))
    session.silence()
    session.host([0x01, 0x00])
    session.meter([0x22, 0x01, 0x05])
    session.meter([0x71, 0x01, 0x01])
    session.identify("$serlnum?", "A")
    session.command("$result?")
    session.answer(FreeStyleTranscript.table([]), piece: 5)
    #expect(try read(FreeStyleNeoDriver.self, session).identity.device.serial == "A")
  }

  @Test func aFreeStyleTableWithALostReportIsRequestedAgain() throws {
    var session = FreeStyleTranscript()
    session.identify("$serlnum?", "A")
    let table = FreeStyleTranscript.table(["7,4,7,18,17,9,4,1,105,0,1", "7,3,7,18,17,9,3,1,100,0,1"])
    session.command("$result?")
    session.answer(Array(table.dropFirst(20)))
    session.silence()
    session.command("$result?")
    session.answer(Array(table.dropLast(3)))
    session.silence()
    session.silence()
    session.command("$result?")
    session.answer(table, piece: 13)
    #expect(try read(FreeStyleNeoDriver.self, session).readings.count == 2)
  }

  @Test func aFreeStyleTableThatStaysDamagedFailsTheRead() throws {
    var session = FreeStyleTranscript()
    session.identify("$serlnum?", "A")
    for _ in 1...3 {
      session.command("$result?")
      session.answer(Array("7,1\r\n1,00000000\r\nCKSM:00000000\r\nCMD OK\r\n".utf8))
      session.silence()
    }
    #expect(
      try failure(session)?.message
        == "asking for result: the answer came damaged 3 times; plug the meter into another socket and retry")
  }

  @Test func aFreeStyleThatIsSilentUnpluggedOrRefusesIsReported() throws {
    var silent = FreeStyleTranscript()
    silent.command("$serlnum?")
    silent.silence()
    #expect(try failure(silent)?.message.contains("did not answer in time") == true)
    var unplugged = FreeStyleTranscript()
    unplugged.command("$serlnum?")
    unplugged.fail(.unplugged)
    #expect(try failure(unplugged)?.category == .unavailable)
    var refused = FreeStyleTranscript()
    refused.command("$serlnum?")
    refused.answer(Array("CKSM:00000000\r\nCMD Fail!\r\n".utf8))
    #expect(try failure(refused)?.message.contains("is it the right driver?") == true)
    var mute = FreeStyleTranscript(begun: false)
    for _ in 1...2 {
      mute.silence()
      mute.host([0x01, 0x00])
      mute.silence()
    }
    #expect(try failure(mute)?.category == .protocolViolation)
  }

  @Test func aLibreReaderThatRequiresEncryptionFailsWithThatReason() throws {
    var session = FreeStyleTranscript()
    session.command("$serlnum?")
    session.meter([0x33, 0x01, 0x15])
    #expect(try failure(session)?.message.contains("encrypted") == true)
    var unknown = FreeStyleTranscript(begun: false)
    unknown.silence()
    unknown.host([0x01, 0x00])
    unknown.meter([0x30, 0x01, 0x85])
    #expect(try failure(unknown)?.message.contains("does not know the message") == true)
    let libre2 = FreeStyleLibreDriver.models.first { $0.productID == 0x3950 }
    #expect(libre2?.obstacle?.contains("encrypted") == true)
  }

  @Test func theClockOfAFreeStyleIsSetByTheDocumentedCommands() throws {
    var session = FreeStyleTranscript()
    for command in ["$date,8,27,14", "$time,13,40"] {
      session.command(command)
      session.answer(Array("CKSM:00000000\r\nCMD OK\r\n".utf8))
    }
    let time = try #require(DeviceTime(text: "2014-08-27T13:40:59"))
    for driver in [FreeStyleLibreDriver.self, FreeStyleNeoDriver.self, FreeStyleInsuLinxDriver.self]
      as [any MeterDriver.Type]
    {
      let replayed = try ReplayedSession(session.transcript, driver, product: Self.products[driver.id])
      try driver.init().setClock(replayed.connection, to: time)
      #expect(replayed.transport.isExhausted)
    }
  }

  @Test func aFreeStyleClockThatCannotBeSetIsReported() throws {
    var session = FreeStyleTranscript()
    session.command("$date,8,27,14")
    session.answer(Array("CKSM:00000000\r\nCMD Fail!\r\n".utf8))
    let replayed = try ReplayedSession(session.transcript, FreeStyleNeoDriver.self, product: 0x3850)
    let time = try #require(DeviceTime(text: "2014-08-27T13:40:59"))
    let old = try #require(DeviceTime(text: "1999-01-01"))
    for time in [time, old] {
      #expect(throws: Failure.self) { try FreeStyleNeoDriver().setClock(replayed.connection, to: time) }
    }
  }
}
