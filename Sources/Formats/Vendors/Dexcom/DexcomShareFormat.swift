// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Responses of Dexcom Share: a list of `{"WT":"Date(…)","Value":175,"Trend":"Flat"}`. `WT` is an instant;
/// `DT` adds the phone's offset.
struct DexcomShareFormat: ExportFormat {
  static let id = "dexcom-share"
  static let title = "Dexcom Share JSON"
  static let summary = "sensor readings"
  static var emptyList: Void? { () }

  /// Smaller numbers are error codes of the sensor.
  private static let minValue: Int64 = 13
  private static let names = ["WT", "DT", "Value", "Trend"]
  private enum Name { static let instant = 0, display = 1, value = 2, trend = 3 }

  private let model: String
  private let glucose = GlucoseReader(unit: .milligramsPerDecilitre, lowLimit: 40, highLimit: 400)
  private var zoneOffsets: ZoneOffsets
  /// The last values that were read, in the order of the input.
  private var recent: [(milliseconds: Int64, measurement: Measurement)] = []
  /// The maximum time between two copies of a value. A phone and a watch both send it, 9 to 10 seconds apart,
  /// while sensors have a value every five minutes.
  private static let twinMilliseconds: Int64 = 30_000

  static func recognise(_ head: InputHead, options: ExportOptions) -> Recognition<Void>? {
    let isOwn = head.objects.contains { object in
      object["Value"] != nil && object["Trend"] != nil && object["WT"]?.contains("Date(") == true
    }
    return isOwn ? Recognition(.objects(columns: names)) : nil
  }

  init(_ found: Recognition<Void>, head: InputHead, options: ExportOptions) {
    model = options.device ?? "Share"
    zoneOffsets = ZoneOffsets(options.zone)
  }

  var decisions: [Decision] { [.unit(.milligramsPerDecilitre)] }

  mutating func read(_ row: Row, into out: inout BatchBuilder) -> RowVerdict {
    guard !row[Name.value].isEmpty || !row[Name.instant].isEmpty else {
      return .unknown("not a reading of Dexcom Share")
    }
    guard let (milliseconds, stated) = Self.date(row[Name.instant]) else {
      out.reject(row, "invalid or missing WT; expected Date(milliseconds)")
      return .data
    }
    let seconds = Instant(milliseconds: milliseconds).seconds
    let offset = Self.date(row[Name.display])?.offset ?? stated
    let shown = offset.map { ShownTime(utc: seconds, offset: $0) } ?? zoneOffsets.shown(utc: seconds)
    var cell = glucose.read(row[Name.value])
    switch row[Name.value].integer {
    case (0..<Self.minValue)?:
      out.skip("sensor error code")
      return .data
    // For a value below or above the range of 40 to 400 mg/dL, Share sends 39 or 401.
    case 39?: cell = .measurement(.low(below: 40, .milligramsPerDecilitre))
    case 401?: cell = .measurement(.high(above: 400, .milligramsPerDecilitre))
    default: break
    }
    switch cell {
    case .measurement(let measurement):
      if isTwin(milliseconds, measurement) {
        out.skip("value that a second device sent, too")
        return .data
      }
      let device = out.device(Device(vendor: "Dexcom", model: model, format: Self.id))
      out.add(
        Reading(
          device: device, kind: .cbg, tick: milliseconds, at: shown.deviceTime,
          placement: out.placement(of: shown),
          measurement, line: row.line))
    case .empty: out.skip("reading without a value")
    case .rejected(let reason): out.reject(row, reason)
    }
    return .data
  }

  /// Whether one of the last values is the same value, sent by another device.
  private mutating func isTwin(_ milliseconds: Int64, _ measurement: Measurement) -> Bool {
    if recent.contains(where: {
      $0.milliseconds != milliseconds && abs($0.milliseconds - milliseconds) <= Self.twinMilliseconds
        && $0.measurement.agrees(with: measurement)
    }) {
      return true
    }
    recent.append((milliseconds, measurement))
    if recent.count > 4 { recent.removeFirst() }
    return false
  }

  /// Parses `Date(1750022969925)`, `/Date(1750022969925)/` or `Date(1750022969925-0400)` as UTC milliseconds,
  /// with the offset in seconds if there is one. The offset does not change the instant.
  private static func date(_ field: Field) -> (milliseconds: Int64, offset: Int32?)? {
    guard let open = field.bytes.firstIndex(of: UInt8(ascii: "(")),
      let close = field.bytes.lastIndex(of: UInt8(ascii: ")")), open < close
    else { return nil }
    let inner = field.slice(open + 1, close)
    let sign = inner.bytes.dropFirst().firstIndex { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }
    guard let sign else { return milliseconds(inner).map { ($0, nil) } }
    guard inner.count - sign == 5, let digits = inner.slice(sign + 1, inner.count).integer, digits < 1900,
      let instant = milliseconds(inner.slice(0, sign))
    else { return nil }
    let seconds = Int32(digits / 100 * 3600 + digits % 100 * 60)
    return (instant, inner[sign] == UInt8(ascii: "-") ? -seconds : seconds)
  }

  private static func milliseconds(_ field: Field) -> Int64? {
    guard field.count == 12 || field.count == 13, let number = field.integer, number > 0 else { return nil }
    return number
  }
}

extension DexcomShareFormat {
  static let page = FormatPage(
    origin: [
      "a program that asks Dexcom Share, with its answer in a pipe: PROGRAM | glucoport import -"
    ],
    variants: [
      "the list of the latest readings, with or without the phone's offset"
    ],
    languages: "English only; the members have fixed names",
    reads: [
      "sensor readings of the last day; 39 is below the range"
    ],
    notRead: [
      "the trend"
    ])
}
