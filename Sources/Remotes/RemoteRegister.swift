// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// One kind of remote: how it is known, and how the port speaks to it. One file each, and one line in
/// `RemoteRegister`.
protocol RemoteKind: LogbookService {
  /// The word under which a store keeps the kind.
  static var id: String { get }
  /// The name for people.
  static var title: String { get }
  /// Whether it offers `attachments`: what is known of a kind without asking a remote.
  static var takesAttachments: Bool { get }

  /// Whether an address is, by itself, one of this kind.
  static func recognises(_ address: RemoteAddress) -> Bool

  init(_ exchange: RemoteExchange, token: Token)

  /// - Parameter zone: that of the logbook, for a remote whose items do not always say how they were shown.
  init(_ exchange: RemoteExchange, token: Token, zone: LogbookZone?)
}

extension RemoteKind {
  init(_ exchange: RemoteExchange, token: Token, zone: LogbookZone?) { self.init(exchange, token: token) }
}

/// A remote with what is needed to speak to it.
package struct RemoteLogin: Sendable {
  /// Where it is.
  package let address: RemoteAddress
  /// The secret.
  package let token: Token
  /// The program's name and version, for the header `User-Agent`.
  package let agent: String
  /// The zone of the logbook, for a remote whose items do not always say how they were shown; nil for UTC.
  package let zone: LogbookZone?
  /// The file of the certificates that alone may vouch for the remote, in PEM form; nil for those that the system trusts.
  package let authorities: String?
  /// By which this computer proves who it is; nil where the remote does not ask.
  package var clientCertificate: ClientCertificate?
  /// The proxy in between; nil for none.
  package var proxy: RemoteProxy?
  /// Where it is counted what goes over the wire.
  package let traffic: Traffic
  /// When every exchange ends, finished or not; nil for no such time.
  package var end: ContinuousClock.Instant?

  /// A login with these parts.
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

/// A kind of remote as a store keeps it and as people read it.
package struct RemoteKindInfo: Hashable, Sendable {
  /// The word under which a store keeps the kind.
  package let id: String
  /// The name for people.
  package let title: String
}

/// The remotes that glucoport speaks to. The order is that of recognition: the most certain address first.
package enum RemoteRegister {
  static let kinds: [any RemoteKind.Type] = [
    NightscoutRemote.self,
    GlucoportRemote.self,
  ]

  /// Every kind, in the order of recognition.
  package static var all: [RemoteKindInfo] { kinds.map { RemoteKindInfo(id: $0.id, title: $0.title) } }

  /// The kind of the remote at an address.
  ///
  /// - Throws: `Failure` of category `configuration` when no kind has such addresses.
  package static func kind(of address: RemoteAddress) throws(Failure) -> RemoteKindInfo {
    guard let kind = kinds.first(where: { $0.recognises(address) }) else {
      throw Failure(.configuration, "\(address.host): the address fits no kind of remote")
    }
    return RemoteKindInfo(id: kind.id, title: kind.title)
  }

  /// The kind that a store keeps under this word.
  ///
  /// - Throws: `Failure` of category `usage` for a word that names none.
  package static func kind(named id: String) throws(Failure) -> RemoteKindInfo {
    guard let kind = all.first(where: { $0.id == id }) else {
      throw Failure(
        .usage, "'\(id)' is not a type of remote; use one of \(all.map(\.id).joined(separator: ", "))")
    }
    return kind
  }

  /// Whether a kind of remote takes the content of attachments, beside the records that describe them.
  package static func takesAttachments(_ id: String) -> Bool {
    kinds.contains { $0.id == id && $0.takesAttachments }
  }

  /// Runs a body with a remote. The connection and its thread end with it, so that it is opened only when there is
  /// something to ask.
  ///
  /// - Parameter kind: the word under which the store keeps the kind.
  /// - Throws: `Failure` of category `configuration` for a kind that this program does not know, and what the body
  ///   throws.
  package static func with<Value>(
    _ kind: String, _ login: RemoteLogin, isolation: isolated (any Actor)? = #isolation,
    _ body: (any LogbookService) async throws -> Value
  ) async throws -> Value {
    let type = try type(kind)
    return try await RemoteExchange.with(login) {
      try await body(type.init($0, token: login.token, zone: login.zone))
    }
  }

  /// A remote whose requests go by another transport than the network.
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
