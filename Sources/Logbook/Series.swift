// SPDX-License-Identifier: Apache-2.0

/// The name of a series: the readings of one device and one kind whose positions are either all ticks or all
/// shown times (`PositionKind`). The name is the same in every store.
package struct SeriesName: Hashable, Sendable {
  /// The identity of the device, as `ReadingIdentity.text(of:)` writes it.
  package let device: String
  /// The kind of measurement.
  package let kind: ReadingKind
  /// Whether the shown time or the device's tick determines the positions.
  package let positionKind: PositionKind

  package init(device: String, kind: ReadingKind, positionKind: PositionKind) {
    (self.device, self.kind, self.positionKind) = (device, kind, positionKind)
  }

  /// The series of a reading.
  package init(_ identity: ReadingIdentity) {
    let device = Device(
      vendor: identity.vendor, model: identity.model, serial: identity.serial, format: identity.format)
    self.init(
      device: ReadingIdentity.text(of: device), kind: identity.kind, positionKind: identity.positionKind)
  }

  /// Parses the name of a series; nil for any other text.
  package init?(text: some StringProtocol) {
    let parts = ReadingIdentity.parts(of: String(text))
    guard parts.count == 5, let kind = ReadingKind(name: parts[3]),
      let positionKind = PositionKind(name: parts[4])
    else { return nil }
    self.init(device: parts[0..<3].joined(separator: "|"), kind: kind, positionKind: positionKind)
  }

  /// The first five parts of the identities of the readings in the series.
  package var text: String { "\(device)|\(kind.name)|\(positionKind.name)" }
}

/// The part of an identity that distinguishes a reading from others of its series.
@usableFromInline package struct SeriesPoint: Hashable, Comparable, BitwiseCopyable, Sendable {
  /// The shown time in civil seconds, or the device's tick.
  @usableFromInline package let position: Int64
  /// The value as the identity contains it; see `Reading.valueBucket`.
  @usableFromInline package let valueBucket: Int64
  /// A number that separates readings with equal other parts of the identity: 0, 1, 2 and so on.
  @usableFromInline package let occurrence: Int64

  @inlinable package init(position: Int64, valueBucket: Int64, occurrence: Int64) {
    (self.position, self.valueBucket, self.occurrence) = (position, valueBucket, occurrence)
  }

  package init(_ identity: ReadingIdentity) {
    self.init(
      position: identity.position, valueBucket: identity.valueBucket, occurrence: identity.occurrence)
  }

  @inlinable package static func < (left: Self, right: Self) -> Bool {
    if left.position != right.position { return left.position < right.position }
    if left.valueBucket != right.valueBucket { return left.valueBucket < right.valueBucket }
    return left.occurrence < right.occurrence
  }
}
