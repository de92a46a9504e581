// SPDX-License-Identifier: Apache-2.0

package import Logbook

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
