// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A site: takes requests, one at a time or many at once, and answers.
final class NightscoutSite: Sendable {
  private static let longestWait: Duration = .seconds(20)

  let state: Mutex<NightscoutState>

  init(_ settings: NightscoutSettings, frozenAt: Int64?) {
    state = Mutex(NightscoutState(settings, frozenAt: frozenAt))
  }

  func answer(_ request: ReceivedRequest) -> ScriptedAnswer {
    let fault = state.withLock { state in
      state.counts.requests += 1
      state.counts.bytesReceived += request.byteCount
      state.counts.calls[Self.name(request), default: 0] += 1
      return state.fault(for: request)
    }
    let answer = fault.flatMap { Self.instead($0, request) } ?? respond(request, fault)
    state.withLock { $0.counts.bytesSent += answer.bytes.count }
    return answer
  }

  /// What it answers to a request that comes by no wire.
  func reply(_ request: ReceivedRequest) -> NightscoutReply {
    let answer = route(NightscoutCall(request))
    return NightscoutReply(
      status: answer.status, headers: answer.headers, body: Array((answer.body?.json ?? "").utf8))
  }

  private func respond(_ request: ReceivedRequest, _ fault: NightscoutFault?) -> ScriptedAnswer {
    let answer = route(NightscoutCall(request))
    let settings = state.withLock { $0.settings }
    var body = Array((answer.body?.json ?? "").utf8)
    var headers = answer.headers
    if answer.body != nil { headers.append("Content-Type: application/json; charset=utf-8") }
    if settings.packsAnswers, request.headers["accept-encoding"]?.contains("gzip") == true, !body.isEmpty {
      body = StoredGzip.packed(body)
      headers.append("Content-Encoding: gzip")
    }
    var scripted = ScriptedAnswer.status(answer.status, body, headers: headers)
    scripted.end = .keepFor(milliseconds: Int32(settings.idle / .milliseconds(1)))
    switch fault {
    case .answerLost: return .raw("", .reset)
    case .silenceAfterwards: return .raw("", .hold)
    case .closedAfterwards: scripted.end = .close
    default: break
    }
    return scripted
  }

  private func route(_ call: NightscoutCall) -> NightscoutAnswer {
    do throws(NightscoutAnswer) {
      switch call.segments.prefix(2).joined(separator: "/") {
      case "api/v3": return try v3(call)
      case "api/v2": return try v2(call).tagged(for: call)
      case "api/v1": return try v1(call).tagged(for: call)
      default: throw .error(404)
      }
    } catch {
      return error
    }
  }

  private func v3(_ call: NightscoutCall) throws(NightscoutAnswer) -> NightscoutAnswer {
    let path = Array(call.segments.dropFirst(2))
    if path == ["version"] { return state.withLock { NightscoutV3.version($0) } }
    let isOurs =
      ["status", "lastModified"].contains(path.first)
      || NightscoutState.collectionNames.contains(path.first ?? "")
    guard isOurs, path.count <= 3 else { throw .error(404, "Bad operation or collection") }
    let v3 = NightscoutV3(call: call, caller: try bearer(call))
    let step = try state.withLock { (state) throws(NightscoutAnswer) in try v3.step(&state) }
    switch step {
    case .answer(let answer): return answer
    case .write(let write, let answer):
      meet()
      state.withLock { v3.commit(write, &$0) }
      return answer
    }
  }

  private func v2(_ call: NightscoutCall) throws(NightscoutAnswer) -> NightscoutAnswer {
    let path = Array(call.segments.dropFirst(2))
    if path.count == 3, path[0] == "authorization", path[1] == "request", call.method == "GET" {
      guard let session = state.withLock({ $0.access.session(for: path[2], at: $0.now) }) else {
        throw .v1(401, "Unauthorized", "Invalid/Missing")
      }
      return .bare(.object(session))
    }
    guard path == ["authorization", "subjects"], call.method == "POST" else { throw .error(404) }
    guard try anybody(call).may("admin:api:subjects:create") else { throw NightscoutV1.denied }
    guard let sent = try NightscoutV1.body(call).object, let name = sent["name"]?.text else {
      throw .v1(400, "Bad Request", "name")
    }
    let roles = sent["roles"]?.array?.compactMap(\.text) ?? []
    let subject = state.withLock { $0.access.addSubject(name, roles: roles) }
    return .bare([["_id": .string(subject.id), "name": .string(name), "roles": sent["roles"] ?? []]])
  }

