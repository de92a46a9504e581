// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The members of an entry or a treatment. They come from a row of an export or from a document of a site.
package protocol NightscoutFields {
  associatedtype Value: NightscoutValue

  /// The value of a member; an empty value if it is missing.
  subscript(member: NightscoutMember) -> Value { get }
}

/// The value of one member.
package protocol NightscoutValue {
  /// Whether the member is missing, `null` or an empty text.
  var isEmpty: Bool { get }
  /// The number, also if it is in a text; nil for anything else.
  var jsonNumber: Double? { get }
  /// The text, or the digits of a number; empty for a list or an object.
  var plainText: String { get }
  /// The instant that the value states: as a number of milliseconds, a small number of seconds, or a text
  /// that begins with the year.
  var instant: Instant? { get }
  /// The UTC offset in a time as text, in seconds; nil for anything else.
  var statedOffset: Int32? { get }
  /// Whether the text ends with `Z`, like a time in UTC.
  var endsInZ: Bool { get }

  func equals(_ text: StaticString) -> Bool
  /// Whether the value is this text, without regard to the case of ASCII letters.
  func equalsFolded(_ text: StaticString) -> Bool
  /// The meaning of a glucose value that is a word, such as `LOW`.
  func glucoseWord(_ unit: GlucoseUnit) -> CellValue
}

// MARK: - Times

extension NightscoutFields {
  /// The instant of an entry. It is read from the text `dateString` if there is no `date`, or if `date`
  /// states no offset.
  @inlinable package var entryInstant: Instant? {
    let date = self[.date]
    if date.isEmpty { return self[.dateString].instant }
    guard let instant = date.instant else { return nil }
    guard instant.isWallClock else { return instant }
    if let definite = firstWithOffset([.dateString, .mills]) { return definite }
    // The text may state an offset in a notation that cannot be parsed. Then `date` may be in UTC, as on
    // servers, so it is not used.
    let text = self[.dateString]
    return text.isEmpty || text.instant != nil ? instant : nil
  }

  /// The instant of a treatment. A time without an offset is used only if no other member has one with an
  /// offset. `eventTime` is the time only of a treatment that never was on a site.
  package var treatmentInstant: Instant? {
    let members: [NightscoutMember] = [.createdAt, .date, .timestamp, .mills]
    return firstWithOffset(members) ?? members.lazy.compactMap { self[$0].instant }.first
      ?? self[.eventTime].instant
  }

  /// The first of these members' times that states an offset.
  @usableFromInline func firstWithOffset(_ members: [NightscoutMember]) -> Instant? {
    members.lazy.compactMap { self[$0].instant }.first { !$0.isWallClock }
  }

  /// The time to show for an instant. It has the document's offset, otherwise that of the logbook's zone. A
  /// local time without an offset stays as it is.
  ///
  /// - Parameter zone: returns the offset of the logbook's zone at an instant in UTC seconds.
  @inlinable package func shown(_ instant: Instant, _ zone: (Int64) -> Int32) -> ShownTime {
    if instant.isWallClock { return wallClock(instant) }
    let text = self[.dateString]
    let stated = offset(nextTo: text.isEmpty ? self[.createdAt] : text)
    guard let offset = stated ?? instant.utcOffset.flatMap({ $0 == 0 ? nil : $0 }) else {
      return ShownTime(instant: instant.seconds, zoneOffset: zone(instant.seconds))
    }
    return ShownTime(utc: instant.seconds, offset: offset)
  }

  /// The shown time that a local time without an offset states. Servers add an offset of 0 to each such time,
  /// so an offset of 0 is ignored.
  @usableFromInline func wallClock(_ instant: Instant) -> ShownTime {
    let minutes = self[.utcOffset].jsonNumber.flatMap { $0 != 0 && abs($0) < 1440 ? $0 : nil }
    return ShownTime(DeviceTime(seconds: instant.seconds), utcOffset: minutes.map { Int32($0 * 60) })
  }

  /// The UTC offset of the person in seconds; nil if it is unknown. An offset of 0 states nothing, since a
  /// server in UTC writes it into documents without an offset, and converts the times of others.
  @inlinable func offset(nextTo text: Value) -> Int32? {
    if let minutes = self[.utcOffset].jsonNumber, abs(minutes) < 1440, minutes != 0 {
      return Int32(minutes * 60)
    }
    guard !text.endsInZ, !text.isEmpty, let offset = text.statedOffset, offset != 0 else { return nil }
    return offset
  }
}

extension JSONValue: NightscoutValue {
  package var isEmpty: Bool { self == .null || self == .text("") }

  /// The number, also if it is in a text; nil for anything else.
  package var jsonNumber: Double? {
    guard case .text(let text) = self else { return number }
    // The same texts are accepted as in exports: no words such as `nan`, and no hexadecimal numbers.
    return text.utf8.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || "+-.eE".utf8.contains($0) } ? number : nil
  }

  /// The text, or the digits of a number; empty for a list or an object.
  package var plainText: String {
    switch self {
    case .text(let text): text
    case .number(let number): plainNumber(number)
    case .flag(let flag): flag ? "true" : "false"
    case .null, .list, .object: ""
    }
  }

  /// The instant that the value states; nil if it is not a valid time.
  package var instant: Instant? {
    if let number = jsonNumber { return NightscoutTime.instant(number) }
    return text.flatMap(NightscoutTime.instant)
  }

  /// The UTC offset in a time as text, in seconds; nil for anything else.
  package var statedOffset: Int32? { text.flatMap(NightscoutTime.instant)?.utcOffset }

  /// Whether the text ends with `Z`, like a time in UTC.
  package var endsInZ: Bool { text?.last == "Z" || text?.last == "z" }

  /// Whether the value is exactly this text.
  package func equals(_ text: StaticString) -> Bool { plainText == text.description }

  /// Whether the value is this text, without regard to case.
  package func equalsFolded(_ text: StaticString) -> Bool {
    plainText.lowercased() == text.description.lowercased()
  }

  /// Always a rejection: on a site, glucose values are numbers. Only tables contain words.
  package func glucoseWord(_ unit: GlucoseUnit) -> CellValue {
    .rejected("the glucose value is not a number")
  }
}
