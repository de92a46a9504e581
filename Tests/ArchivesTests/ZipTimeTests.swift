// SPDX-License-Identifier: Apache-2.0

import Archives
import Logbook
import TestArchives
import Testing

/// Tests the times of members of ZIP archives.
@Suite struct ZipTimeTests {
  /// 2026-03-12 10:20:30 in UTC seconds.
  private static let time: Int64 = 1_773_310_830
  /// The same time of day in the format of DOS.
  private static let local = dos(46, 3, 12, 10, 20, 30)

  private static func dos(
    _ year: Int, _ month: Int, _ day: Int, _ hour: Int, _ minute: Int, _ second: Int
  ) -> Int {
    (year << 9 | month << 5 | day) << 16 | hour << 11 | minute << 5 | second / 2
  }

  private static func number(_ value: Int64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * Int64($0))) }
  }

  private static func field(_ id: Int64, _ content: [UInt8]) -> [UInt8] {
    number(id, 2) + number(Int64(content.count), 2) + content
  }

  /// The time of the only member of an archive, as an import an hour after it sees it.
  private func seconds(
    local: Int = 0, extra: [UInt8] = [], isZip64: Bool = false, zone: String = "UTC",
    now: Int64 = time + 3600
  ) throws -> Int64? {
    var entry = ZipWriter.Entry(name: "a.csv", bytes: Array("a\n".utf8), isZip64: isZip64)
    (entry.time, entry.extra) = (local, extra)
    let file = try ArchiveFile(ZipWriter(entries: [entry]).bytes())
    let member = try #require(file.archive.members.first)
    #expect(try file.bytes(member) == Array("a\n".utf8))
    return try member.time?.seconds(in: LogbookZone(name: zone), now: now)
  }

  @Test func theLocalTimeOfAMemberIsPlacedByTheZone() throws {
    #expect(try seconds(local: Self.local) == Self.time)
    #expect(try seconds(local: Self.local, zone: "Europe/Berlin") == Self.time - 3600)
    #expect(try seconds(local: Self.local, isZip64: true) == Self.time)
  }

  @Test func theTimeInAnExtraFieldHasPrecedenceOverTheLocalTime() throws {
    let other = Self.dos(46, 3, 1, 0, 0, 0)
    let stamp = Self.number(Self.time, 4)
    let windows = Self.number((Self.time + 11_644_473_600) * 10_000_000, 8)
    let fields = [
      Self.field(0x5455, [3] + stamp), Self.field(0x5855, Self.number(Self.time - 99, 4) + stamp),
      Self.field(
        0x000A, [0, 0, 0, 0] + Self.number(1, 2) + Self.number(24, 2) + windows + windows + windows),
      Self.field(0x7875, [1, 4, 0, 0]) + Self.field(0x5455, [1] + stamp),
    ]
    for field in fields { #expect(try seconds(local: other, extra: field, zone: "Asia/Tokyo") == Self.time) }
    #expect(try seconds(local: other, extra: fields[0], isZip64: true) == Self.time)
  }

  /// A field without the time of the last change, truncated fields, and one of Windows without times.
  @Test func anExtraFieldWithoutATimeIsIgnored() throws {
    let fields = [
      Self.field(0x5455, [2, 1, 2, 3, 4]), Self.field(0x5455, [1]), Self.field(0x5855, [1, 2, 3, 4]),
      Self.field(
        0x000A, [0, 0, 0, 0] + Self.number(2, 2) + Self.number(24, 2) + [UInt8](repeating: 9, count: 24)),
      [0x55, 0x54, 200, 0, 1], [0x55, 0x54],
    ]
    for field in fields { #expect(try seconds(local: Self.local, extra: field) == Self.time) }
  }

  /// Programs that know no time write 0, or the first time that the format can state, in any zone.
  @Test func aTimeOf1980IsNotTheTimeOfAFile() throws {
    let starts = [
      0, Self.dos(0, 1, 1, 0, 0, 0), Self.dos(0, 1, 1, 8, 0, 0), Self.dos(0, 2, 1, 0, 0, 0),
      Self.dos(46, 13, 1, 0, 0, 0), Self.dos(46, 2, 30, 0, 0, 0), Self.dos(46, 3, 12, 24, 0, 0),
    ]
    for start in starts { #expect(try seconds(local: start) == nil, "\(start)") }
    for instant in [0, 315_532_800, 0xFFFF_FFFF] as [Int64] {
      #expect(try seconds(extra: Self.field(0x5455, [1] + Self.number(instant, 4))) == nil, "\(instant)")
    }
    #expect(try seconds(local: Self.dos(1, 1, 2, 0, 0, 0)) == 347_241_600)
  }

  @Test func aTimeInTheFutureIsNotTheTimeOfAFile() throws {
    #expect(try seconds(local: Self.local, now: Self.time - 120) == Self.time)
    #expect(try seconds(local: Self.local, now: Self.time - 121) == nil)
    #expect(
      try seconds(extra: Self.field(0x5455, [1] + Self.number(Self.time, 4)), now: Self.time - 121) == nil)
  }
}
