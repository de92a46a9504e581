// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestServers

/// A simulated site with the roles of the recorded site. It also replaces the texts in braces in exchanges.
final class ExchangeSite {
  private static let roles: [String: [String]] = [
    "full": ["create", "read", "update", "delete"].map { "api:*:\($0)" },
    "client": ["api:entries:create,read,update", "api:treatments:create,read,update,delete"],
    "createonly": ["api:entries:create", "api:treatments:create"],
    "noupdate": ["api:entries:create,read", "api:treatments:create,read"],
    "nodelete": ["api:entries:create,read,update", "api:treatments:create,read,update"],
    "updateonly": ["api:treatments:update,read"], "spaced": ["api:entries:create, read, update"],
    "separate": ["api:entries:create", "api:entries:read"],
    "onestring": ["api:entries:create api:entries:read"],
  ]
  private static let builtIn = ["readable", "careportal", "admin", "denied"]
  static let penalty: Duration = .seconds(1)

  let site: NightscoutStandIn
  private var tokens: [String: String] = [:]
  private var sessions: [String: String] = [:]
  private var secret: String
  /// The database keys of this site, by the number of the key in the recording.
  private var keys: [String: String] = [:]
  private var tag = ""

  /// - Parameter time: the time of the site's clock when its server starts, in milliseconds.
  init(at time: Int64, _ change: (inout NightscoutSettings) -> Void = { _ in }) throws {
    var settings = NightscoutSettings()
    settings.defaultRoles = ["denied"]
    settings.penalty = Self.penalty
    settings.packsAnswers = true
    change(&settings)
    secret = settings.secret
    site = try NightscoutStandIn(settings, frozenAt: time)
    for (name, rights) in Self.roles { site.setRole(name, rights) }
    site.setRole("split", typed: "api:entries:create, read, update")
    for name in Array(Self.roles.keys) + Self.builtIn + ["split", "stranger"] {
      tokens[name] = site.addSubject(name, roles: [name])
      sessions[name] = try session(tokens[name] ?? "")
    }
    site.removeSubject("stranger")
    site.moveClock(by: -9 * 3_600_000)
    sessions["expired"] = try session(tokens["full"] ?? "")
    site.moveClock(by: 9 * 3_600_000)
    sessions["broken"] = (sessions["full"] ?? "") + "x"
  }

  private func session(_ token: String) throws -> String? {
    let path = "/api/v2/authorization/request/\(token)"
    return try RawConnection(port: site.port).send("GET", path, [], []).json?["token"]?.text
  }

  /// Sends these requests without waiting for answers in between. The site's clock shows the time of each
  /// exchange.
  func send(_ exchanges: [Exchange]) throws -> [(reply: Reply, isLate: Bool)] {
    site.change { $0.looksBeforeWrite = exchanges.count }
    let start = ContinuousClock.now
    let connections = try exchanges.map { exchange in
      let connection = try RawConnection(port: site.port)
      try self.start(exchange, over: connection)
      return connection
    }
    return try zip(exchanges, connections).map { exchange, connection in
      let reply = try connection.receive(hasBody: exchange.method != "HEAD")
      if let tag = reply.headers["etag"] { self.tag = tag }
      return (reply, ContinuousClock.now - start > Self.penalty / 2)
    }
  }

  private func start(_ exchange: Exchange, over connection: RawConnection) throws {
    site.freezeClock(at: exchange.time)
    if let name = exchange.removed { site.removeSubject(name) }
    var headers = exchange.headers.map { "\($0.key): \(filled($0.value))" }
    switch exchange.role {
    case nil: break
    case "secret"?: headers.append("api-secret: \(site.secretDigest)")
    case let role?: headers.append("Authorization: Bearer \(sessions[role] ?? "")")
    }
    // Only a short text body contains texts in braces that must be replaced.
    let isText = exchange.body.count < 1 << 20 && String(validating: exchange.body, as: UTF8.self) != nil
    let body = isText ? Array(filled(String(decoding: exchange.body, as: UTF8.self)).utf8) : exchange.body
    try connection.start(exchange.method, filled(exchange.path), headers, body)
  }

  private func filled(_ text: String) -> String {
    var (rest, filled) = (text[...], "")
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
      let name = String(rest[rest.index(after: open)..<close])
      guard let value = value(of: name) else {
        filled += rest[...open]
        rest = rest[rest.index(after: open)...]
        continue
      }
      filled += rest[..<open] + value
      rest = rest[rest.index(after: close)...]
    }
    return filled + rest
  }

  private func value(of name: String) -> String? {
    let words = name.split(separator: " ").map(String.init)
    switch (words.first, words.count) {
    case ("jwt"?, 2): return sessions[words[1]]
    case ("token"?, 2): return tokens[words[1]]
    case ("digits"?, 2): return tokens[words[1]]?.split(separator: "-").last.map(String.init)
    case ("id"?, 2): return keys[words[1]]
    case ("sha1"?, 1): return site.secretDigest
    case ("SHA1"?, 1): return site.secretDigest.uppercased()
    case ("sha512"?, 1): return NightscoutDigest.sha512(secret)
    case ("secret"?, 1): return secret
    case ("tag"?, 1): return tag
    default: return nil
    }
  }
}

