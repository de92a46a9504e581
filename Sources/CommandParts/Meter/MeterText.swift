// SPDX-License-Identifier: Apache-2.0

package import Ingest
package import Logbook

/// The texts about a meter and its clock.
package enum MeterText {
  /// The meter's clock and the host's at one moment, and how far the meter is ahead in seconds.
  package typealias Clock = (comparison: ClockComparison, difference: Int64)

  /// The vendor, model, serial number and firmware of a meter, as far as they are known. They come from the
  /// device, so pass the result through `displayed` before it is shown.
  package static func name(_ meter: Device, firmware: String?) -> String {
    deviceName(meter) + (firmware.map { $0.isEmpty ? "" : " · firmware \($0)" } ?? "")
  }

  /// The clock in words: `2026-05-06 18:30:00, 2 min 5 s ahead of the local time`.
  package static func line(_ clock: Clock) -> String {
    let shown = clock.comparison.meter.text.replacing("T", with: " ")
    if clock.difference == 0 { return "\(shown), the local time" }
    let length = ClockJudgement.words(abs(clock.difference))
    return "\(shown), \(length) \(clock.difference > 0 ? "ahead of" : "behind") the local time"
  }
}

/// A meter in the output of `--json`; glucoport-json(5) documents the members.
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

  /// Copies the identity that a meter reports.
  package init(_ identity: MeterIdentity) { self.init(identity.device, firmware: identity.firmware) }
}

/// A meter's clock and the host's at one moment, for `--json`.
package struct ClockObject: Encodable {
  let meter: String
  let host: String
  /// How far the meter is ahead of the host, in seconds; negative if it is slow.
  let difference: Int64

  /// Copies two clocks that were read at one moment.
  package init(_ clock: MeterText.Clock) {
    meter = clock.comparison.meter.text
    host = instant(clock.comparison.host)
    difference = clock.difference
  }

  /// Copies the two clocks that a judgement compares.
  package init(_ clock: ClockJudgement) { self.init((clock.comparison, clock.difference)) }
}
