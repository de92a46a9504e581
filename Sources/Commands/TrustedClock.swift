// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The host's clock, if it can be trusted.
enum TrustedClock {
  /// The host's time in UTC seconds. If it is before the release of this program or the last import, nil and
  /// a message.
  static func now(after lastImport: Int64?, _ output: Output) -> Int64? {
    let now = Host.now()
    if now >= max(Release.date, lastImport ?? Release.date) { return now }
    output.message(
      "glucoport: the clock of this computer shows \(DeviceTime(seconds: now).text)Z, which is in the past; timestamps are not checked"
    )
    return nil
  }
}
