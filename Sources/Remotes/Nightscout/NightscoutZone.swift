// SPDX-License-Identifier: Apache-2.0

import Logbook

/// How a foreign document's instant is shown: by the offset that the document states, else by the logbook's zone.
struct NightscoutZone: Sendable {
  /// The zone of the logbook; nil for UTC.
  let zone: LogbookZone?

  /// The time to show for an instant, and what places it.
  ///
  /// - Parameter text: the time as the document writes it. A time in UTC states no offset: servers rewrite times so,
  ///   and then write 0 into `utcOffset`, too.
  func shown(
    _ milliseconds: Int64, _ document: NightscoutDocument, beside text: String?
  ) -> (DeviceTime, Placement) {
    let seconds = (milliseconds >= 0 ? milliseconds : milliseconds - 999) / 1000
    if let offset = Self.statedOffset(document, beside: text) {
      return (DeviceTime(seconds: seconds + Int64(offset)), Placement(utcOffset: offset, source: .stated))
    }
    let offset = zone?.offset(atUTC: seconds) ?? 0
    return (DeviceTime(seconds: seconds + Int64(offset)), Placement(utcOffset: offset, source: .stated))
  }

  private static func statedOffset(_ document: NightscoutDocument, beside text: String?) -> Int32? {
    let isUTC = text?.last == "Z" || text?.last == "z"
    if let minutes = document["utcOffset"]?.number, abs(minutes) < 1440, minutes != 0 || !isUTC {
      return Int32(minutes) * 60
    }
    guard let text, !isUTC, let offset = NightscoutTime.instant(.text(text))?.offset, offset != 0 else {
      return nil
    }
    return offset
  }

  /// The seconds of an offset as glucoport writes it: `Z`, `±hh:mm` or `±hh:mm:ss`.
  static func offset(_ text: String) -> Int32? {
    if text == "Z" { return 0 }
    let parts = text.dropFirst().split(separator: ":", omittingEmptySubsequences: false).map { Int32($0) }
    guard text.first == "+" || text.first == "-", parts.count == 2 || parts.count == 3,
      let hours = parts[0], let minutes = parts[1], let seconds = parts.count == 3 ? parts[2] : 0,
      (0..<24).contains(hours), (0..<60).contains(minutes), (0..<60).contains(seconds)
    else { return nil }
    let size = hours * 3600 + minutes * 60 + seconds
    return text.first == "-" ? -size : size
  }
}
