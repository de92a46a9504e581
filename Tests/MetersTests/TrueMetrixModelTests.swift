// SPDX-License-Identifier: Apache-2.0

import Logbook
import SimulatedMeters
import Testing

/// Tests the simulated TRUE METRIX, compared with a recorded session with the manufacturer's program.
struct TrueMetrixModelTests {
  private static func meter(_ items: [SimulatedItem] = []) throws -> SimulatedTrueMetrix {
    var memory = SimulatedMemory(clock: try #require(DeviceTime(text: "2021-12-08T16:07:56")))
    memory.serial = "T08269395"
    memory.firmware = "2.53"
    memory.items = items
    return SimulatedTrueMetrix(memory)
  }

  private static func item(_ time: String, _ number: Double, _ marks: ReadingMarks = []) throws
    -> SimulatedItem
  {
    SimulatedItem(
      at: try #require(DeviceTime(text: time)), .value(Quantity(number, .milligramsPerDecilitre)),
      marks: marks)
  }

  /// Sends a text and returns the joined answer.
  private static func exchange(_ meter: SimulatedTrueMetrix, _ text: String) -> String {
    #expect(meter.accept([0xA0, UInt8(text.utf8.count)] + Array(text.utf8), endpoint: 0x01))
    var bytes: [UInt8] = []
    while case .data(let report) = meter.nextPacket(endpoint: 0x81, maxBytes: 64) {
      #expect(report.count == 64)
      #expect((1...8).contains(report[0]))
      bytes += report[1...Int(report[0])]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The requests and answers are from a recording, except those of the clock.
  @Test(arguments: [
    ("(I)9A", "(iMR2)8B\r\n"), ("(Z1)DC", "(z1T08269395)FA\r\n"), ("(V)A7", "(v2.53)8F\r\n"),
    ("(S)A4", "(sh01907625)CA\r\n"), ("(P41)06", "(p*)EB\r\n"), ("(Q56071608122120)6B", "(q*)EC\r\n"),
    ("(I)9A\r", "(iMR2)8B\r\n"), ("(T)A5", "(t560716081221)2C\r\n"), ("(_)B0", "(_)B0\r\n"),
  ]) func theSimulatedTrueMetrixAnswersWhenAwake(command: String, answer: String) throws {
    let meter = try Self.meter()
    #expect(Self.exchange(meter, "(^)AF") == "(^*)D9\r\n")
    #expect(Self.exchange(meter, command) == answer)
  }

  /// The expected records are the six newest of 95 in a recording.
  @Test func theSimulatedTrueMetrixSendsRecordsNewestFirstWithAChecksum() throws {
    let meter = try Self.meter([
      Self.item("2021-12-06T18:57", 106, .beforeMeal), Self.item("2021-12-07T01:12", 113, .afterMeal),
      Self.item("2021-12-07T10:12", 123, .afterMeal), Self.item("2021-12-08T05:22", 158, .beforeMeal),
      Self.item("2021-12-08T09:59", 155, .afterMeal), Self.item("2021-12-08T15:02", 105, .beforeMeal),
    ])
    _ = Self.exchange(meter, "(^)AF")
    let lines = Self.exchange(meter, "(ZG1)23").split(separator: "\r\n")
    #expect(lines.count == 7)
    #expect(
      lines.prefix(6) == [
        "(zg5C3355DE06901)03", "(zg5C3353BF09B02)0D", "(zg5C33520A09E01)F7", "(zg5C2D13F407B02)09",
        "(zg5C2D107007102)E2", "(zg5C26D74106A01)FA",
      ])
    let texts = lines.prefix(6).map { String($0.dropFirst(4).dropLast(3)) }
    let sum = texts.reduce(0) { $0 + $1.utf8.reduce(0) { $0 + Int($1) } }
    let digits = String(sum, radix: 16, uppercase: true)
    #expect(lines[6].hasPrefix("(x1" + String(repeating: "0", count: 4 - digits.count) + digits + ")"))
    #expect(Self.exchange(meter, "(G)98").hasPrefix("(g5C3355DE06901)"))
  }

  @Test func anEmptySimulatedTrueMetrixSendsOnlyTheChecksum() throws {
    let meter = try Self.meter()
    _ = Self.exchange(meter, "(^)AF")
    #expect(Self.exchange(meter, "(G)98") == "(x10000)BA\r\n")
  }

  @Test func theSimulatedTrueMetrixSendsValuesOutsideTheRangeAsNumbers() throws {
    let time = try #require(DeviceTime(text: "2021-12-08T15:02"))
    let meter = try Self.meter([
      SimulatedItem(at: time, .low(below: nil, .milligramsPerDecilitre)),
      SimulatedItem(at: time, .high(above: nil, .milligramsPerDecilitre)),
    ])
    _ = Self.exchange(meter, "(^)AF")
    let text = Self.exchange(meter, "(G)98")
    #expect(text.contains("(g5C3355DE25900)"))
    #expect(text.contains("(g5C3355DE01300)"))
  }

  @Test func theSimulatedTrueMetrixIsSilentWhileItSleeps() throws {
    let meter = try Self.meter()
    #expect(Self.exchange(meter, "(I)9A") == "")
    #expect(Self.exchange(meter, "(_)B0") == "(_)B0\r\n")
    #expect(Self.exchange(meter, "(^)AF") == "(^*)D9\r\n(iMR2)8B\r\n")
    #expect(Self.exchange(meter, "(^)AF") == "(^*)D9\r\n")
  }

  @Test func theSimulatedTrueMetrixDoesNotAnswerAWrongChecksum() throws {
    let meter = try Self.meter()
    _ = Self.exchange(meter, "(^)AF")
    #expect(Self.exchange(meter, "(I)9B") == "")
    #expect(meter.accept([0xA1, 0x01, 0x05], endpoint: 0x01))
    #expect(Self.exchange(meter, "(I)9A") == "(iMR2)8B\r\n")
    meter.isDocked = false
    #expect(Self.exchange(meter, "(I)9A") == "")
  }

  @Test func theClockOfTheSimulatedTrueMetrixIsSet() throws {
    let meter = try Self.meter()
    _ = Self.exchange(meter, "(^)AF")
    #expect(Self.exchange(meter, "(Q00000031022220)4E") == "")
    #expect(Self.exchange(meter, "(Q01020304052220)57") == "(q*)EC\r\n")
    #expect(meter.memory.clock.text == "2022-05-04T03:02:01")
  }
}
