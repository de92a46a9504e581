// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore

/// The server that the store syncs with.
package struct RemoteFacts: Sendable {
  /// The settings of the server in the store.
  package var remote: ExaminedRemote
  /// The user id of this process.
  package var user: UInt32
  /// The file with the token; nil if a command prints the token, and if the file cannot be read.
  package var tokenFile: FileFact?
  /// The file with the key of the client certificate; nil without one, and if it cannot be read.
  package var clientKeyFile: FileFact?
  /// Whether the CA file can be used; nil if none is set.
  package var authorities: Result<Void, Failure>?
  /// When the client certificate expires, in UTC seconds, or why it cannot be used; nil without one.
  package var clientCertificate: Result<Int64, Failure>?
  /// The server's answer, or why there was none; nil if it was not requested.
  package var answer: Result<String, Failure>?
  /// The current time in UTC seconds.
  package var now: Int64

  /// A remote with the facts about its files and its answer.
  package init(
    _ remote: ExaminedRemote, user: UInt32, tokenFile: FileFact?, answer: Result<String, Failure>? = nil,
    now: Int64
  ) {
    self.remote = remote
    self.user = user
    self.tokenFile = tokenFile
    self.answer = answer
    self.now = now
  }

  /// A remote with the facts about its files.
  package static func of(_ remote: ExaminedRemote, user: UInt32, now: Int64) -> RemoteFacts {
    var token: FileFact?
    if case .file(let path) = remote.access.token { token = .at(path, followsLink: true) }
    var facts = RemoteFacts(remote, user: user, tokenFile: token, now: now)
    facts.clientKeyFile = remote.access.clientCertificate.flatMap { .at($0.keyFile, followsLink: true) }
    return facts
  }

  /// How many seconds before its expiry a certificate is reported.
  private static let noticeSeconds: Int64 = 14 * 86400

  /// The problems of the remote. If there are none, one finding states the time of the last upload.
  var findings: [Finding] {
    let found = purged + token + client + files + attempts + online
    return found.isEmpty ? [Finding(.remote, .ok, "\(url): \(success)")] : found
  }

  private var url: String { remote.access.url }

  private var success: String {
    guard let last = remote.lastSuccess else { return "no upload yet" }
    let isFuture = StoredAge.seconds(of: last, now: now) == nil
    return "last upload \(DeviceTime(seconds: last).text)Z" + (isFuture ? ", which is in the future" : "")
  }

  private var purged: [Finding] {
    guard remote.purgedAt != nil else { return [] }
    return [
      Finding(
        .remote, .fail, "\(url): the logbook was removed permanently on the server",
        fix: "glucoport remote remove",
        .configuration)
    ]
  }

  private var token: [Finding] {
    guard case .file(let path) = remote.access.token else { return [] }
    return secret("token", path, tokenFile)
  }

  /// The findings about the client certificate. If its key file has problems, only these are reported, since
  /// a command can repair them.
  private var client: [Finding] {
    guard let client = remote.access.clientCertificate else { return [] }
    let key = secret("key", client.keyFile, clientKeyFile)
    guard key.isEmpty, case .success(let end) = clientCertificate else {
      return key.isEmpty ? Self.failures(clientCertificate) : key
    }
    guard end - now < Self.noticeSeconds else { return [] }
    return [
      Finding(
        .remote, .warn,
        "\(PathText.shown(client.certificateFile)): the client certificate expires \(DeviceTime(seconds: end).text)Z"
      )
    ]
  }

  /// The problems of a file that contains a secret, so that only its owner may read it.
  private func secret(_ name: String, _ path: String, _ file: FileFact?) -> [Finding] {
    let shown = PathText.shown(path)
    guard let file else {
      return [Finding(.remote, .fail, "\(shown): the \(name) file cannot be found", .missingInput)]
    }
    if file.owner != user {
      return [
        Finding(
          .remote, .fail, "\(shown): the \(name) file belongs to another user",
          fix: "sudo chown \(user) \(quoted(path))",
          .permission)
      ]
    }
    guard file.mode & 0o077 != 0 else { return [] }
    return [
      Finding(
        .remote, .fail,
        "\(shown) has mode \(file.octal): other users may read the \(name), so it is not used",
        fix: "chmod 600 \(quoted(path))", .permission)
    ]
  }

  private var files: [Finding] { Self.failures(authorities) }

  private static func failures<Value>(_ result: Result<Value, Failure>?) -> [Finding] {
    guard case .failure(let failure) = result else { return [] }
    return [Finding(.remote, .fail, failure.message, failure.category)]
  }

  private var attempts: [Finding] {
    guard let error = remote.lastError else { return [] }
    let next = remote.nextAttempt.flatMap {
      $0 > now ? "; next attempt \(DeviceTime(seconds: $0).text)Z" : nil
    }
    return [
      Finding(
        .remote, .warn, "\(url): the last upload failed: \(error)\(next ?? "") (\(success))",
        fix: "glucoport upload")
    ]
  }

  private var online: [Finding] {
    switch answer {
    case nil: []
    case .success(let text): [Finding(.remote, .ok, "\(url): \(text)")]
    case .failure(let failure):
      [Finding(.remote, .fail, failure.message, fix: "glucoport remote test", failure.category)]
    }
  }
}
