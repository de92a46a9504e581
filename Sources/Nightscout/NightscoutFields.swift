// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The members of one entry or treatment, whatever holds them: a row of an export, or a document of a site.
package protocol NightscoutFields {
  associatedtype Value: NightscoutValue

  /// The value of a member; an empty one where there is none.
  subscript(member: NightscoutMember) -> Value { get }
}

/// One value of a document.
package protocol NightscoutValue {
  /// Whether there is nothing: no member, `null`, or an empty text.
  var isEmpty: Bool { get }
  /// The number, also where it was written as a text; nil for anything else.
  var jsonNumber: Double? { get }
  /// The text; the digits of a number, and empty for a list or an object.
  var plainText: String { get }
  /// The point in time: a number of milliseconds, or of seconds where it is small, or a text year first.
  var instant: Instant? { get }
  /// The offset in seconds that a time in words states; nil for anything else.
  var statedOffset: Int32? { get }
  /// Whether it ends as a time in UTC does.
  var endsInZ: Bool { get }

  /// Whether it is exactly this text.
  func equals(_ text: StaticString) -> Bool
  /// Whether it is this text, whatever the case of ASCII letters.
  func equalsFolded(_ text: StaticString) -> Bool
  /// What a value in words, such as `LOW`, means.
  func glucoseWord(_ unit: GlucoseUnit) -> CellValue
}

// MARK: - Times

extension NightscoutFields {
  /// The instant of an entry. Its text counts where there is no `date`, or one without an offset.
  @inlinable package var entryInstant: Instant? {
    let date = self[.date]
    if date.isEmpty { return self[.dateString].instant }
    guard let instant = date.instant else { return nil }
    guard instant.isWallClock else { return instant }
    if let definite = definite([.dateString, .mills]) { return definite }
    // A text that cannot be read may state the offset, and `date` may then be in UTC as servers have it.
    let text = self[.dateString]
    return text.isEmpty || text.instant != nil ? instant : nil
  }

  /// The instant of a treatment. A text without an offset counts where no other member says the instant.
  package var treatmentInstant: Instant? {
    let members: [NightscoutMember] = [.createdAt, .date, .timestamp, .mills]
    return definite(members) ?? members.lazy.compactMap { self[$0].instant }.first
  }

  /// The first of these times that leaves no question of its offset.
  @usableFromInline func definite(_ members: [NightscoutMember]) -> Instant? {
    members.lazy.compactMap { self[$0].instant }.first { !$0.isWallClock }
  }

  /// The time to show for an instant: with the offset that the document states, else that of the logbook's zone;
  /// unchanged, and without an offset, where the instant is a time that somebody's clock showed.
  ///
  /// - Parameter zone: the offset of the logbook's zone at an instant in UTC seconds.
  @inlinable package func shown(_ instant: Instant, _ zone: (Int64) -> Int32) -> ShownTime {
    if instant.isWallClock { return wallClock(instant) }
    let text = self[.dateString]
    let stated = offset(beside: text.isEmpty ? self[.createdAt] : text)
    let offset = stated ?? instant.utcOffset.flatMap { $0 == 0 ? nil : $0 }
    return ShownTime(utc: instant.seconds, offset: offset ?? zone(instant.seconds))
  }

  /// A time that somebody's clock showed. Servers write an offset of 0 beside every one; another was meant.
  @usableFromInline func wallClock(_ instant: Instant) -> ShownTime {
    let minutes = self[.utcOffset].jsonNumber.flatMap { $0 != 0 && abs($0) < 1440 ? $0 : nil }
    return ShownTime(DeviceTime(seconds: instant.seconds), utcOffset: minutes.map { Int32($0 * 60) })
  }

  /// The person's offset in seconds. A time in UTC states none: servers rewrite times so, and then write 0 into
  /// `utcOffset` of every such document, too.
  @inlinable func offset(beside text: Value) -> Int32? {
    let isUTC = text.endsInZ
    if let minutes = self[.utcOffset].jsonNumber, abs(minutes) < 1440, minutes != 0 || !isUTC {
      return Int32(minutes * 60)
    }
    guard !isUTC, !text.isEmpty, let offset = text.statedOffset, offset != 0 else { return nil }
    return offset
  }
}
