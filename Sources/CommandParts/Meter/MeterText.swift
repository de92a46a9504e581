// SPDX-License-Identifier: Apache-2.0

package import Ingest
package import Logbook

/// A meter and its clock, as text.
package enum MeterText {
  /// Both clocks at one moment, and the meter's lead in seconds.
  package typealias Clock = (comparison: ClockComparison, difference: Int64)

  /// Vendor, model, serial number and firmware, as far as they are known. Not sanitised: use `displayed`
  /// before showing it.
  package static func name(_ meter: Device, firmware: String?) -> String {
    deviceName(meter) + (firmware.map { $0.isEmpty ? "" : " · firmware \($0)" } ?? "")
  }

  /// `2026-05-06 18:30:00, 2 min 5 s ahead of the local time`.
  package static func line(_ clock: Clock) -> String {
    let shown = clock.comparison.meter.text.replacing("T", with: " ")
    if clock.difference == 0 { return "\(shown), the local time" }
    let length = ClockJudgement.words(abs(clock.difference))
    return "\(shown), \(length) \(clock.difference > 0 ? "ahead of" : "behind") the local time"
  }
}

/// A meter; glucoport-json(5) documents its members.
package struct MeterObject: Encodable {
  let vendor: String
  let model: String
  let serial: String
  let firmware: String?

  init(_ meter: Device, firmware: String?) {
    vendor = meter.vendor
    model = meter.model
    serial = meter.serial
    self.firmware = firmware?.isEmpty == true ? nil : firmware
  }

  /// The meter with this identity.
  package init(_ identity: MeterIdentity) { self.init(identity.device, firmware: identity.firmware) }
}

/// A meter's clock and the host's at one moment.
package struct ClockObject: Encodable {
  let meter: String
  let host: String
  /// The meter's lead in seconds.
  let difference: Int64

  /// The two clocks at one moment.
  package init(_ clock: MeterText.Clock) {
    meter = clock.comparison.meter.text
    host = instant(clock.comparison.host)
    difference = clock.difference
  }

  /// The clocks that were compared.
  package init(_ clock: ClockJudgement) { self.init((clock.comparison, clock.difference)) }
}
