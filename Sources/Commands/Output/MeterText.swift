// SPDX-License-Identifier: Apache-2.0

import Ingest
import Logbook

/// A meter and its clock, for people and as JSON objects with the members of glucoport-json(5).
enum MeterText {
  /// Both clocks at one moment, and the meter's lead in seconds.
  typealias Clock = (comparison: ClockComparison, difference: Int64)

  /// Vendor, model, serial number and firmware, as far as they are known. Hostile text: strip it before it is shown.
  static func name(_ meter: Device, firmware: String?) -> String {
    deviceName(meter) + (firmware.map { $0.isEmpty ? "" : " · firmware \($0)" } ?? "")
  }

  static func json(_ meter: Device, firmware: String?) -> String {
    """
    {"vendor":\(jsonText(meter.vendor)),"model":\(jsonText(meter.model)),"serial":\(jsonText(meter.serial)),\
    "firmware":\(firmware.map { $0.isEmpty ? "null" : jsonText($0) } ?? "null")}
    """
  }

  /// `2026-05-06 18:30:00, 2 min 5 s ahead of the local time`.
  static func line(_ clock: Clock) -> String {
    let shown = clock.comparison.meter.text.replacing("T", with: " ")
    if clock.difference == 0 { return "\(shown), the local time" }
    let length = ClockJudgement.words(abs(clock.difference))
    return "\(shown), \(length) \(clock.difference > 0 ? "ahead of" : "behind") the local time"
  }

  static func json(_ clock: Clock) -> String {
    """
    {"meter":"\(clock.comparison.meter.text)","host":"\(DeviceTime(seconds: clock.comparison.host).text)Z",\
    "difference":\(clock.difference)}
    """
  }
}
