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
    /// The command that grants this user permission to open the meter.
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

/// The rules for meters that udev should have, and those that are installed.
package struct RuleFacts: Sendable {
  /// A file with rules.
  package struct File: Hashable, Sendable {
    /// The path of the file.
    package var path: String
    /// The text of the file.
    package var text: String

    /// A file with this text.
    package init(path: String, text: String) {
      self.path = path
      self.text = text
    }

    var name: Substring { path.split(separator: "/").last ?? "" }
  }

  /// The lines of the rules for meters, as this version of the program prints them.
  package var expected: [String]
  /// The files with rules of glucoport that udev reads.
  package var files: [File]
  /// Groups in the rules that the system does not know.
  package var unknownGroups: [String]
  /// The command that installs the rules.
  package var command: String

  /// The expected rules, and the installed files.
  package init(expected: [String], files: [File], unknownGroups: [String] = [], command: String) {
    self.expected = expected
    self.files = files
    self.unknownGroups = unknownGroups
    self.command = command
  }

  /// The folders of udev, in the order of precedence.
  private static let folders = [
    "/etc/udev/rules.d", "/run/udev/rules.d", "/usr/local/lib/udev/rules.d", "/usr/lib/udev/rules.d",
    "/lib/udev/rules.d",
  ]

  /// The start of the first line of the rules, by which the rules are recognised in a file with any name.
  package static let mark = "# Blood-glucose meters, by glucoport."

  /// The files with rules of glucoport. udev ignores a file if an earlier folder contains a file with the
  /// same name.
  ///
  /// - Parameter root: a folder in which the folders of udev are searched, for tests; empty for this system.
  package static func installed(below root: String = "") -> [File] {
    var seen: Set<String> = []
    var found: [File] = []
    for folder in folders {
      for name in SystemText.names(root + folder) where name.hasSuffix(".rules") && seen.insert(name).inserted
      {
        guard let text = SystemText.of(root + folder + "/" + name) else { continue }
        if name.contains("glucoport") || text.contains(mark) {
          found.append(File(path: folder + "/" + name, text: text))
        }
      }
    }
    return found
  }

  /// The groups in the rules.
  package static func groups(in files: [File]) -> Set<String> {
    Set(files.flatMap { $0.text.matches(of: /GROUP="([^"]+)"/).map { String($0.1) } })
  }

  /// The problems of the rules. If there are none, one finding states that the rules are current.
  var findings: [Finding] {
    guard !files.isEmpty else {
      return [
        Finding(.udev, .note, "no rules for meters are installed; only root may open meters", fix: command)
      ]
    }
    let found = files.compactMap(late) + missing + unknown
    let names = files.map(\.path).joined(separator: ", ")
    return found.isEmpty ? [Finding(.udev, .ok, "\(names): the rules are those of this version")] : found
  }

  private func late(_ file: File) -> Finding? {
    guard file.name >= "73-seat-late.rules" else { return nil }
    return Finding(
      .udev, .warn,
      "\(file.path) sorts after 73-seat-late.rules, so that the person at the computer gets no permission by it",
      fix:
        "sudo mv \(quoted(file.path)) /etc/udev/rules.d/70-glucoport.rules && sudo udevadm control --reload && sudo udevadm trigger"
    )
  }

  private var missing: [Finding] {
    let installed = Set(files.flatMap { $0.text.split(separator: "\n").map { rule(String($0)) } })
    let lines = expected.map(rule).filter { !$0.isEmpty && !$0.hasPrefix("#") && !installed.contains($0) }
    guard !lines.isEmpty else { return [] }
    let names = files.map(\.path).joined(separator: ", ")
    return [
      Finding(
        .udev, .warn,
        "\(names): \(lines.count) rules of this version are missing; the file is of another version",
        fix: command)
    ]
  }

  private var unknown: [Finding] {
    unknownGroups.map { group in
      Finding(
        .udev, .warn, "the rules give meters to the group \(group), which does not exist",
        fix: "sudo groupadd --system \(quoted(group))")
    }
  }

  /// A rule without the name of its group. Rules are compared without this name, since an administrator may
  /// choose any group.
  private func rule(_ line: String) -> String { line.replacing(/GROUP="[^"]*"/, with: "GROUP") }
}
