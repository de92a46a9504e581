// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A kind of remote, with its client. Each kind is one file, and one line in `RemoteRegister`.
protocol RemoteKind: LogbookService {
  /// The id of the kind, as stores save it.
  static var id: String { get }
  /// The name of the kind, for people.
  static var title: String { get }
  /// Whether the kind provides `attachments`. This is known without a request.
  static var takesAttachments: Bool { get }

  /// Whether an address shows by itself that the remote is of this kind.
  static func recognises(_ address: RemoteAddress) -> Bool

  init(_ exchange: RemoteExchange, token: Token)

  /// - Parameter zone: the zone of the logbook, for a remote whose items may lack an offset; nil for UTC.
  init(_ exchange: RemoteExchange, token: Token, zone: LogbookZone?)
}

extension RemoteKind {
  init(_ exchange: RemoteExchange, token: Token, zone: LogbookZone?) { self.init(exchange, token: token) }
}

/// What is needed to connect to a remote.
package struct RemoteLogin: Sendable {
  package let address: RemoteAddress
  /// The secret of the login.
  package let token: Token
  /// The program's name and version, for the header `User-Agent`.
  package let agent: String
  /// The zone of the logbook, for a remote whose items may lack an offset; nil for UTC.
  package let zone: LogbookZone?
  /// The path of a PEM file with the only trusted authorities; nil for those that the system trusts.
  package let authorities: String?
  /// The certificate of this client; nil if the remote requires none.
  package var clientCertificate: ClientCertificate?
  /// The proxy through which the remote is reached; nil for a direct connection.
  package var proxy: RemoteProxy?
  /// Counts the requests to the remote, and the bytes of their bodies.
  package let traffic: Traffic
  /// Whether the first request may block its thread. If it may, no other thread is started for this request.
  /// Only a program that does nothing else at that time may set this to true.
  package var mayBlock = false
  /// When all exchanges end, finished or not; nil without a limit.
  package var end: ContinuousClock.Instant?

  package init(
    address: RemoteAddress, token: Token, agent: String, zone: LogbookZone? = nil, authorities: String? = nil,
    traffic: Traffic = Traffic()
  ) {
    self.address = address
    self.token = token
    self.agent = agent
    self.zone = zone
    self.authorities = authorities
    self.traffic = traffic
  }
}

/// The description of a kind of remote.
package struct RemoteKindInfo: Hashable, Sendable {
  /// The id of the kind, as stores save it.
  package let id: String
  /// The name of the kind, for people.
  package let title: String
}

/// The supported kinds of remotes. Kinds whose addresses are recognised with more certainty come first.
package enum RemoteRegister {
  static let kinds: [any RemoteKind.Type] = [
    NightscoutRemote.self,
    GlucoportRemote.self,
  ]

  /// The descriptions of all kinds, in the order of recognition.
  package static var all: [RemoteKindInfo] { kinds.map { RemoteKindInfo(id: $0.id, title: $0.title) } }

  /// The kind of remote to which an address belongs.
  ///
  /// - Throws: `Failure` of category `configuration` if no kind has such addresses.
  package static func kind(of address: RemoteAddress) throws(Failure) -> RemoteKindInfo {
    guard let kind = kinds.first(where: { $0.recognises(address) }) else {
      throw Failure(.configuration, "\(address.host): the address fits no kind of remote")
    }
    return RemoteKindInfo(id: kind.id, title: kind.title)
  }

  /// The kind of remote with this id.
  ///
  /// - Throws: `Failure` of category `usage` for an unknown id.
  package static func kind(named id: String) throws(Failure) -> RemoteKindInfo {
    guard let kind = all.first(where: { $0.id == id }) else {
      throw Failure(
        .usage, "'\(id)' is not a type of remote; use one of \(all.map(\.id).joined(separator: ", "))")
    }
    return kind
  }

  /// Whether a kind of remote stores the contents of attachments, and not only the records that describe
  /// them.
  package static func takesAttachments(_ id: String) -> Bool {
    kinds.contains { $0.id == id && $0.takesAttachments }
  }

  /// Runs `body` with a remote. Its connections and their thread end with `body`, so it should only be called
  /// for actual requests.
  ///
  /// - Parameter kind: the id of the kind.
  /// - Throws: `Failure` of category `configuration` for an unknown kind, and errors of the body.
  package static func with<Value>(
    _ kind: String, _ login: RemoteLogin, isolation: isolated (any Actor)? = #isolation,
    _ body: (any LogbookService) async throws -> Value
  ) async throws -> Value {
    let type = try type(kind)
    return try await RemoteExchange.with(login) {
      try await body(type.init($0, token: login.token, zone: login.zone))
    }
  }

  /// A remote whose requests use this transport in place of the network, for tests.
  package static func remote(
    _ kind: String, _ login: RemoteLogin, over transport: any HTTPTransport
  ) throws(Failure) -> any LogbookService {
    try type(kind).init(RemoteExchange(login, over: transport), token: login.token, zone: login.zone)
  }

  private static func type(_ kind: String) throws(Failure) -> any RemoteKind.Type {
    guard let type = kinds.first(where: { $0.id == kind }) else {
      throw Failure(.configuration, "a remote of the kind '\(kind)' needs another version of glucoport")
    }
    return type
  }
}
