// SPDX-License-Identifier: Apache-2.0

package import Logbook
import NIOHTTP1
package import Remotes
import SeededRandom
package import TestServers

/// Sends requests directly to a simulated site, without faults.
package struct SiteWire: HTTPTransport {
  let site: NightscoutStandIn

  package init(site: NightscoutStandIn) { self.site = site }

  package func send(_ request: ExchangeRequest) async throws(ServiceError) -> ExchangeAnswer {
    var headers: [String: String] = [:]
    for (name, value) in request.headers { headers[name.lowercased()] = value }
    // A real HTTP client adds this header. A site ignores a body without it.
    if let body = request.body { headers["content-length"] = String(body.count) }
    let reply = site.reply(
      ReceivedRequest(
        method: request.method.rawValue, path: request.path, headers: headers, body: request.body ?? []))
    let lines = reply.headers.map { $0.split(separator: ":", maxSplits: 1).map(String.init) }
    return ExchangeAnswer(
      status: reply.status,
      headers: HTTPHeaders(lines.map { ($0[0], $0[1].trimmingPrefix(" ").description) }), body: reply.body)
  }
}

/// The network between the nodes and a site. A call of the remote sends several requests, and a fault affects
/// only one of them. Each request advances the site's clock.
actor SiteNetwork: HTTPTransport {
  /// On average, one of this number of requests has a fault. The request is lost, its answer is lost, it
  /// arrives late or twice, or the site fails.
  private static let trouble = 8

  /// The error that an event threw between two requests.
  private var failure: (any Error)?

  private let wire: SiteWire
  private var random: SeededGenerator
  private var isUnreliable: Bool
  private var late: [ExchangeRequest] = []
  private var meanwhile: [Meanwhile] = []

  init(_ site: NightscoutStandIn, seed: UInt64, isUnreliable: Bool) {
    wire = SiteWire(site: site)
    random = SeededGenerator(seed: seed)
    self.isUnreliable = isUnreliable
  }

  func makeReliable() { isUnreliable = false }

  /// Runs an event before one of the next requests.
  func interrupt(_ thing: Meanwhile) { meanwhile.append(thing) }

  /// Returns the error that an event threw, and clears it. Also drops events that have not happened yet.
  func takeFailure() -> (any Error)? {
    defer { (failure, meanwhile) = (nil, []) }
    return failure
  }

  func send(_ request: ExchangeRequest) async throws(ServiceError) -> ExchangeAnswer {
    wire.site.moveClock(by: Int64.random(in: 0...30, using: &random))
    runNextEvent(before: request)
    guard isUnreliable, random.once(in: Self.trouble) else { return try await wire.send(request) }
    switch Int.random(in: 0..<6, using: &random) {
    case 0: throw .unavailable("the request was lost")
    case 1:
      _ = try await wire.send(request)
      throw .unavailable("the answer was lost")
    case 2 where Self.canArriveLate(request):
      late.append(request)
      throw .unavailable("no answer in time")
    case 3 where Self.canArriveLate(request):
      late.append(request)
      return try await wire.send(request)
    case 4: return ExchangeAnswer(status: 500, headers: [:], body: Array("<html>".utf8))
    case 5: return ExchangeAnswer(status: 503, headers: ["Retry-After": "1"], body: [])
    default: return try await wire.send(request)
    }
  }

  /// Lets one of the late requests arrive at the site. Its answer is dropped.
  func deliverLate() async {
    guard let place = late.indices.randomElement(using: &random) else { return }
    let request = late.remove(at: place)
    if request.method == .POST, request.path == "/api/v3/treatments", !hasVisibleDocument(request) { return }
    _ = try? await wire.send(request)
  }
}

extension SiteNetwork {
  /// Deletions never arrive late in the simulation. They do not check `srvModified`, so the manual page
  /// guarantees nothing for a late deletion.
  private static func canArriveLate(_ request: ExchangeRequest) -> Bool { request.method != .DELETE }

  /// Whether the site still has the document that a late request creates. If the document was deleted, the
  /// late request would create it again. The manual page promises nothing for this case, so the simulation
  /// drops such a request.
  private func hasVisibleDocument(_ request: ExchangeRequest) -> Bool {
    let key = request.body.flatMap { try? DocumentValue(json: $0)["identifier"]?.text }
    return wire.site.documents("treatments").contains {
      $0["identifier"]?.text == key && $0["isValid"] != false
    }
  }

  /// Runs the next event, but never directly before a deletion. The manual page states that an edit just
  /// before a deletion is lost.
  private func runNextEvent(before request: ExchangeRequest) {
    guard !meanwhile.isEmpty, request.method != .DELETE, random.once(in: 3) else { return }
    do { try meanwhile.removeFirst().happen() } catch { failure = error }
  }
}

extension ExchangeRequest {
  /// The method and the path of the request.
  package var line: String { "\(method.rawValue) \(path)" }
}
