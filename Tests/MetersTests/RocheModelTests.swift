// SPDX-License-Identifier: Apache-2.0

import Logbook
import SimulatedMeters
import Testing

/// Tests the simulated Roche meter, compared with what real ones sent.
struct RocheModelTests {
  private static let accept = [UInt8](
    printed: "E3 00 00 2C 00 03 50 79 00 26 80 00 00 02 80 00 80 00 00 00 00 00 00 00 80 00 00 00 00 08 "
      + "12 34 56 78 00*4 00*10")
  private static let configured =
    "E7 00 00 16 00 14 00 A4 02 01 00 0E 00 00 00 00 00 00 0D 1C 00 04 40 00 00 00"

  private static func meter(
    _ items: [SimulatedItem] = [], entriesInReport: Int = 2, describesItself: Bool = true
  ) throws -> SimulatedRochePHDC {
    var memory = SimulatedMemory(clock: try #require(DeviceTime(text: "2026-10-01T21:06:58")))
    memory.serial = "92500000042"
    memory.firmware = "v1.9.6"
    memory.items = items
    return SimulatedRochePHDC(memory, entriesInReport: entriesInReport, describesItself: describesItself)
  }

  private static func item(_ time: String, _ number: Double, _ marks: ReadingMarks = []) throws
    -> SimulatedItem
  {
    SimulatedItem(
      at: try #require(DeviceTime(text: time)), .value(Quantity(number, .milligramsPerDecilitre)),
      marks: marks)
  }

  /// Sends bytes and returns the bytes that the meter sends next.
  private static func exchange(_ meter: SimulatedRochePHDC, _ bytes: [UInt8]) -> [UInt8] {
    #expect(meter.accept(bytes, endpoint: 0x01))
    return next(meter)
  }

  private static func next(_ meter: SimulatedRochePHDC) -> [UInt8] {
    if case .data(let bytes) = meter.nextPacket(endpoint: 0x81, maxBytes: 1024) { bytes } else { [] }
  }

  /// A simulated meter whose configuration the host has accepted.
  private static func operating(_ items: [SimulatedItem] = [], describesItself: Bool = true) throws
    -> SimulatedRochePHDC
  {
    let meter = try meter(items, describesItself: describesItself)
    _ = next(meter)
    _ = exchange(meter, accept)
    #expect(exchange(meter, [UInt8](printed: configured)) == [])
    #expect(meter.state == .operating)
    return meter
  }

  @Test func theSimulatedAccuChekGuideRequestsAnAssociationOnce() throws {
    let meter = try Self.meter()
    let request = Self.next(meter)
    #expect(request.count == 54)
    #expect(request.starts(with: [UInt8](printed: "E2 00 00 32 80 00 00 00 00 01 00 2A")))
    #expect(Self.next(meter) == [])
    #expect(
      Self.exchange(meter, Self.accept)
        == [UInt8](
          printed: "E7 00 00 3A 00 38 00 A4 01 01 00 32 00 00 FF FF FF FF 0D 1C 00 28 40 00 00 02 00 22 "
            + "00 06 00 01 00 01 00 06 09 2F 00 02 71 44 00 3D 00 05 00 02 00 0C 09 21 00 02 01 00 09 51 00 02 00 04"
        ))
  }

