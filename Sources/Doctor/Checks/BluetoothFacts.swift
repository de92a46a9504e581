// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The Bluetooth meters that were paired with `meter pair`.
package struct BluetoothFacts: Sendable {
  /// A meter of the list of paired meters.
  package struct Meter: Sendable {
    /// The meter's name and address, without control characters.
    package var name: String
    /// Whether bluetoothd still has the pairing.
    package var isPaired: Bool
    /// When the meter was last imported, in UTC seconds; nil for never.
    package var readAt: Int64?

    /// A paired meter with this name.
    package init(name: String, isPaired: Bool, readAt: Int64?) {
      (self.name, self.isPaired, self.readAt) = (name, isPaired, readAt)
    }
  }

  /// The paired meters, or why the list of paired meters cannot be read.
  package var meters: Result<[Meter], Failure>

  /// The facts for these meters.
  package init(_ meters: Result<[Meter], Failure>) { self.meters = meters }

  /// One finding for each paired meter, or a single one if none is paired or the meters cannot be listed.
  var findings: [Finding] {
    switch meters {
    case .failure(let failure):
      return [
        Finding(
          .bluetooth, .fail, "no paired meter can be read: \(failure.message)", failure.category)
      ]
    case .success(let meters):
      if meters.isEmpty { return [Finding(.bluetooth, .ok, "no meter is paired")] }
      return meters.map(finding)
    }
  }

  private func finding(_ meter: Meter) -> Finding {
    guard meter.isPaired else {
      return Finding(
        .bluetooth, .fail, "\(meter.name): the pairing was lost on this computer",
        fix: "glucoport meter pair",
        .unavailable)
    }
    let read = meter.readAt.map { "last imported \(DeviceTime(seconds: $0).text)Z" } ?? "never imported"
    return Finding(.bluetooth, .ok, "\(meter.name): paired, \(read)")
  }
}
