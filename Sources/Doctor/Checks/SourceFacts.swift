// SPDX-License-Identifier: Apache-2.0

import Logbook
package import LogbookStore

/// A source from which the store fetches.
package struct SourceFacts: Sendable {
  /// The settings of the source in the store.
  package var setting: SourceSetting
  /// The user id of this process.
  package var user: UInt32
  /// The host's clock in UTC seconds.
  package var now: Int64
  /// The file with the secret for the source; nil without one, and if it cannot be read.
  package var tokenFile: FileFact?
  /// The program that the source runs as a command; nil without one, and if it cannot be read.
  package var program: FileFact?

  /// A source with the facts about its files.
  package init(
    _ setting: SourceSetting, user: UInt32, tokenFile: FileFact? = nil, program: FileFact? = nil, now: Int64
  ) {
    (self.setting, self.user, self.tokenFile, self.program) = (setting, user, tokenFile, program)
    self.now = now
  }

  /// Reads the facts about the files of a source.
  package static func of(_ setting: SourceSetting, user: UInt32, now: Int64) -> SourceFacts {
    SourceFacts(
      setting, user: user, tokenFile: setting.access.tokenFile.flatMap { .at($0, followsLink: true) },
      program: setting.access.command.first.flatMap { .at($0, followsLink: true) }, now: now)
  }

  /// The problems of the source. If there are none, one finding states the time of the last fetch.
  var findings: [Finding] {
    let found = token + command + attempts
    if !found.isEmpty { return found }
    guard let last = setting.state.lastSuccess else {
      return [Finding(.sources, .ok, "\(name): no fetch yet")]
    }
    let success = "\(name): last fetch \(DeviceTime(seconds: last).text)Z"
    guard StoredAge.seconds(of: last, now: now) != nil else {
      return [
        Finding(
          .sources, .warn, "\(success), which is in the future, so that its age is unknown",
          fix: "glucoport fetch \(quoted(name))")
      ]
    }
    return [Finding(.sources, .ok, success)]
  }

  private var name: String { setting.name }

  private var token: [Finding] {
    guard let path = setting.access.tokenFile else { return [] }
    let shown = PathText.shown(path)
    guard let tokenFile else {
      return [Finding(.sources, .fail, "\(name): \(shown): the token file cannot be found", .missingInput)]
    }
    if tokenFile.owner != user {
      return [
        Finding(
          .sources, .fail, "\(name): \(shown): the token file belongs to another user",
          fix: "sudo chown \(user) \(quoted(path))", .permission)
      ]
    }
    guard tokenFile.mode & 0o077 != 0 else { return [] }
    return [
      Finding(
        .sources, .fail,
        "\(name): \(shown) has mode \(tokenFile.octal): other users may read the token, so it is not used",
        fix: "chmod 600 \(quoted(path))", .permission)
    ]
  }

  private var command: [Finding] {
    guard let path = setting.access.command.first else { return [] }
    let shown = PathText.shown(path)
    guard let program else {
      return [Finding(.sources, .fail, "\(name): \(shown): No such program", .missingInput)]
    }
    guard program.kind == .file, program.mode & 0o111 != 0 else {
      return [Finding(.sources, .fail, "\(name): \(shown) is not an executable program", .permission)]
    }
    // Any user who can change this program can run any command as this user.
    guard program.mode & 0o022 != 0 else { return [] }
    return [
      Finding(
        .sources, .warn, "\(name): \(shown) has mode \(program.octal): other users may change the program",
        fix: "chmod go-w \(quoted(path))")
    ]
  }

  private var attempts: [Finding] {
    let state = setting.state
    var found: [Finding] = []
    if let failure = state.persistentFailure {
      let again = state.isBlocked ? "; no request is sent before 'glucoport fetch --now'" : ""
      found.append(
        Finding(
          .sources, .fail, "\(name): the last fetch failed: \(failure.message)\(again)", failure.category))
    } else if let error = state.lastError {
      found.append(Finding(.sources, .note, "\(name): the last fetch failed: \(error)"))
    }
    if !state.holes.isEmpty {
      found.append(
        Finding(
          .sources, .note,
          "\(name): sensor values are missing that the source does not have any more; 'glucoport source show' lists the times"
        ))
    }
    return found
  }
}
