// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Where the columns of a Clarity table stand; -1 where it has no such column.
///
/// Every language has the same order, so translated headers are read by place. English headers are read by
/// name, because those are the files that programs save again with columns left out, added in front or
/// renamed.
struct ClarityColumns {
  private(set) var time: Int
  private(set) var type: Int
  private(set) var subtype: Int
  private(set) var patientInfo: Int
  private(set) var deviceInfo: Int
  private(set) var sourceDevice: Int
  private(set) var glucose: Int
  private(set) var insulin: Int
  private(set) var carbs: Int
  private(set) var duration: Int
  private(set) var rate: Int
  private(set) var tick: Int
  private(set) var transmitter: Int
  let unit: GlucoseUnit

  /// The columns of a header of folded cells; nil when it is none of Clarity.
  init?(header cells: [String]) {
    func named(_ names: String...) -> Int {
      cells.firstIndex { cell in names.contains { cell == $0 || cell.hasPrefix($0 + " (") } } ?? -1
    }
    time = named("timestamp", "date_time", "datetime", "date time", "time")
    type = named("event type")
    subtype = named("event subtype")
    patientInfo = named("patient info")
    deviceInfo = named("device info")
    sourceDevice = named("source device id")
    glucose = named("glucose value")
    insulin = named("insulin value")
    carbs = named("carb value")
    duration = named("duration")
    rate = named("glucose rate of change")
    tick = named("transmitter time")
    transmitter = named("transmitter id")
    if time < 0 || type < 0 || glucose < 0 {
      guard let start = Self.start(of: cells) else { return nil }
      (time, type, subtype, patientInfo) = (start + 1, start + 2, start + 3, start + 4)
      (deviceInfo, sourceDevice, glucose, insulin) = (start + 5, start + 6, start + 7, start + 8)
      (carbs, duration, rate, tick, transmitter) = (start + 9, start + 10, start + 11, start + 12, start + 13)
      if transmitter >= cells.count { (tick, transmitter) = (-1, -1) }
    }
    guard glucose < cells.count, let unit = Self.unit(in: cells[glucose]) else { return nil }
    self.unit = unit
  }

  /// Where the index column stands in a translated header; -1 where it was left out.
  private static func start(of cells: [String]) -> Int? {
    if let tick = cells.firstIndex(of: "transmitterzeit (lange ganzzahl)"), tick >= 11 { return tick - 12 }
    // The hours are written in the language's own letters: hh, uu, tt.
    return cells.prefix(3).firstIndex { $0.hasSuffix(":mm:ss)") }.map { $0 - 1 }
  }

  private static func unit(in header: String) -> GlucoseUnit? {
    if header.contains("mmol/l") { return .millimolesPerLitre }
    return header.contains("mg/dl") ? .milligramsPerDecilitre : nil
  }

  /// The last column that a row with glucose, or one without, is read from.
  func lastUsed(withGlucose: Bool) -> Int {
    let common = [time, type, subtype, sourceDevice]
    let others =
      withGlucose ? [glucose, tick, transmitter] : [patientInfo, deviceInfo, insulin, carbs, duration]
    return (common + others).max() ?? 0
  }
}
