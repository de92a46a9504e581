// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore
import Remotes

extension RemoteAccess {
  /// Runs a body with the remote. The token is read and the connection opened before it; both are discarded
  /// after it.
  ///
  /// - Parameters:
  ///   - zone: the zone of the logbook, for times without an offset.
  ///   - traffic: counts the transferred bytes.
  /// - Throws: `Failure`: errors of address or token, and those of the remote.
  func ask<Value>(
    in zone: LogbookZone? = nil, counting traffic: Traffic = Traffic(),
    isolation: isolated (any Actor)? = #isolation,
    _ body: (any LogbookService) async throws -> Value
  ) async throws -> Value {
    try await ask(with: try await login(in: zone, counting: traffic), body)
  }

  /// The login, for which the token is read.
  ///
  /// - Throws: `Failure`: errors of address, proxy, certificates or token.
  func login(
    in zone: LogbookZone? = nil, counting traffic: Traffic = Traffic()
  ) async throws(Failure) -> RemoteLogin {
    let address = try RemoteAddress(url, allowsPlainHTTP: allowsPlainHTTP)
    let proxy = try RemoteProxy(for: address, environment: Host.environment)
    // Checked before the token, which may come from a command that asks a person.
    if let clientCertificate { try CertificateFiles.check(clientCertificate, at: Host.now()) }
    var login = RemoteLogin(
      address: address, token: try await token.token(), agent: "glucoport/\(Release.version)", zone: zone,
      authorities: authorities, traffic: traffic)
    login.clientCertificate = clientCertificate
    login.proxy = proxy
    return login
  }

  /// Runs a body with the remote. The connection is opened before it, and closed after it.
  ///
  /// - Throws: `Failure`: errors of the remote.
  func ask<Value>(
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
  /// The remote of the store.
  ///
  /// - Throws: `Failure` of category `configuration` without one.
  func requireRemote() throws -> RemoteSetting {
    guard let setting = try remote() else {
      throw Failure(.configuration, "\(path): the store has no remote; set one with 'glucoport remote set'")
    }
    return setting
  }
}

extension RemoteSetting {
  /// Refuses requests to a remote if the store knows that the logbook was removed on it.
  ///
  /// - Throws: `Failure` of category `configuration`.
  func refusePurged() throws {
    if purgedAt != nil { throw Failure(.purged, host: access.url) }
  }
}
