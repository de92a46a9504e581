// SPDX-License-Identifier: Apache-2.0

import Foundation

/// One call of API v3 by a known caller.
struct NightscoutV3 {
  /// The result of a call before anything is written. No lock is held between the search and the write.
  enum Step {
    case answer(NightscoutAnswer)
    case write(Write, then: NightscoutAnswer)
  }

  enum Write {
    case insert(NightscoutDocument)
    /// Replaces the first document with this `identifier` or `_id` by a whole document.
    case replace(String, NightscoutDocument)
    /// Sets members of the first document with this `identifier` or `_id`.
    case set(String, NightscoutDocument)
    case remove(String)
  }

  /// The operation that a method and path request.
  enum Route: Equatable {
    case version, status, lastModified
    case search, create
    case history(after: String?)
    case read(String), replace(String), patch(String), delete(String)
  }

  static let apiVersion = "3.0.3-alpha"
  /// The earliest valid instant in milliseconds. Smaller numbers are read as seconds.
  static let firstInstant: Int64 = 946_684_800_000

  let call: NightscoutCall
  let route: Route
  let collection: String
  /// The path that answers contain, without the extension that requests a format.
  let path: String
  /// The content type that the extension of the path requests.
  private let askedType: String?
  let sent: DocumentValue?
  var caller = NightscoutAccess.Caller(name: nil, grants: [])

  /// Reads the body and the path, before the caller is identified.
  init(_ call: NightscoutCall, maxBodyBytes: Int) throws(NightscoutAnswer) {
    self.call = call
    sent = try NightscoutBody.v3(call, maxBytes: maxBodyBytes)
    var raw = call.rawSegments.dropFirst(2).joined(separator: "/")
    if let dot = raw.firstIndex(of: ".") {
      let name = raw[dot...].split(separator: "/").last?.split(separator: ".").last.map { $0.lowercased() }
      guard let type = Self.types[name ?? ""] else {
        throw .error(406, "Unsupported output format requested")
      }
      askedType = type
      raw = String(raw[..<dot])
    } else {
      askedType = nil
    }
    path = "/" + call.rawSegments.prefix(2).joined(separator: "/") + "/" + raw
    let segments = raw.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
    collection = (segments.first ?? "").lowercased()
    guard let route = Self.route(call.method, collection, Array(segments.dropFirst())) else {
      throw .badOperation
    }
    self.route = route
  }

  private static let types = [
    "json": "application/json", "csv": "text/csv", "xml": "application/xml", "txt": "text/plain",
    "html": "text/html", "png": "image/png", "svg": "image/svg+xml", "js": "application/javascript",
  ]

  private static func route(_ method: String, _ first: String, _ rest: [String]) -> Route? {
    if rest.isEmpty, method == "GET" {
      switch first {
      case "version": return .version
      case "status": return .status
      case "lastmodified": return .lastModified
      default: break
      }
    }
    guard NightscoutState.collectionNames.contains(first), rest.count <= 2 else { return nil }
    let isHistory = rest.first?.lowercased() == "history"
    switch (method, rest.count) {
    case ("GET", 0): return .search
    case ("POST", 0): return .create
    case ("GET", 1): return isHistory ? .history(after: nil) : .read(rest[0])
    case ("GET", 2): return isHistory ? .history(after: rest[1]) : nil
    case ("PUT", 1): return .replace(rest[0])
    case ("PATCH", 1): return .patch(rest[0])
    case ("DELETE", 1): return .delete(rest[0])
    default: return nil
    }
  }

  func step(_ state: NightscoutState) throws(NightscoutAnswer) -> Step {
    switch route {
    case .version: .answer(Self.version(state))
    case .status: .answer(status(state))
    case .lastModified: .answer(lastModified(state))
    case .search: .answer(try search(state))
    case .history(let after): .answer(try history(after, state))
    case .read(let identifier): .answer(try read(identifier, state))
    case .create: try create(state)
    case .replace(let identifier): try replace(identifier, state)
    case .patch(let identifier): try patch(identifier, state)
    case .delete(let identifier): try delete(identifier, state)
    }
  }

  /// Ends the call if the caller lacks a right.
  func require(_ operation: String) throws(NightscoutAnswer) {
    let right = "api:\(collection):\(operation)"
    guard caller.may(right) else { throw .error(403, "Missing permission \(right)") }
  }

  /// The result, in the requested format.
  func rendered(_ result: DocumentValue, _ headers: [String] = []) throws(NightscoutAnswer)
    -> NightscoutAnswer
  {
    let asked = askedType ?? call.headers["accept"] ?? "*/*"
    let isTaken = asked.split(separator: ",").contains { item in
      let type = item.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
      return ["*/*", "application/*", "application/json"].contains(type)
    }
    guard isTaken else { throw .error(406, "Unsupported output format requested") }
    return .done(200, ["result": result], headers: headers)
  }
}

extension NightscoutV3 {
  static func version(_ state: NightscoutState) -> NightscoutAnswer {
    .done(200, ["result": .object(versionFields(state))])
  }

  private static func versionFields(_ state: NightscoutState) -> NightscoutDocument {
    [
      "version": .string(NightscoutStandIn.version), "apiVersion": .string(apiVersion),
      "srvDate": DocumentValue(state.now), "storage": ["storage": "mongodb", "version": "4.4.0"],
    ]
  }

  /// The real site looks the rights up with a wrong name, so only rights to all collections are shown.
  private func status(_ state: NightscoutState) -> NightscoutAnswer {
    let letters = [("create", "c"), ("read", "r"), ("update", "u"), ("delete", "d")]
    let shown = letters.filter { caller.may("api:undefined:\($0.0)") }.map(\.1).joined()
    var permissions: NightscoutDocument = [:]
    for name in NightscoutState.collectionNames where !shown.isEmpty { permissions[name] = .string(shown) }
    var result = Self.versionFields(state)
    result["apiPermissions"] = .object(permissions)
    return .done(200, ["result": .object(result)])
  }

  /// The time of the last change or of the last event of each collection, whichever is later. An event in
  /// the future hides changes until its time.
  private func lastModified(_ state: NightscoutState) -> NightscoutAnswer {
    var latest: NightscoutDocument = [:]
    for name in NightscoutState.collectionNames where caller.may("api:\(name):read") {
      latest[name] = Self.latest(in: name, state).map { DocumentValue($0) }
    }
    return .done(200, ["result": ["srvDate": DocumentValue(state.now), "collections": .object(latest)]])
  }

  private static func latest(in name: String, _ state: NightscoutState) -> Int64? {
    let modified = state.collections[name]?.last("srvModified", at: state.now)?.whole
    // Texts are sorted after numbers, so the last value is the latest text, if there is one.
    let field = name == "entries" ? "date" : "created_at"
    let last = name == "settings" ? nil : state.collections[name]?.last(field, at: state.now)
    let event: Int64? =
      switch last {
      case .number?: last?.whole
      case .string(let text)?: NightscoutTime.parse(text)?.milliseconds
      default: nil
      }
    return [modified, event].compactMap { $0 }.max()
  }
}
