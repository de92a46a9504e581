// SPDX-License-Identifier: Apache-2.0

import Logbook

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
