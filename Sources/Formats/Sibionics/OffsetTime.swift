// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A time that ends with its offset in words: `03-08-2026 10:36 GMT-3`, `GMT+5:30`, `GMT`, `UTC`.
struct OffsetTime {
  /// The time of the clock, before the offset.
  let clock: Field
  /// Seconds east of Greenwich.
  let offset: Int32

  private static let names: [StaticString] = ["GMT", "UTC"]

  /// The time in a cell; nil for one without an offset in words.
  init?(_ cell: Field) {
    let cell = cell.trimmed
    guard cell.count <= Field.maxNameBytes, let blank = cell.bytes.lastIndex(of: 0x20) else { return nil }
    let zone = cell.slice(blank + 1, cell.count)
    guard Self.names.contains(where: { zone.starts(with: $0) }),
      let offset = Self.offset(zone.slice(3, zone.count))
    else {
      return nil
    }
    clock = cell.slice(0, blank).trimmed
    self.offset = offset
  }

  /// Nothing, `±H`, `±HH` or `±H:MM` in seconds.
  private static func offset(_ text: Field) -> Int32? {
    if text.isEmpty { return 0 }
    let isWest = text[0] == UInt8(ascii: "-")
    guard isWest || text[0] == UInt8(ascii: "+") else { return nil }
    let digits = text.slice(1, text.count)
    let colon = digits.bytes.firstIndex(of: UInt8(ascii: ":")) ?? digits.count
    let hours = digits.slice(0, colon)
    let minutes = colon < digits.count ? digits.slice(colon + 1, digits.count) : Field.fixed("00")
    guard (1...2).contains(hours.count), minutes.count == 2, let hour = hours.integer,
      let minute = minutes.integer, (0...14).contains(hour), (0..<60).contains(minute)
    else { return nil }
    return Int32(hour * 3600 + minute * 60) * (isWest ? -1 : 1)
  }
}
