// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The clock of this computer, by which imports judge the clocks of meters.
package struct ClockFacts: Sendable {
  /// The time on the clock of this computer, in UTC seconds.
  package var now: Int64
  /// When the program was released, in UTC seconds.
  package var release: Int64
  /// The latest import or upload in the store, in UTC seconds; nil without one.
  package var lastSuccess: Int64?
  /// Whether a time service adjusts the clock; nil if the kernel does not report it.
  package var isKept: Bool?
  /// How many seconds the server's clock is ahead of this computer's; nil if the server's time was not
  /// requested.
  package var serverLead: Int64?

  /// The facts about the clock of this computer if it shows the time `now`.
  package init(
    now: Int64, release: Int64, lastSuccess: Int64? = nil, isKept: Bool? = true, serverLead: Int64? = nil
  ) {
    self.now = now
    self.release = release
    self.lastSuccess = lastSuccess
    self.isKept = isKept
    self.serverLead = serverLead
  }

  private static let fix = "sudo timedatectl set-ntp true"

  /// The problems of the clock. If there are none, one finding states the time on the clock.
  var findings: [Finding] {
    var found: [Finding] = []
    let shown = DeviceTime(seconds: now).text + "Z"
    func fail(_ reason: String) {
      found.append(
        Finding(.clock, .fail, "the clock shows \(shown), \(reason)", fix: Self.fix, .configuration))
    }
    if now < release {
      fail("which is before this version of glucoport was made")
    } else if let lastSuccess, StoredAge.seconds(of: lastSuccess, now: now) == nil {
      fail("which is before the last import or upload at \(DeviceTime(seconds: lastSuccess).text)Z")
    }
    if let serverLead, abs(serverLead) > StoredAge.toleratedSeconds {
      found.append(
        Finding(
          .clock, .warn,
          "the clock shows \(shown), \(abs(serverLead)) seconds \(serverLead > 0 ? "behind" : "ahead of") the server",
          fix: Self.fix))
    }
    if isKept == false {
      found.append(
        Finding(
          .clock, .note, "the clock shows \(shown), and no time service keeps it correct", fix: Self.fix))
    }
    return found.isEmpty ? [Finding(.clock, .ok, "the clock shows \(shown)")] : found
  }
}

/// The program, and what it requires from the system.
package struct ProgramFacts: Sendable {
  /// The version of the program.
  package var version: String
  /// The SQLite library that the program uses.
  package var sqlite: SQLiteVersion
  /// Required compile-time options that the SQLite library lacks.
  package var missingOptions: [String]
  /// The version of the libusb library that the program uses.
  package var libusb: String
  /// Whether the system has time zone data.
  package var hasZones: Bool

  /// The facts about this program and its libraries.
  package init(
    version: String, sqlite: SQLiteVersion, missingOptions: [String] = [], libusb: String, hasZones: Bool
  ) {
    self.version = version
    self.sqlite = sqlite
    self.missingOptions = missingOptions
    self.libusb = libusb
    self.hasZones = hasZones
  }

  /// The problems of the program's environment. If there are none, one finding names the versions of the
  /// program and its libraries.
  var findings: [Finding] {
    var found: [Finding] = []
    if sqlite < .oldest {
      found.append(
        Finding(
          .program, .fail,
          "the SQLite library is \(sqlite); glucoport needs \(SQLiteVersion.oldest) or newer",
          fix: "sudo apt install libsqlite3-0", .configuration))
    }
    if !missingOptions.isEmpty {
      found.append(
        Finding(
          .program, .fail,
          "the SQLite library was built with \(missingOptions.joined(separator: ", ")); stores need a complete one",
          .configuration))
    }
    if !hasZones {
      found.append(
        Finding(
          .program, .fail, "the system has no time zone data, so no time can be converted",
          fix: "sudo apt install tzdata", .configuration))
    }
    let versions = "glucoport \(version), SQLite \(sqlite), libusb \(libusb)"
    return found.isEmpty ? [Finding(.program, .ok, versions)] : found
  }
}
