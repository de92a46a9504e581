// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// When a member of a ZIP archive was last written, as the archive's directory states it.
package enum ZipTime: Hashable, Sendable {
  /// An instant in UTC seconds, from an extra field of Unix, macOS or Windows.
  case instant(Int64)
  /// The local time of the computer that packed the archive (APPNOTE.TXT 4.4.6).
  case local(DeviceTime)

  /// The beginning of 1981 in seconds. Programs that know no time write one of 1980, the first year that the
  /// format can state.
  private static let earliest: Int64 = 347_155_200

  /// The time in UTC seconds. It is nil for a time of 1980 or before, and for one in the future: both are not
  /// the times of files.
  ///
  /// - Parameters:
  ///   - zone: the zone of a local time.
  ///   - now: the host's clock in UTC seconds.
  package func seconds(in zone: LogbookZone, now: Int64) -> Int64? {
    let seconds: Int64
    switch self {
    case .instant(let instant): seconds = instant
    case .local(let time):
      var zone = zone
      seconds = zone.placement(of: time).instant(of: time).seconds
    }
    guard seconds >= Self.earliest, StoredAge.seconds(of: seconds, now: now) != nil else { return nil }
    return seconds
  }

  /// The time in an entry of the directory; nil if it has none.
  ///
  /// - Parameters:
  ///   - place: the index of the entry's first byte.
  ///   - extra: the indexes of the entry's extra fields.
  static func read(_ bytes: [UInt8], at place: Int, extra: Range<Int>) -> ZipTime? {
    for field in ZipExtraField.all(in: bytes, extra) {
      if let instant = instant(bytes, field) { return .instant(instant) }
    }
    let (time, date) = (Int(bytes.number(place + 12, 2)), Int(bytes.number(place + 14, 2)))
    let shown = DeviceTime(
      year: 1980 + date >> 9, month: date >> 5 & 15, day: date & 31, hour: time >> 11, minute: time >> 5 & 63,
      second: 2 * (time & 31))
    return shown.map(ZipTime.local)
  }

  /// The time of the last change in a field; nil if the field has none.
  private static func instant(_ bytes: [UInt8], _ field: ZipExtraField) -> Int64? {
    let (start, count) = (field.content.lowerBound, field.content.count)
    switch field.id {
    // "UT" of Info-ZIP: flags, of which bit 0 announces the time of the last change, then this time.
    case 0x5455 where count >= 5 && bytes[start] & 1 == 1: return Int64(bytes.number(start + 1, 4))
    // "UX" of macOS and of older programs: the time of the last access, then that of the last change.
    case 0x5855 where count >= 8: return Int64(bytes.number(start + 4, 4))
    // NTFS: four reserved bytes, then attributes. Attribute 1 begins with the time of the last change in
    // units of 100 nanoseconds since 1601.
    case 0x000A where count >= 16 && bytes.number(start + 4, 2) == 1:
      return Int64(bytes.number(start + 8, 8) / 10_000_000) - 11_644_473_600
    default: return nil
    }
  }
}

/// An extra field in an entry of a ZIP directory.
struct ZipExtraField {
  let id: UInt64
  /// The indexes of the field's content.
  let content: Range<Int>

  /// The fields in a part of the directory, up to the first damaged one.
  static func all(in bytes: [UInt8], _ part: Range<Int>) -> [ZipExtraField] {
    var fields: [ZipExtraField] = []
    var place = part.lowerBound
    while place + 4 <= part.upperBound {
      let end = place + 4 + Int(bytes.number(place + 2, 2))
      guard end <= part.upperBound else { break }
      fields.append(ZipExtraField(id: bytes.number(place, 2), content: place + 4..<end))
      place = end
    }
    return fields
  }
}