// MARK: Comparison

extension ExchangeSite {
  /// The differences of an answer from the recorded one.
  func differences(_ reply: Reply, _ isLate: Bool, from exchange: Exchange) -> [String] {
    var found: [String] = []
    if reply.status != exchange.status { found.append("status \(reply.status) for \(exchange.status)") }
    // A busy machine also answers late. So a delay is compared only if it is expected or the request names an
    // address.
    let isMeasured = exchange.isLate || exchange.headers["X-Forwarded-For"] != nil
    if isMeasured, isLate != exchange.isLate { found.append(isLate ? "late" : "not late") }
    for name in ["last-modified", "location", "etag", "content-encoding", "content-type"] {
      // If only some members are recorded, the ETag of the complete answer cannot be compared.
      if name == "etag", exchange.part != nil { continue }
      let (given, wanted) = (reply.headers[name], header(name, exchange))
      let isEqual = wanted == "{tag}" ? given?.hasPrefix("W/\"") ?? false : given == wanted
      if !isEqual { found.append("\(name) \(given ?? "none") for \(wanted ?? "none")") }
    }
    var given = reply.json
    if case .array(let items)? = given?["result"] ?? given, let count = exchange.count {
      if items.count != count { found.append("\(items.count) items for \(count)") }
      let wanted = (exchange.answer?["result"] ?? exchange.answer)?.array ?? []
      let first = DocumentValue.array(Array(items.prefix(wanted.count)))
      given =
        given?["result"] == nil ? first : .object((given?.object ?? [:]).merging(["result": first]) { $1 })
    }
    if reply.headers["content-encoding"] != nil { return found }
    if let answer = exchange.answer {
      let shown = reply.json == nil ? DocumentValue.string(reply.text) : given
      found += differences(shown, answer, isWhole: true, exchange.time, at: "")
    }
    if exchange.path.contains("/ddata/"), let all = given?["treatments"]?.array {
      given = ["treatments": .array(all.filter { $0["eventType"] == "Meal Bolus" })]
    }
    if let part = exchange.part { found += differences(given, part, isWhole: false, exchange.time, at: "") }
    return found
  }

  private func header(_ name: String, _ exchange: Exchange) -> String? {
    if let given = exchange.answerHeaders[name] { return given }
    let isJSON = name == "content-type" && exchange.status != 0 && exchange.status != 304
    return isJSON ? "application/json; charset=utf-8" : nil
  }

  private func differences(
    _ given: DocumentValue?, _ wanted: DocumentValue, isWhole: Bool, _ time: Int64, at path: String
  ) -> [String] {
    switch (given, wanted) {
    case (.object(let object)?, .object(let members)):
      let names = isWhole ? Set(object.keys).union(members.keys).sorted() : members.keys.sorted()
      return names.flatMap { name in
        guard let member = members[name] else {
          return ["\(path).\(name) \(object[name]?.json ?? "") for none"]
        }
        return differences(object[name], member, isWhole: isWhole, time, at: "\(path).\(name)")
      }
    case (.array(let items)?, .array(let members)):
      guard items.count == members.count else { return ["\(path) \(items.count) items for \(members.count)"] }
      return zip(items, members).enumerated().flatMap { place, pair in
        differences(pair.0, pair.1, isWhole: isWhole, time, at: "\(path).\(place)")
      }
    case (_, .string(let text)) where text.hasPrefix("{") && text.hasSuffix("}"):
      return isEqual(given, text, time) ? [] : ["\(path) \(given?.json ?? "none") for \(text)"]
    case (nil, .null) where !isWhole: return []
    default: return given == wanted ? [] : ["\(path) \(given?.json ?? "none") for \(wanted.json)"]
    }
  }

  /// Whether a value matches the text in braces.
  private func isEqual(_ given: DocumentValue?, _ text: String, _ time: Int64) -> Bool {
    let words = text.dropFirst().dropLast().split(separator: " ").map(String.init)
    switch words.first {
    case "any": return given != nil
    case "now": return given?.whole == time / 1000
    case "later": return given?.whole == time / 1000 + 8 * 3600
    case "about":
      guard let number = given?.number, let wanted = words.last.flatMap(Double.init) else { return false }
      return abs(number - wanted) <= 0.0501
    case "id":
      guard let key = given?.text, let name = words.last, NightscoutDigest.isKey(key) else { return false }
      if let known = keys[name] { return known == key }
      if keys.values.contains(key) { return false }
      keys[name] = key
      return true
    default: return given?.text == text
    }
  }
}