  /// The attributes are from a real Guide.
  @Test func theSimulatedAccuChekGuideHasTheAttributesOfARealOne() throws {
    let meter = try Self.operating()
    let answer = Self.exchange(meter, [UInt8](printed: "E7 00 00 0E 00 0C 00 A4 01 03 00 06 00*6"))
    #expect(
      answer
        == [UInt8](
          printed:
            "E7 00 00 D4 00 D2 00 A4 02 03 00 CC 00 00 00 08 00 C6 09 28 00 0E 00 06 52 6F 63 68 65 00 00 04 "
            + "39 32 35 00 09 84 00 0A 00 08 00 60 19 00 00 00 00 42 0A 44 00 02 40 00 09 2D 00 56 00 03 00 52 00 01 "
            + "00 00 00 1A 73 65 72 69 61 6C 2D 6E 75 6D 62 65 72 3A 20 39 32 35 30 30 30 30 30 30 34 32 00 03 10 00 "
            + "00 12 68 77 2D 72 65 76 69 73 69 6F 6E 3A 20 47 00 00 00 00 00 05 00 00 00 14 66 77 2D 72 65 76 69 73 "
            + "69 6F 6E 3A 20 76 31 2E 39 2E 36 00 09 87 00 08 20 26 10 01 21 06 58 00 0A 45 00 10 C0 00 1F 00 FF*4 "
            + "00 64 00*6 0A 4B 00 16 00 02 00 12 02 01 00 08 04 01 00 01 00 02 20 11 02 02 00 02 00 00 0A 5A 00 08 "
            + "00 01 00 04 10 11 00 02"))
  }

  /// The segments are from a real Guide with 638 readings and 576 meal marks.
  @Test func theSimulatedAccuChekGuideHasTheMemorySegmentsOfARealOne() throws {
    let first = try Self.item("2025-01-01T08:00:00", 100, .beforeMeal)
    let last = try Self.item("2025-01-31T19:30:00", 100, .afterMeal)
    var items = [first] + [SimulatedItem](repeating: first, count: 574)
    items += try [SimulatedItem](repeating: Self.item("2025-01-02T08:00:00", 100), count: 62) + [last]
    let meter = try Self.operating(items)
    let answer = Self.exchange(
      meter, [UInt8](printed: "E7 00 00 14 00 12 00 A5 01 07 00 0C 00 05 0C 0D 00 06 00 01 00 02 00 00"))
    #expect(answer.count == 470)
    #expect(
      answer.starts(
        with: [UInt8](
          printed:
            "E7 00 01 D2 01 D0 00 A5 02 07 01 CA 00 05 0C 0D 01 C4 00 04 01 C0 00 00 00 09 00 6C 09 22 00 02 "
            + "00 00 0A 4E 00 1A 80 00 00 01 00 14 00 06 00 02 72 70 00 01 00 02 00 08 0A 4C 00 02 09 47 00 02 09 53 "
            + "00 02 00 00 0A 58 00 0C 00 0A 50 4D 53 65 67 47 6C 75 63 20 0A 62 00 06 00*6 09 92 00 08 20 25 01 01 "
            + "08 00 00 00 09 8A 00 08 20 25 01 31 19 30 00 00 09 7B 00 04 00 00 02 7E 0A 64 00 04 00 02 71 00 00 01"
        )))
    #expect(
      answer.suffix(110)
        == [UInt8](
          printed:
            "00 03 00 09 00 68 09 22 00 02 00 03 0A 4E 00 16 80 00 00 01 00 10 00 05 00 80 72 48 00 04 00 01 "
            + "00 04 0A 49 00 02 09 53 00 02 00 00 0A 58 00 0C 00 0A 50 4D 53 65 67 43 4D 65 61 6C 0A 62 00 06 00*6 "
            + "09 92 00 08 20 25 01 01 08 00 00 00 09 8A 00 08 20 25 01 31 19 30 00 00 09 7B 00 04 00 00 02 40 0A 64 "
            + "00 04 00 02 71 00"))
  }

  @Test func theSimulatedAccuChekGuideSendsAReportAfterTheEarlierIsConfirmed() throws {
    let meter = try Self.operating([
      Self.item("2026-09-30T07:31:12", 112, .fasting), Self.item("2026-09-30T13:02:40", 182, .afterMeal),
      Self.item("2026-09-30T21:45:03", 151),
    ])
    #expect(
      Self.exchange(meter, [UInt8](printed: "E7 00 00 10 00 0E 00 13 01 07 00 08 00 05 0C 1C 00 02 00 00"))
        == [UInt8](printed: "E7 00 00 12 00 10 00 13 02 07 00 0A 00 05 0C 1C 00 04 00 00 00 00"))
    #expect(
      Self.next(meter)
        == [UInt8](
          printed:
            "E7 00 00 38 00 36 00 A5 01 01 00 30 00 05 FF FF FF FF 0D 21 00 26 00 00 00 00 00 00 00 00 00 02 "
            + "80 00 00 18 20 26 09 30 07 31 12 00 00 70 00 00 20 26 09 30 13 02 40 00 00 B6 00 00"))
    #expect(Self.next(meter) == [])
    let second = Self.exchange(
      meter,
      [UInt8](
        printed:
          "E7 00 00 1E 00 1C 00 A5 02 01 00 16 00 05 FF FF FF FF 0D 21 00 0C 00 00 00 00 00 00 00 00 00 02 00 80"
      ))
    #expect(
      second.dropFirst(22).elementsEqual(
        [UInt8](printed: "00 00 00 00 00 02 00 00 00 01 40 00 00 0C 20 26 09 30 21 45 03 00 00 97 00 00")))
    // If a confirmation lacks the flag 0x80, the meter ends the session.
    let abort = Self.exchange(
      meter,
      [UInt8](
        printed:
          "E7 00 00 1E 00 1C 00 A6 02 01 00 16 00 05 FF FF FF FF 0D 21 00 0C 00 00 00 00 00 02 00 00 00 01 00 00"
      ))
    #expect(abort.starts(with: [0xE6, 0x00]))
    #expect(meter.state == .aborted)
  }

  @Test func theSimulatedAccuChekGuideHasMealsAndControlsInSeparateSegments() throws {
    let meter = try Self.operating([
      Self.item("2026-09-30T07:31:12", 112, .fasting),
      Self.item("2026-09-30T08:00:00", 100, .controlSolution),
    ])
    let answers: [(UInt8?, ArraySlice<UInt8>)] = ([0, 1, 2, 3, 4] as [UInt8]).map { segment in
      let result = Self.exchange(
        meter, [UInt8](printed: "E7 00 00 10 00 0E 00 13 01 07 00 08 00 05 0C 1C 00 02 00") + [segment])
      let report = Self.next(meter)
      return (result.last, report.dropFirst(36))
    }
    #expect(answers.map(\.0) == [0, 0, 3, 0, 1])
    #expect(answers[0].1.elementsEqual([UInt8](printed: "20 26 09 30 07 31 12 00 00 70 00 00")))
    #expect(answers[1].1.elementsEqual([UInt8](printed: "20 26 09 30 08 00 00 00 00 64 00 00")))
    #expect(answers[3].1.elementsEqual([UInt8](printed: "20 26 09 30 07 31 12 00 72 54")))
  }

  @Test func theSimulatedAccuChekGuideSendsLowAndHighAsInfinities() throws {
    let time = try #require(DeviceTime(text: "2026-09-01T12:00:00"))
    let meter = try Self.operating([
      SimulatedItem(at: time, .high(above: nil, .milligramsPerDecilitre)),
      SimulatedItem(at: time, .low(below: nil, .milligramsPerDecilitre)),
    ])
    _ = Self.exchange(meter, [UInt8](printed: "E7 00 00 10 00 0E 00 13 01 07 00 08 00 05 0C 1C 00 02 00 00"))
    let report = Self.next(meter)
    #expect(report[32] == 0xC0)
    #expect(Array(report[44..<46]) == [0x07, 0xFE])
    #expect(Array(report[56..<58]) == [0x08, 0x02])
  }

  @Test func theClockOfTheSimulatedAccuChekGuideIsSetByARecordedMessage() throws {
    let meter = try Self.operating()
    #expect(
      Self.exchange(
        meter,
        [UInt8](
          printed: "E7 00 00 1A 00 18 00 13 01 07 00 12 00 00 0C 17 00 0C 20 26 10 01 20 42 52 00 00 00 00 00"
        ))
        == [UInt8](printed: "E7 00 00 0E 00 0C 00 13 02 07 00 06 00 00 0C 17 00 00"))
    #expect(meter.memory.clock.text == "2026-10-01T20:42:52")
  }

  @Test func aSimulatedAccuChekGuideWithoutADescriptionAnswersWithoutContent() throws {
    let meter = try Self.operating(describesItself: false)
    #expect(
      Self.exchange(meter, [UInt8](printed: "E7 00 00 0E 00 0C 00 11 01 03 00 06 00*6"))
        == [UInt8](printed: "E7 00 00 0E 00 0C 00 11 02 03 00 06 00*6"))
    #expect(
      Self.exchange(
        meter, [UInt8](printed: "E7 00 00 14 00 12 00 12 01 07 00 0C 00 05 0C 0D 00 06 00 01 00 02 00 00"))
        == [UInt8](printed: "E7 00 00 0E 00 0C 00 12 02 07 00 06 00 05 0C 0D 00 00"))
  }

  @Test func theSimulatedAccuChekGuideIsSilentAfterARelease() throws {
    let meter = try Self.operating()
    #expect(
      Self.exchange(meter, [UInt8](printed: "E4 00 00 02 00 00")) == [UInt8](printed: "E5 00 00 02 00 00"))
    #expect(Self.exchange(meter, Self.accept) == [])
    let silent = SimulatedRochePHDC(SimulatedMemory(clock: DeviceTime(seconds: 0)), isLeftPlugged: true)
    #expect(Self.next(silent) == [])
    #expect(Self.exchange(silent, Self.accept) == [])
  }

  @Test func theSimulatedAccuChekGuideAbortsAfterAMessageOutOfOrder() throws {
    let meter = try Self.meter()
    _ = Self.next(meter)
    #expect(
      Self.exchange(meter, [UInt8](printed: "E7 00 00 0E 00 0C 00 11 01 03 00 06 00*6")).starts(with: [
        0xE6, 0x00,
      ])
    )
  }

  /// The descriptors are from a real Guide.
  @Test func theSimulatedAccuChekGuideHasTheUSBDescriptorsOfARealOne() throws {
    let meter = try Self.meter()
    #expect(
      meter.deviceDescriptor == [UInt8](printed: "12 01 00 02 00 00 00 40 3A 17 D5 21 00 01 01 02 00 01"))
    #expect(meter.configurationDescriptor.count == 0x52)
    #expect(
      meter.configurationDescriptor.starts(
        with: [UInt8](
          printed:
            "09 02 52 00 01 01 03 80 32 09 04 00 00 02 0F 00 00 04 04 20 02 00 06 30 00 01 11 10 07 05 81 02 "
            + "40 00 00 04 21 01 08 10 22")))
    #expect(meter.strings[1] == "ACCU-CHEK Guide")
  }
}
