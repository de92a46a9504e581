// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A site, which accepts requests, one at a time or many at once, and answers them.
final class NightscoutSite: Sendable {
  private static let longestWait: Duration = .seconds(20)
  /// The minimum size in bytes of an answer that is compressed.
  private static let minPackedBytes = 1024

  let state: Mutex<NightscoutState>

  init(_ settings: NightscoutSettings, frozenAt: Int64?) {
    state = Mutex(NightscoutState(settings, frozenAt: frozenAt))
  }

  init(copying site: NightscoutSite) {
    let copy = site.state.withLock { $0 }
    state = Mutex(copy)
  }

  func answer(_ request: ReceivedRequest) -> ScriptedAnswer {
    let delay = state.withLock { $0.settings.answerDelay }
    if delay > .zero { Thread.sleep(forTimeInterval: delay / .seconds(1)) }
    let fault = state.withLock { state in
      state.counts.requests += 1
      state.counts.bytesReceived += request.byteCount
      state.counts.calls[Self.name(request), default: 0] += 1
      return state.isDown ? .reset : state.fault(for: request)
    }
    let answer = fault.flatMap { Self.instead($0, request) } ?? respond(request, fault)
    state.withLock { $0.counts.bytesSent += answer.bytes.count }
    return answer
  }

  /// The answer to a request without a connection; 502 if there is no answer.
  func reply(_ request: ReceivedRequest) -> NightscoutReply {
    let isDown = state.withLock { $0.isDown }
    let answer = isDown ? NightscoutAnswer(status: 0, body: nil) : route(NightscoutCall(request))
    return NightscoutReply(
      status: answer.status == 0 ? 502 : answer.status, headers: answer.headers,
      body: Array((answer.payload?.text ?? "").utf8))
  }

  private func respond(_ request: ReceivedRequest, _ fault: NightscoutFault?) -> ScriptedAnswer {
    let answer = route(NightscoutCall(request))
    guard answer.status != 0 else { return .raw("", .reset) }
    let settings = state.withLock { $0.settings }
    var body = Array((answer.payload?.text ?? "").utf8)
    var headers = answer.headers
    if let type = answer.payload?.type { headers.append("Content-Type: \(type)") }
    let isTaken = request.headers["accept-encoding"]?.contains("gzip") ?? false
    if settings.packsAnswers, isTaken, body.count >= Self.minPackedBytes {
      body = StoredGzip.packed(body)
      headers.append("Content-Encoding: gzip")
    }
    var scripted = ScriptedAnswer.status(answer.status, body, headers: headers)
    if request.method == "HEAD" { scripted.bytes.removeLast(body.count) }
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
    state.withLock { state in
      if state.memory.isDue(state.now) { state.settle() }
    }
    do throws(NightscoutAnswer) {
      switch call.segments.prefix(2).joined(separator: "/") {
      case "api/v3": return try v3(call)
      case "api/v2":
        if let answer = try NightscoutV2(self, call).answer() { return answer.tagged(for: call) }
        return try v1(call).tagged(for: call)
      case "api/v1": return try v1(call).tagged(for: call)
      case "api/versions": return Self.versions.tagged(for: call)
      default: throw .noPage(call)
      }
    } catch {
      return call.segments.prefix(2) == ["api", "v3"] ? error : error.tagged(for: call)
    }
  }

  private static let versions = NightscoutAnswer.bare([
    ["version": "1.0.0", "url": "/api/v1"], ["version": "2.0.0", "url": "/api/v2"],
    ["version": .string(NightscoutV3.apiVersion), "url": "/api/v3"],
  ])

  private func v3(_ call: NightscoutCall) throws(NightscoutAnswer) -> NightscoutAnswer {
    var v3 = try NightscoutV3(call, maxBodyBytes: state.withLock { $0.settings.maxBodyBytes })
    if v3.route == .version { return state.withLock { NightscoutV3.version($0) } }
    v3.caller = try bearer(call)
    let known = v3
    switch try state.withLock({ (state) throws(NightscoutAnswer) in try known.step(state) }) {
    case .answer(let answer): return answer
    case .write(let write, let answer):
      waitForOtherSearches()
      try state.withLock { (state) throws(NightscoutAnswer) in try known.commit(write, &state) }
      return answer
    }
  }

  private func v1(_ call: NightscoutCall) throws(NightscoutAnswer) -> NightscoutAnswer {
    guard NightscoutV1.serves(call) else { throw .noPage(call) }
    let sent = try NightscoutBody.v1(call, maxBytes: state.withLock { $0.settings.maxBodyBytes })
    let v1 = NightscoutV1(call, sent, by: try anybody(call))
    return try state.withLock { (state) throws(NightscoutAnswer) in try v1.answer(&state) }
  }
}

extension NightscoutSite {
  /// Waits between the search and the write of a call until `looksBeforeWrite` calls have searched, at most
  /// `longestWait`.
  private func waitForOtherSearches() {
    state.withLock { $0.looks += 1 }
    let end = ContinuousClock.now + Self.longestWait
    while state.withLock({ $0.looks < $0.settings.looksBeforeWrite }), .now < end {
      Thread.sleep(forTimeInterval: 0.001)
    }
  }

  /// The answer for a fault that prevents the call; nil for other faults.
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
    // Further parts of the path are left out: they name a document or an instant, or are an access token.
    let kept = parts.dropFirst(3).first == "history" || parts.dropFirst(2).first == "authorization" ? 4 : 3
    return "\(request.method) /" + parts.prefix(kept).joined(separator: "/")
  }
}
