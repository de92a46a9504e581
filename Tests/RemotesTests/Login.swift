// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import TestServers
import Testing

@testable import Remotes

/// Logins, run numbers and answers for the tests of this target.
enum Login {
  /// The token that clients send. Only one header of requests may contain it, never a message or a dump.
  static let secret = "gp_planted-Secret.0815"
  static let logbookID = "0b9f3c52-5a1e-4c83-9d5e-0f1f6f4a7c11"

  static func token(_ text: String = secret) throws -> Token {
    try Token(firstLineOf: Array(text.utf8), origin: "test")
  }

  static func to(_ url: String) throws -> RemoteLogin {
    RemoteLogin(
      address: try RemoteAddress(url, allowsPlainHTTP: false), token: try token(), agent: "glucoport/test")
  }

  static func run(logbook: String? = nil, position: String? = nil, node: Int = 1) -> RunStamp {
    RunStamp(
      node: "00000000-0000-4000-8000-00000000000\(node)", number: 3,
      id: "11111111-1111-4111-8111-11111111111\(node)", logbook: logbook, lastSeenPosition: position)
  }

  static let logbook = RemoteLogbook(
    id: logbookID, name: "Anna", isWritable: true, maxReadings: 10_000, maxRecords: 1000, position: "m1",
    time: 1_778_085_000)

  static var logbookBody: [UInt8] { WireCodec.write(logbook) }

  /// A size limit that small bodies exceed.
  static let small = ExchangeLimits(
    connect: .seconds(60), idle: .seconds(60), whole: .seconds(60), bodyBytes: 64 << 10)

  /// Limits that keep a test of timeouts short.
  static let short = ExchangeLimits(
    connect: .seconds(5), idle: .milliseconds(200), whole: .milliseconds(400), bodyBytes: 64 << 10)
}

/// The result of `body`, which gets a glucoport remote for a scripted server.
func ask<Value: Sendable>(
  _ server: ScriptedServer, _ limits: ExchangeLimits = ExchangeLimits(), prefix: String = "",
  _ body: @Sendable (GlucoportRemote) async throws -> Value
) async throws -> Value {
  let login = try Login.to(server.url + prefix)
  return try await RemoteExchange.with(login, limits: limits) {
    try await body(GlucoportRemote($0, token: login.token))
  }
}

/// The error of a glucoport remote that requests the logbook from a server with the scripted answer.
func problem(
  _ limits: ExchangeLimits = ExchangeLimits(), _ script: @escaping ScriptedServer.Script
) async throws -> ServiceError {
  let server = try ScriptedServer(script)
  return try #require(
    await #expect(throws: ServiceError.self) { try await ask(server, limits) { try await $0.logbook() } })
}

extension ServiceError {
  /// The message, if there is one.
  var sentence: String? {
    switch self {
    case .unavailable(let text), .busy(let text, _), .serverFailure(let text, _), .refused(let text),
      .loginRefused(let text), .protocolViolation(let text):
      text
    default: nil
    }
  }
}
