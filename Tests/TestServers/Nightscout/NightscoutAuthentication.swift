// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Identifies the caller of a request. Each version of the API accepts different credentials.
extension NightscoutSite {
  /// The result of a check of credentials.
  fileprivate enum Outcome {
    case caller(NightscoutAccess.Caller)
    case removed
    case unknown
  }

  /// Identifies a caller of API v3, which accepts only tokens. A removed subject is recognised, but has no
  /// rights.
  func bearer(_ call: NightscoutCall) throws(NightscoutAnswer) -> NightscoutAccess.Caller {
    let words = Self.authorization(call)
    guard words.count == 2, words[0].lowercased() == "bearer" else {
      throw .error(401, "Missing or bad access token or JWT")
    }
    wait(call)
    switch settle(call, { $0.access.outcome(session: words[1], at: $0.now) }) {
    case .caller(let caller): return caller
    case .removed: return NightscoutAccess.Caller(name: nil, grants: [])
    case .unknown: throw .error(401, "Bad access token or JWT")
    }
  }

  /// Identifies a caller of API v1, which accepts the secret, tokens and access tokens. A caller without
  /// credentials has the rights of everyone. The token of a removed subject ends the server's process.
  func anybody(_ call: NightscoutCall) throws(NightscoutAnswer) -> NightscoutAccess.Caller {
    let secret = call.parameter("secret") ?? call.headers["api-secret"]
    let session = state.withLock { Self.session(call, $0) }
    wait(call)
    guard secret != nil || session != nil else { return state.withLock { $0.access.nobody } }
    let outcome = settle(call) { state in
      if let secret, let caller = state.access.caller(secretDigest: secret) { return .caller(caller) }
      if let session {
        let outcome = session.outcome ?? state.access.outcome(session: session.token, at: state.now)
        if case .unknown = outcome {} else { return outcome }
      }
      return secret.flatMap { state.access.caller(accessToken: $0) }.map(Outcome.caller) ?? .unknown
    }
    switch outcome {
    case .caller(let caller): return caller
    case .removed:
      state.withLock { $0.isDown = true }
      throw NightscoutAnswer(status: 0, body: nil)
    case .unknown: throw .unauthorized
    }
  }

  /// The token of a call of API v1. It follows the word `Bearer`, with a capital letter. Without this word,
  /// it is the parameter `token` of the address: an access token or a valid token of a session.
  private static func session(
    _ call: NightscoutCall, _ state: NightscoutState
  ) -> (token: String, outcome: Outcome?)? {
    let words = authorization(call)
    if words.count == 2, words[0] == "Bearer" { return (words[1], nil) }
    guard let accessToken = call.parameter("token") else { return nil }
    if let caller = state.access.caller(accessToken: accessToken) { return (accessToken, .caller(caller)) }
    guard case .caller(let caller)? = state.access.bearer(session: accessToken, at: state.now) else {
      return nil
    }
    return (accessToken, .caller(caller))
  }

  private static func authorization(_ call: NightscoutCall) -> [String] {
    call.headers["authorization"]?.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
      ?? []
  }

  /// Waits as long as earlier wrong credentials delay the caller's address.
  private func wait(_ call: NightscoutCall) {
    let wait = state.withLock { $0.penalty.wait(call.client, at: .now) }
    if let wait { Thread.sleep(forTimeInterval: wait / .seconds(1)) }
  }

  private func settle(
    _ call: NightscoutCall, _ look: (NightscoutState) -> Outcome
  ) -> Outcome {
    state.withLock { state in
      let outcome = look(state)
      if case .unknown = outcome {
        state.penalty.failed(call.client, penalty: state.settings.penalty, at: .now)
      } else {
        state.penalty.succeeded(call.client)
      }
      return outcome
    }
  }
}

extension NightscoutAccess {
  fileprivate func outcome(session token: String, at now: Int64) -> NightscoutSite.Outcome {
    switch bearer(session: token, at: now) {
    case .caller(let caller): .caller(caller)
    case .removed: .removed
    case nil: .unknown
    }
  }
}
