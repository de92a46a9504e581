// SPDX-License-Identifier: Apache-2.0

/// The origin of the UTC offset of a shown time. The raw value is the code in the store.
@frozen public enum OffsetSource: UInt8, CaseIterable, Sendable {
  /// The source states it, or states UTC together with the shown time. It is never recomputed.
  case stated = 0
  /// From the logbook's time zone.
  case zone = 1
  /// From the zone, for a time that a change of its clocks skips: placed by the offset before the change.
  case zoneGap = 2
  /// From the zone, for a time that a change of its clocks repeats: placed at the first occurrence.
  case zoneOverlap = 3
  /// In a repeated hour, where the device's ticks determine the occurrence.
  case ticks = 4

  /// The name in views and exports.
  public var name: String {
    switch self {
    case .stated: "stated"
    case .zone: "zone"
    case .zoneGap: "zone-gap"
    case .zoneOverlap: "zone-overlap"
    case .ticks: "ticks"
    }
  }

  /// The source with this name, or nil.
  public init?(name: some StringProtocol) {
    guard let source = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = source
  }

  /// Whether the offset follows from the zones of the logbook and the device's ticks, and is recomputed when they change.
  @inlinable public var isDerived: Bool { self != .stated }
}

/// The offset that places a shown time on the UTC line, and how it was found.
@frozen public struct Placement: Hashable, Sendable {
  /// Seconds east of Greenwich.
  public let utcOffset: Int32
  /// How the offset was found.
  public let source: OffsetSource

  /// An offset in seconds east of Greenwich, and how it was found.
  @inlinable public init(utcOffset: Int32, source: OffsetSource) {
    self.utcOffset = utcOffset
    self.source = source
  }
}

extension DeviceTime {
  /// An offset in seconds as `±hh:mm`, or `Z` for zero. Seconds are added for old zones that have them.
  package static func offsetText(_ seconds: Int32) -> String {
    if seconds == 0 { return "Z" }
    let size = abs(Int(seconds))
    let rest = size % 60 == 0 ? "" : ":" + padded(size % 60, 2)
    return (seconds < 0 ? "-" : "+") + padded(size / 3600, 2) + ":" + padded(size / 60 % 60, 2) + rest
  }
}
