// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Logbook
import LogbookStore

/// The texts about a source. They show neither the arguments of a source's program nor the command that
/// prints its token, since both may contain a secret.
enum SourceText {
  /// All stored facts about a source, as lines of text.
  ///
  /// - Parameter zone: the zone of the logbook, in which times without sensor values are shown.
  static func lines(_ setting: SourceSetting, in zone: LogbookZone) -> [String] {
    let (access, state) = (setting.access, setting.state)
    var lines = ["\(title(setting))"]
    if let patient = access.patient { lines.append("person \(displayed(patient))") }
    switch access.token {
    case .file(let path): lines.append("\(secret(access)) from the file \(displayed(path))")
    case .command: lines.append("\(secret(access)) from a command")
    case nil: break
    }
    if let path = access.authorities { lines.append("trusts only the CA file \(displayed(path))") }
    if let client = access.certificate {
      lines.append(
        "client certificate \(displayed(client.certificateFile)) with the key \(displayed(client.keyFile))")
    }
    if access.allowsPlainHTTP { lines.append("http without encryption is allowed") }
    let facts = [
      access.format.map { "format \($0)" }, access.unit.map { "unit \($0)" },
      access.timezone.map { "zone \($0)" }, access.dateOrder.map { "date-order \($0)" },
      access.device.map { "device \(displayed($0))" },
    ].compactMap { $0 }
    if !facts.isEmpty { lines.append(facts.joined(separator: " · ")) }
    lines.append("every \(duration(access.intervalSeconds))")
    lines.append("last success \(state.lastSuccess.map(instant) ?? "never")")
    if let newest = state.newestValue { lines.append("newest sensor value \(instant(newest))") }
    if let status = state.exitStatus, access.type == SourceType.command.rawValue {
      let words = state.lastLine.map { ": \(displayed($0))" } ?? ""
      lines.append("the command ended with \(status)\(words)")
    }
    if let error = state.lastError { lines.append("last error \(displayed(error))") }
    if state.isBlocked {
      lines.append("no request until 'glucoport source set' or 'glucoport fetch --now'")
    } else if let next = state.nextAttempt {
      lines.append("next attempt \(instant(next))")
    }
    lines += state.holes.map { missing($0, in: zone) }
    return lines.enumerated().map { $0.offset == 0 ? $0.element : "  " + $0.element }
  }

  /// The name, the type and the address or program of a source.
  static func title(_ setting: SourceSetting) -> String {
    "\(displayed(setting.name)) · \(setting.type?.title ?? displayed(setting.access.type)) · \(displayed(setting.place))"
  }

  private static func secret(_ access: SourceAccess) -> String {
    if let user = access.user { return "password of \(displayed(user))" }
    return access.header.map { "value of the header \(displayed($0))" } ?? "token"
  }

  private static func duration(_ seconds: Int) -> String {
    seconds % 3600 == 0 && seconds > 0
      ? "\(seconds / 3600) h" : seconds % 60 == 0 ? "\(seconds / 60) min" : "\(seconds) s"
  }

  /// The sentence about a time without sensor values. It ends with what a person can do.
  static func line(_ hole: SourceHole, of setting: SourceSetting, in zone: LogbookZone) -> String {
    "\(displayed(setting.name)): \(missing(hole, in: zone))"
  }

  private static func missing(_ hole: SourceHole, in zone: LogbookZone) -> String {
    "\(SourceHoles.text(hole, in: zone)) is missing and no longer at the source; import an export of that time"
  }

  /// The lines of `status` about sources: one for each source, followed by lines about its failure and its
  /// missing sensor values.
  static func statusLines(_ settings: [SourceSetting], in zone: LogbookZone) -> [String] {
    settings.flatMap { setting -> [String] in
      let state = setting.state
      let success = state.lastSuccess.map { "last fetch \(instant($0))" } ?? "no fetch yet"
      let newest = state.newestValue.map { " · newest value \(instant($0))" } ?? ""
      var lines = ["source \(displayed(setting.name)): \(success)\(newest)"]
      if let error = state.lastError {
        let next = state.isBlocked ? "" : state.nextAttempt.map { " · next attempt \(instant($0))" } ?? ""
        lines.append("  last attempt failed: \(displayed(error))\(next)")
      }
      return lines + state.holes.map { "  " + missing($0, in: zone) }
    }
  }
}

/// A source for `source show --json` and `status --json`; glucoport-json(5) documents the members. They
/// contain neither a secret nor a command.
struct SourceObject: Encodable {
  let source: String
  let type: String
  let place: String
  let patient: String?
  let tokenFile: String?
  let caFile: String?
  let clientCert: String?
  let clientKey: String?
  let insecureHTTP: Bool
  let intervalSeconds: Int
  let failures: Int
  let blocked: Bool
  let lastAttempt: String?
  let lastSuccess: String?
  let lastError: String?
  let nextAttempt: String?
  let newestValue: String?
  let exitStatus: String?
  let lastLine: String?
  let holes: [HoleObject]

  init(_ setting: SourceSetting) {
    let (access, state) = (setting.access, setting.state)
    (source, type, place, patient) = (setting.name, access.type, setting.place, access.patient)
    tokenFile = access.tokenFile
    caFile = access.authorities
    clientCert = access.clientCertificate
    clientKey = access.clientKey
    insecureHTTP = access.allowsPlainHTTP
    intervalSeconds = access.intervalSeconds
    failures = state.failures
    blocked = state.isBlocked
    lastAttempt = state.lastAttempt.map(instant)
    lastSuccess = state.lastSuccess.map(instant)
    lastError = state.lastError
    nextAttempt = state.nextAttempt.map(instant)
    newestValue = state.newestValue.map(instant)
    exitStatus = state.exitStatus
    lastLine = state.lastLine
    holes = state.holes.map(HoleObject.init)
  }
}

/// A hole: a time whose sensor values the source does not keep any more and the store lacks.
struct HoleObject: Encodable {
  let from: String
  let until: String

  init(_ hole: SourceHole) { (from, until) = (instant(hole.from), instant(hole.until)) }
}
