// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Nightscout
import Synchronization
import TestServers
import Testing

@testable import Remotes

/// A scripted Nightscout site. Each test defines the answers of its site.
final class NightscoutScript: Sendable {
  static let token = "anna-0123456789abcdef"
  static let jwt = "header.payload-planted.signature"
  /// The server's clock at the request for a token, in seconds.
  static let clock: Int64 = 1_778_100_000

  let server: ScriptedServer

  /// - Parameter answer: returns the status and the body for a method and path; nil for "not found".
  init(
    rights: String = "*:*:*", clock: Int64 = clock,
    _ answer: @escaping @Sendable (_ call: String, _ body: String) -> (Int, String)?
  ) throws {
    server = try ScriptedServer { request in
      if request.path.hasPrefix("/api/v2/authorization/request/") {
        guard request.path.hasSuffix("/\(Self.token)") else {
          return .status(401, Array("{\"status\":401}".utf8))
        }
        return .status(
          200,
          Array(
            "{\"token\":\"\(Self.jwt)\",\"sub\":\"anna\",\"permissionGroups\":[[\"\(rights)\"]],\"iat\":\(clock),\"exp\":\(clock + 28800)}"
              .utf8))
      }
      let call = "\(request.method) \(request.path.removingPercentEncoding ?? request.path)"
      let (status, body) =
        answer(call, String(decoding: request.body, as: UTF8.self)) ?? (404, "{\"status\":404}")
      return .status(status, Array(body.utf8), headers: ["Content-Type: application/json"])
    }
  }

  /// The requests so far, each as its method and path, without the one for the token.
  var calls: [String] {
    server.requests.map { "\($0.method) \($0.path.removingPercentEncoding ?? $0.path)" }.filter {
      !$0.contains("/authorization/")
    }
  }

  /// The bodies of the requests with this method, as JSON values.
  func bodies(_ method: String) throws -> [JSONValue] {
    try server.requests.filter { $0.method == method }.map { try JSONValue.read($0.body) }
  }

  /// The result of `body`, which gets a Nightscout remote for this site.
  func ask<Value: Sendable>(
    token: String = token, _ body: @Sendable (NightscoutRemote) async throws -> Value
  ) async throws -> Value {
    let login = RemoteLogin(
      address: try RemoteAddress(server.url, allowsPlainHTTP: false), token: try Login.token(token),
      agent: "glucoport/test")
    return try await RemoteExchange.with(login) {
      try await body(NightscoutRemote($0, token: login.token, zone: nil))
    }
  }

  /// An answer of API v3 with a list of documents.
  static func list(_ documents: [[String: JSONValue]]) -> (Int, String) {
    (200, "{\"status\":200,\"result\":\(JSONValue.list(documents.map(JSONValue.object)).json)}")
  }

  /// An answer of API v3 with one document.
  static func document(_ members: [String: JSONValue]) -> (Int, String) {
    (200, "{\"status\":200,\"result\":\(JSONValue.object(members).json)}")
  }

  /// An answer of API v3 with the latest time of change in each collection.
  static func latest(_ entries: Int64, _ treatments: Int64) -> (Int, String) {
    (
      200,
      "{\"status\":200,\"result\":{\"collections\":{\"entries\":\(entries),\"treatments\":\(treatments)}}}"
    )
  }
}

extension Sample {
  static let bolus = RecordState(
    kind: .insulin, entryGuid: nil, deviceTime: DeviceTime(seconds: 1_778_000_000),
    placement: Placement(utcOffset: 7200, source: .stated),
    fields: RecordFields([
      "units": .number(4.5), "subtype": .text("rapid"), "text": .text("a & b"), "tags": .words(["x", "y"]),
    ]), isDeleted: false, editedAt: 1_778_000_100)
}
