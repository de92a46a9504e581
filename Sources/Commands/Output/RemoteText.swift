// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Remotes

/// A remote as lines of text. A command that prints the token may contain it, so it is never shown.
enum RemoteText {
  static func line(_ logbook: RemoteLogbook) -> String {
    "logbook \(displayed(logbook.name)) (\(logbook.id)) · \(logbook.isWritable ? "read and write" : "read only")"
  }

  /// The missing permissions of the login, one line each; none if it has all.
  static func missingPermissions(_ logbook: RemoteLogbook) -> [String] {
    logbook.missingPermissions.map { "missing permission: \(displayed($0))" }
  }

  /// The difference between the server's clock and the host's.
  static func clock(_ difference: Int64) -> String {
    if abs(difference) <= 1 { return "its clock agrees with this computer's" }
    return
      "its clock is \(grouped(Int(abs(difference)))) s \(difference > 0 ? "ahead of" : "behind") this computer's"
  }

  static func lines(_ setting: RemoteSetting) -> [String] {
    let title = RemoteRegister.all.first { $0.id == setting.access.kind }?.title ?? setting.access.kind
    var lines = ["\(displayed(setting.access.url)) · \(displayed(title))"]
    lines.append("  logbook \(displayed(setting.logbookName)) (\(displayed(setting.logbook)))")
    switch setting.access.token {
    case .file(let path): lines.append("  token from the file \(displayed(path))")
    case .command: lines.append("  token from a command")
    }
    if let path = setting.access.authorities { lines.append("  trusts only the CA file \(displayed(path))") }
    if let client = setting.access.clientCertificate {
      lines.append(
        "  client certificate \(displayed(client.certificateFile)) with the key \(displayed(client.keyFile))")
    }
    if setting.access.allowsPlainHTTP { lines.append("  http without encryption is allowed") }
    if let purged = setting.purgedAt {
      lines.append("  the server reported that the logbook was removed permanently, \(instant(purged))")
    }
    lines.append("  last success \(setting.lastSuccess.map(instant) ?? "never")")
    if let error = setting.lastError { lines.append("  last error \(displayed(error))") }
    if let next = setting.nextAttempt { lines.append("  next attempt \(instant(next))") }
    return lines
  }
}
