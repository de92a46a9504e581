// SPDX-License-Identifier: Apache-2.0

package import Logbook
package import LogbookStore
package import Remotes

extension RemoteAccess {
  /// Reads the token, opens a connection to the remote, and runs the body with it. Afterwards, the connection
  /// is closed and the token is discarded.
  ///
  /// - Parameters:
  ///   - zone: the zone of the logbook, which applies to times without an offset.
  ///   - traffic: counts the bytes that are sent and received.
  /// - Throws: `Failure`: errors in the address or the token, and errors of the remote. Also errors of the
  ///   body.
  package func connect<Value>(
    in zone: LogbookZone? = nil, counting traffic: Traffic = Traffic(),
    isolation: isolated (any Actor)? = #isolation,
    _ body: (any LogbookService) async throws -> Value
  ) async throws -> Value {
    try await connect(with: try await login(in: zone, counting: traffic), body)
  }

  /// Reads the token, and makes the login for a connection from it and the other settings.
  ///
  /// - Throws: `Failure`: errors in the address, the proxy, the certificates or the token.
  package func login(
    in zone: LogbookZone? = nil, counting traffic: Traffic = Traffic()
  ) async throws(Failure) -> RemoteLogin {
    let address = try RemoteAddress(url, allowsPlainHTTP: allowsPlainHTTP)
    let proxy = try RemoteProxy(for: address, environment: Host.environment)
    // The certificate is checked before the token is read, since the command that prints the token may ask a
    // person for a password.
    if let clientCertificate { try CertificateFiles.check(clientCertificate, at: Host.now()) }
    var login = RemoteLogin(
      address: address, token: try await token.token(), agent: "glucoport/\(Release.version)", zone: zone,
      authorities: authorities, traffic: traffic)
    login.clientCertificate = clientCertificate
    login.proxy = proxy
    return login
  }

  /// Opens a connection to the remote, runs the body with it, and closes it.
  ///
  /// - Throws: `Failure`: errors of the remote. Also errors of the body.
  package func connect<Value>(
    with login: RemoteLogin, isolation: isolated (any Actor)? = #isolation,
    _ body: (any LogbookService) async throws -> Value
  ) async throws -> Value {
    do {
      return try await RemoteRegister.with(kind, login, body)
    } catch let error as ServiceError {
      throw Failure(error, host: login.address.host)
    }
  }
}

extension Store {
  /// The remote setting of the store.
  ///
  /// - Throws: `Failure` of category `configuration` if the store has no remote.
  package func requireRemote() throws -> RemoteSetting {
    guard let setting = try remote() else {
      throw Failure(.configuration, "\(path): the store has no remote; set one with 'glucoport remote set'")
    }
    return setting
  }
}

extension RemoteSetting {
  /// Throws if the store knows that its logbook was purged on the remote, so that no request is sent.
  ///
  /// - Throws: `Failure` of category `configuration`.
  package func refusePurged() throws {
    if purgedAt != nil { throw Failure(.purged, host: access.url) }
  }
}

/// The texts about a remote. The command that prints the token may contain a secret, so it is never shown.
package enum RemoteText {
  /// The logbook's name and id, and whether the login may write in it.
  package static func line(_ logbook: RemoteLogbook) -> String {
    "logbook \(displayed(logbook.name)) (\(logbook.id)) · \(logbook.isWritable ? "read and write" : "read only")"
  }

  /// One line for each permission that the login needs and lacks. The list is empty if no permission is
  /// missing.
  package static func missingPermissions(_ logbook: RemoteLogbook) -> [String] {
    logbook.missingPermissions.map { "missing permission: \(displayed($0))" }
  }

  /// How far the server's clock is ahead of the host's. The difference is in seconds.
  package static func clock(_ difference: Int64) -> String {
    if abs(difference) <= 1 { return "its clock agrees with this computer's" }
    return
      "its clock is \(grouped(Int(abs(difference)))) s \(difference > 0 ? "ahead of" : "behind") this computer's"
  }

  /// The address, the logbook and the state of a remote, without its token.
  package static func lines(_ setting: RemoteSetting) -> [String] {
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
