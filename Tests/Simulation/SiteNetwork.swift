// SPDX-License-Identifier: Apache-2.0

package import Logbook
import NIOHTTP1
package import Remotes
import SeededRandom
package import TestServers

/// Carries requests to a site at once and for certain.
package struct SiteWire: HTTPTransport {
  let site: NightscoutStandIn

  package init(site: NightscoutStandIn) { self.site = site }

  package func carry(_ request: ExchangeRequest) async throws(ServiceError) -> ExchangeAnswer {
    var headers: [String: String] = [:]
    for (name, value) in request.headers { headers[name.lowercased()] = value }
    // As the client adds it on a wire: without it a site takes what comes for no body.
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

/// The network between nodes and a site: single requests, of which several make one call of the remote, go wrong. The
/// site's clock goes on with each.
actor SiteNetwork: HTTPTransport {
  /// One request in this many does not arrive, loses its answer, arrives late or twice, or meets a failing site.
  private static let trouble = 8

  /// What happened between two requests and could not.
  private var failure: (any Error)?

  private let wire: SiteWire
  private var random: SeededGenerator
  private var isStormy: Bool
  private var late: [ExchangeRequest] = []
  private var meanwhile: [Meanwhile] = []

  init(_ site: NightscoutStandIn, seed: UInt64, isStormy: Bool) {
    wire = SiteWire(site: site)
    random = SeededGenerator(seed: seed)
    self.isStormy = isStormy
  }

  func calmDown() { isStormy = false }

  /// Lets this happen before one of the next requests.
  func interrupt(_ thing: Meanwhile) { meanwhile.append(thing) }

  /// Gives what went wrong between requests, once; what has not happened by then does not.
  func takeFailure() -> (any Error)? {
    defer { (failure, meanwhile) = (nil, []) }
    return failure
  }

  func carry(_ request: ExchangeRequest) async throws(ServiceError) -> ExchangeAnswer {
    wire.site.moveClock(by: Int64.random(in: 0...30, using: &random))
    letHappen(before: request)
    guard isStormy, random.once(in: Self.trouble) else { return try await wire.carry(request) }
    switch Int.random(in: 0..<6, using: &random) {
    case 0: throw .unavailable("the request was lost")
    case 1:
      _ = try await wire.carry(request)
      throw .unavailable("the answer was lost")
    case 2 where Self.mayBeLate(request):
      late.append(request)
      throw .unavailable("no answer in time")
    case 3 where Self.mayBeLate(request):
      late.append(request)
      return try await wire.carry(request)
    case 4: return ExchangeAnswer(status: 500, headers: [:], body: Array("<html>".utf8))
    case 5: return ExchangeAnswer(status: 503, headers: ["Retry-After": "1"], body: [])
    default: return try await wire.carry(request)
    }
  }

  /// Lets one late request arrive; the answer reaches nobody.
  func deliverLate() async {
    guard let place = late.indices.randomElement(using: &random) else { return }
    let request = late.remove(at: place)
    if request.method == .POST, request.path == "/api/v3/treatments", !isStillThere(request) { return }
    _ = try? await wire.carry(request)
  }
}

extension SiteNetwork {
  /// What the manual page does not promise: a deletion that arrives late looks at no mark.
  private static func mayBeLate(_ request: ExchangeRequest) -> Bool { request.method != .DELETE }

  /// Nor that a document which was deleted since it was made stays so when the request that makes it arrives again.
  private func isStillThere(_ request: ExchangeRequest) -> Bool {
    let key = request.body.flatMap { try? DocumentValue(json: $0)["identifier"]?.text }
    return wire.site.documents("treatments").contains {
      $0["identifier"]?.text == key && $0["isValid"] != false
    }
  }

  /// Not before a deletion: an edit in the moment before one is lost, as the manual page says.
  private func letHappen(before request: ExchangeRequest) {
    guard !meanwhile.isEmpty, request.method != .DELETE, random.once(in: 3) else { return }
    do { try meanwhile.removeFirst().happen() } catch { failure = error }
  }
}

extension ExchangeRequest {
  /// Its method and path.
  package var line: String { "\(method.rawValue) \(path)" }
}
