// SPDX-License-Identifier: Apache-2.0

import Logbook
import SeededRandom
import Testing

@testable import Meters

/// Tests packets and pages of a Dexcom receiver.
struct DexcomPacketTests {
  /// Recorded packets, except for the last one, which is constructed.
  private static let packets: [(code: UInt8, payload: String, packet: String)] = [
    (0x0A, "", "01 06 00 0A 5E 65"), (0x0B, "", "01 06 00 0B 7F 75"), (0x10, "00", "01 07 00 10 00 0F F8"),
    (0x10, "04", "01 07 00 10 04 8B B8"), (0x10, "0A", "01 07 00 10 0A 45 59"),
    (0x22, "", "01 06 00 22 34 C0"), (0x1D, "", "01 06 00 1D 88 07"), (0x19, "", "01 06 00 19 0C 47"),
    (0x11, "04 B9 05 00 00 04", "01 0C 00 11 04 B9 05 00 00 04 6D 29"),
    (0x11, "05 26 00 00 00 01", "01 0C 00 11 05 26 00 00 00 01 5E C3"),
    (0x01, "", "01 06 00 01 35 D4"), (0x01, "C9 C5 D7 08", "01 0A 00 01 C9 C5 D7 08 A0 9E"),
    (0x01, "DA 04 00 00 C0 05 00 00", "01 0E 00 01 DA 04 00 00 C0 05 00 00 27 85"),
    (0x01, "FF*8", "01 0E 00 01 FF FF FF FF FF FF FF FF CD 1D"),
    (0x01, "B7 9D FF FF", "01 0A 00 01 B7 9D FF FF 57 99"),
    (0x01, "36 30 48 4D 57", "01 0B 00 01 36 30 48 4D 57 20 70"),
    (0x1E, "90 9D FF FF", "01 0A 00 1E 90 9D FF FF 97 9E"),
  ]

  @Test(arguments: packets.indices) func aDexcomPacketIsReadAndWrittenAsRecorded(index: Int) {
    let (code, payload, packet) = Self.packets[index]
    let expected = DexcomPacket(code: code, payload: [UInt8](printed: payload))
    let bytes = [UInt8](printed: packet)
    #expect(expected.bytes == bytes)
    #expect(DexcomPacket.find(in: [0x00, 0x35] + bytes + [0x01]) == .packet(expected))
    for length in 0..<bytes.count {
      #expect(DexcomPacket.find(in: Array(bytes[..<length])) == .incomplete)
    }
  }

  @Test(arguments: ["01 06 00 0A 5E 66", "01 05 00 0A 5E", "01 FF FF 0A", "01 06 00 0B 5E 65"])
  func invalidDexcomPacketsAreReportedAsBroken(printed: String) {
    #expect(DexcomPacket.find(in: [UInt8](printed: printed)) == .broken)
  }

  @Test func theRecordedHeaderOfADexcomPageIsParsed() throws {
    let header = [UInt8](
      printed: "76 D9 00 00 26 00 00 00 04 02 B9 05 00 00 00 00 00 00 00 00 00 00 00 00 00 00 9F 39")
    let page = try #require(DexcomPage(header + [UInt8](repeating: 0xFF, count: 500)))
    #expect(page.partition == 4)
    #expect(page.revision == 2)
    #expect(page.number == 1465)
    #expect(page.count == 38)
    #expect(page.records(length: 13) == [[UInt8]?](repeating: nil, count: 38))
    #expect(DexcomPage(header + [UInt8](repeating: 0xFF, count: 499)) == nil)
    #expect(DexcomPage(header.dropLast() + [0x38] + [UInt8](repeating: 0xFF, count: 500)) == nil)
  }

  @Test func dexcomRecordsThatAPageStatesButDoesNotHoldAreReportedAsMissing() throws {
    let record = SheetFrame.record([UInt8](repeating: 7, count: 11))
    let page = try #require(
      DexcomPage(SheetFrame.page(4, revision: 2, number: 1, [record], count: 200)))
    let records = page.records(length: 13)
    #expect(records.count == 200)
    #expect(records.compactMap { $0 } == [[UInt8](repeating: 7, count: 11)])
  }

  @Test func dexcomXMLAttributesMayHaveQuotesOfEitherKind() {
    let text = DexcomText("<A SerialNumber=\"SM1\" Other='x \"y\"' HardwareId=\"{1}\" Cut='abc".utf8)
    #expect(text["SerialNumber"] == "SM1")
    #expect(text["Other"] == "x \"y\"")
    #expect(text["Number"] == nil)
    #expect(text["Cut"] == nil)
    #expect(DexcomText([0x20, 0x41, 0x3D, 0x00, 0x27])["A"] == nil)
    #expect(DexcomText([])["A"] == nil)
  }

  @Test func randomDexcomPacketsAndPagesNeverCrashTheParser() {
    var random = SeededGenerator(seed: 7)
    let page = SheetFrame.page(11, revision: 1, number: 3, [[UInt8](repeating: 1, count: 20)])
    for round in 0..<5000 {
      let packet = Self.packets[round % Self.packets.count]
      let mutated = random.mutated([UInt8](printed: packet.packet))
      if case .packet(let found) = DexcomPacket.find(in: mutated) {
        #expect(Array(mutated.drop { $0 != 1 }).starts(with: found.bytes))
      }
      if round < 500 { _ = DexcomPage(random.mutated(page))?.records(length: 20) }
      for partition in [DexcomPartition.sensor, .backfill, .calibration, .event, .manufacturing] {
        let bytes = (0..<Int.random(in: 0...30, using: &random)).map { _ in
          UInt8.random(in: 0...255, using: &random)
        }
        _ = DexcomRecord(bytes, partition, revision: UInt8.random(in: 0...6, using: &random))
      }
    }
  }
}
