// SPDX-License-Identifier: Apache-2.0

import TestServers

/// A client of a site, with a new connection for each call.
struct Caller: Sendable {
  static let start: Int64 = 1_780_000_000_000

  let site: NightscoutStandIn
  let headers: [String]

  /// A site with a stopped clock, and a caller with all rights to entries and treatments.
  static func uploader(_ change: (inout NightscoutSettings) -> Void = { _ in }) throws -> Caller {
    let site = try site(change)
    return try Caller(site, rights: ["api:entries,treatments:create,read,update,delete"])
  }

  static func site(_ change: (inout NightscoutSettings) -> Void = { _ in }) throws -> NightscoutStandIn {
    var settings = NightscoutSettings()
    settings.penalty = .milliseconds(1)
    change(&settings)
    return try NightscoutStandIn(settings, frozenAt: start)
  }

  init(_ site: NightscoutStandIn, headers: [String]) {
    self.site = site
    self.headers = headers
  }

  /// A caller of API v3. The site gets a subject with these rights for it.
  init(_ site: NightscoutStandIn, rights: [String], name: String = "uploader") throws {
    let token = site.addSubject(name, rights: rights)
    let answer = try Caller(site, headers: []).get("/api/v2/authorization/request/\(token)")
    self.init(site, headers: ["Authorization: Bearer \(answer.json?["token"]?.text ?? "")"])
  }

  /// A caller of API v1 that sends the site's secret.
  init(secretOf site: NightscoutStandIn) { self.init(site, headers: ["api-secret: \(site.secretDigest)"]) }

  func get(_ path: String, _ more: [String] = []) throws -> Reply { try call("GET", path, more) }

  func delete(_ path: String, _ more: [String] = []) throws -> Reply { try call("DELETE", path, more) }

  func post(_ path: String, _ body: DocumentValue, _ more: [String] = []) throws -> Reply {
    try call("POST", path, more + ["Content-Type: application/json"], Array(body.json.utf8))
  }

  func put(_ path: String, _ body: DocumentValue, _ more: [String] = []) throws -> Reply {
    try call("PUT", path, more + ["Content-Type: application/json"], Array(body.json.utf8))
  }

  func patch(_ path: String, _ body: DocumentValue, _ more: [String] = []) throws -> Reply {
    try call("PATCH", path, more + ["Content-Type: application/json"], Array(body.json.utf8))
  }

  func call(_ method: String, _ path: String, _ more: [String] = [], _ body: [UInt8] = []) throws -> Reply {
    try RawConnection(port: site.port).send(method, path, headers + more, body)
  }
}

/// Documents with all fields that a careful client sends.
enum Draft {
  static func entry(_ identifier: String, at date: Int64 = Caller.start, _ more: NightscoutDocument = [:])
    -> DocumentValue
  {
    .object(
      common(identifier, date).merging(["type": "mbg", "mbg": 101]) { $1 }.merging(more) { $1 })
  }

  static func note(_ identifier: String, at date: Int64 = Caller.start, _ more: NightscoutDocument = [:])
    -> DocumentValue
  {
    .object(
      common(identifier, date).merging(["eventType": "Note", "notes": "first"]) { $1 }.merging(more) { $1 })
  }

  private static func common(_ identifier: String, _ date: Int64) -> NightscoutDocument {
    [
      "identifier": .string(identifier), "date": DocumentValue(date), "utcOffset": 60, "app": "a test",
      "device": "a meter",
    ]
  }
}
