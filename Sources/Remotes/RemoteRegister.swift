// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A kind of remote: how it is recognised, and its port. Each kind is one file and one line in `RemoteRegister`.
protocol RemoteKind: LogbookService {
  /// The identifier of the kind in a store.
  static var id: String { get }
  /// The name for people.
  static var title: String { get }
  /// Whether it offers `attachments`; a property of the kind, known without a request.
  static var takesAttachments: Bool { get }

  /// Whether an address by itself shows that the remote is of this kind.
  static func recognises(_ address: RemoteAddress) -> Bool

  init(_ exchange: RemoteExchange, token: Token)

  /// - Parameter zone: the zone of the logbook, for a remote whose items may lack an offset.
  init(_ exchange: RemoteExchange, token: Token, zone: LogbookZone?)
}

extension RemoteKind {
  init(_ exchange: RemoteExchange, token: Token, zone: LogbookZone?) { self.init(exchange, token: token) }
}

/// A remote, and what is needed to connect to it.
package struct RemoteLogin: Sendable {
  /// The address.
  package let address: RemoteAddress
  /// The secret.
  package let token: Token
  /// The program's name and version, for the header `User-Agent`.
  package let agent: String
  /// The zone of the logbook, for a remote whose items may lack an offset; nil for UTC.
  package let zone: LogbookZone?
  /// The file with the only trusted certificates of authorities, in PEM form; nil for those that the system trusts.
  package let authorities: String?
  /// The certificate of this client; nil if the remote does not require one.
  package var clientCertificate: ClientCertificate?
  /// The proxy; nil for none.
  package var proxy: RemoteProxy?
  /// Counts the transferred data.
  package let traffic: Traffic
  /// Whether the first request may block its thread: it then needs no other one. Only for a program in which nothing else
  /// runs meanwhile.
  package var mayBlock = false
  /// The instant at which every exchange ends, finished or not; nil for no limit.
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

/// A kind of remote for stores and for people.
package struct RemoteKindInfo: Hashable, Sendable {
  /// The identifier of the kind in a store.
  package let id: String
  /// The name for people.
  package let title: String
}

/// The supported remotes, in the order of recognition: the most certain address first.
package enum RemoteRegister {
  static let kinds: [any RemoteKind.Type] = [
    NightscoutRemote.self,
    GlucoportRemote.self,
  ]

  /// Every kind, in the order of recognition.
  package static var all: [RemoteKindInfo] { kinds.map { RemoteKindInfo(id: $0.id, title: $0.title) } }

  /// The kind of the remote at an address.
  ///
  /// - Throws: `Failure` of category `configuration` if no kind has such addresses.
  package static func kind(of address: RemoteAddress) throws(Failure) -> RemoteKindInfo {
    guard let kind = kinds.first(where: { $0.recognises(address) }) else {
      throw Failure(.configuration, "\(address.host): the address fits no kind of remote")
    }
    return RemoteKindInfo(id: kind.id, title: kind.title)
  }

  /// The kind with this identifier.
  ///
  /// - Throws: `Failure` of category `usage` for an unknown identifier.
  package static func kind(named id: String) throws(Failure) -> RemoteKindInfo {
    guard let kind = all.first(where: { $0.id == id }) else {
      throw Failure(
        .usage, "'\(id)' is not a type of remote; use one of \(all.map(\.id).joined(separator: ", "))")
    }
    return kind
  }

  /// Whether a kind of remote stores the content of attachments, in addition to the records that describe them.
  package static func takesAttachments(_ id: String) -> Bool {
    kinds.contains { $0.id == id && $0.takesAttachments }
  }

  /// Runs a body with a remote. The connection and its thread end with the body, so open it only for actual requests.
  ///
  /// - Parameter kind: the identifier of the kind in the store.
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

  /// A remote whose requests use another transport than the network.
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