  private func v1(_ call: NightscoutCall) throws(NightscoutAnswer) -> NightscoutAnswer {
    let v1 = NightscoutV1(call: call, caller: try anybody(call))
    return try state.withLock { (state) throws(NightscoutAnswer) in try v1.answer(&state) }
  }
}

extension NightscoutSite {
  /// Whom v3 lets in: bearers of a token.
  private func bearer(_ call: NightscoutCall) throws(NightscoutAnswer) -> NightscoutAccess.Caller {
    guard let token = Self.bearerToken(call) else { throw .error(401, "Missing or bad access token or JWT") }
    let caller = resolve(call) { $0.access.caller(session: token, at: $0.now) }
    guard let caller else { throw .error(401, "Bad access token or JWT") }
    return caller
  }

  /// Whom v1 lets in: bearers of the secret, a token or an access token, and nobody with the rights of all.
  private func anybody(_ call: NightscoutCall) throws(NightscoutAnswer) -> NightscoutAccess.Caller {
    let secret = call.headers["api-secret"] ?? call.parameter("secret")
    let accessToken = call.parameter("token")
    let session = Self.bearerToken(call)
    guard secret ?? accessToken ?? session != nil else { return state.withLock { $0.access.nobody } }
    let caller = resolve(call) { state in
      if let secret {
        return state.access.caller(secretDigest: secret) ?? state.access.caller(accessToken: secret)
      }
      if let session { return state.access.caller(session: session, at: state.now) }
      return accessToken.flatMap { state.access.caller(accessToken: $0) }
    }
    guard let caller else { throw NightscoutV1.denied }
    return caller
  }

  private static func bearerToken(_ call: NightscoutCall) -> String? {
    let words = call.headers["authorization"]?.split(separator: " ") ?? []
    return words.count == 2 && words[0].lowercased() == "bearer" ? String(words[1]) : nil
  }

  /// Looks credentials up, after the waiting that earlier wrong ones brought upon the address.
  private func resolve(
    _ call: NightscoutCall, _ look: (inout NightscoutState) -> NightscoutAccess.Caller?
  ) -> NightscoutAccess.Caller? {
    let wait = state.withLock {
      $0.penalty.wait(call.client, penalty: $0.settings.penalty, at: .now)
    }
    if let wait { Thread.sleep(forTimeInterval: wait / .seconds(1)) }
    return state.withLock { state in
      let caller = look(&state)
      if caller == nil {
        state.penalty.failed(call.client, penalty: state.settings.penalty, at: .now)
      } else {
        state.penalty.succeeded(call.client)
      }
      return caller
    }
  }

  /// Between look and write: waits for as many looks as the settings say, within a limit.
  private func meet() {
    state.withLock { $0.looks += 1 }
    let end = ContinuousClock.now + Self.longestWait
    while state.withLock({ $0.looks < $0.settings.looksBeforeWrite }), .now < end {
      Thread.sleep(forTimeInterval: 0.001)
    }
  }

  /// The answer of a fault that keeps the site from doing anything.
  private static func instead(_ fault: NightscoutFault, _ request: ReceivedRequest) -> ScriptedAnswer? {
    switch fault {
    case .status(let status, let seconds):
      let retry = seconds.map { ["Retry-After: \($0)"] } ?? []
      let body = NightscoutAnswer.error(status, "said by the test").body?.json ?? ""
      return .status(status, Array(body.utf8), headers: ["Content-Type: application/json"] + retry)
    case .page(let status):
      let page = Array("<!DOCTYPE html><html><body>Welcome</body></html>".utf8)
      return .status(status, page, headers: ["Content-Type: text/html"])
    case .answer(let status, let body):
      return .status(status, Array(body.utf8), headers: ["Content-Type: application/json"])
    case .redirect(let base): return .status(307, headers: ["Location: \(base)\(request.path)"])
    case .reset: return .raw("", .reset)
    case .silence: return .raw("", .hold)
    case .answerLost, .silenceAfterwards, .closedAfterwards: return nil
    }
  }

  private static func name(_ request: ReceivedRequest) -> String {
    let path = request.path.split(separator: "?").first ?? ""
    let parts = path.split(separator: "/")
    // What follows names a document, an instant, or is an access token.
    let kept = parts.dropFirst(3).first == "history" || parts.dropFirst(2).first == "authorization" ? 4 : 3
    return "\(request.method) /" + parts.prefix(kept).joined(separator: "/")
  }
}
