// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The connected meters.
package struct MeterFacts: Sendable {
  /// A connected meter.
  package struct Meter: Sendable {
    /// The meter's name and port, such as `Contour Next USB at 1-1.4`, without control characters.
    package var place: String
    /// The device file that a session with the meter opens.
    package var node: String
    /// Whether the device file exists.
    package var hasNode: Bool
    /// Whether this process may open the device file.
    package var mayOpen: Bool
    /// Why no driver can read the meter; nil if a driver can.
    package var obstacle: String?
    /// The kernel drivers that use the meter's interfaces. `usbfs` means that another program uses the meter.
    package var kernelDrivers: [String]
    /// Another reason why a session would fail; nil if none is known.
    package var obstruction: Failure?
    /// The command that gives this user permission to open the meter.
    package var permissionCommand: String

    /// A connected meter.
    package init(
      place: String, node: String, hasNode: Bool = true, mayOpen: Bool = true, obstacle: String? = nil,
      kernelDrivers: [String] = [], obstruction: Failure? = nil, permissionCommand: String
    ) {
      self.place = place
      self.node = node
      self.hasNode = hasNode
      self.mayOpen = mayOpen
      self.obstacle = obstacle
      self.kernelDrivers = kernelDrivers
      self.obstruction = obstruction
      self.permissionCommand = permissionCommand
    }
  }

  /// The connected meters, or why they cannot be listed.
  package var meters: Result<[Meter], Failure>

  /// The facts for these meters.
  package init(_ meters: Result<[Meter], Failure>) { self.meters = meters }

  /// One finding for each meter that is plugged in, or a single one if there is none or USB is not available.
  var findings: [Finding] {
    switch meters {
    case .failure(let failure): return [Finding(.usb, .note, "no USB meter can be read: \(failure.message)")]
    case .success(let meters):
      if meters.isEmpty { return [Finding(.usb, .ok, "no meter is plugged in")] }
      return meters.map(finding)
    }
  }

  private func finding(_ meter: Meter) -> Finding {
    if let obstacle = meter.obstacle {
      return Finding(.usb, .note, "\(meter.place) cannot be read: \(obstacle)")
    }
    if !meter.hasNode {
      return Finding(
        .usb, .fail, "\(meter.place): \(meter.node) does not exist; a container needs it passed in",
        .unavailable)
    }
    if !meter.mayOpen {
      return Finding(
        .usb, .fail, "\(meter.place): permission denied for \(meter.node)", fix: meter.permissionCommand,
        .permission)
    }
    if meter.kernelDrivers.contains("usbfs") {
      return Finding(
        .usb, .warn, "\(meter.place): another program uses it; close that program",
        fix: "sudo fuser -v \(quoted(meter.node))")
    }
    if let obstruction = meter.obstruction {
      return Finding(.usb, .fail, "\(meter.place): \(obstruction.message)", obstruction.category)
    }
    return Finding(.usb, .ok, "\(meter.place) may be opened")
  }
}
