// SPDX-License-Identifier: Apache-2.0

import Foundation

extension NightscoutV3 {
  func read(_ state: NightscoutState) throws(NightscoutAnswer) -> NightscoutAnswer {
    try require("read")
    guard let stored = stored(try plainIdentifier(), state) else { throw .error(404) }
    let shown = projected(NightscoutShape.shown(stored.document))
    guard shown["isValid"] != false else { throw .error(410) }
    // Without its field in the list the time of change is that of the event.
    let modified = shown["srvModified"]?.whole ?? NightscoutShape.eventTime(stored.document)
    let headers = modified.map { ["Last-Modified: \(NightscoutTime.http($0))"] } ?? []
    let known = call.headers["if-modified-since"].flatMap { NightscoutTime.parse($0)?.milliseconds }
    if let known, let modified, known >= NightscoutTime.cut(modified) {
      return NightscoutAnswer(status: 304, body: nil, headers: headers)
    }
    return .done(200, ["result": .object(shown)], headers: headers)
  }

  func search(_ state: NightscoutState) throws(NightscoutAnswer) -> NightscoutAnswer {
    try require(collection == "settings" ? "admin" : "read")
    let filters = try NightscoutFilter.filters(call)
    let limit = try limit(state)
    let skip = Int(call.parameter("skip") ?? "0") ?? -1
    guard skip >= 0 else { throw .error(400, "Parameter skip out of tolerance") }
    let found = state.seen(collection).map(\.document).filter { document in
      document["isValid"] != false && filters.allSatisfy { $0.takes(document) }
    }
    let page = try sorted(found).dropFirst(skip).prefix(limit)
    return .done(200, ["result": .array(page.map { .object(projected(NightscoutShape.shown($0))) })])
  }

  /// By the stored time of change alone: what v1 wrote has none and is never here, and equals come in any order.
  func history(_ state: NightscoutState) throws(NightscoutAnswer) -> NightscoutAnswer {
    try require(collection == "settings" ? "admin" : "read")
    let first = try firstOfHistory()
    let limit = try limit(state)
    let changed = state.seen(collection).map(\.document)
      .compactMap { document in document["srvModified"]?.whole.map { (time: $0, document: document) } }
      .filter { $0.time >= first }.sorted { $0.time < $1.time }.prefix(limit)
    let page = changed.map { projected(NightscoutShape.shown($0.document)) }
    let times = zip(page, changed).compactMap { shown, changed in
      shown["srvModified"]?.whole ?? NightscoutShape.eventTime(changed.document)
    }
    let headers = times.max().map {
      ["Last-Modified: \(NightscoutTime.http($0))", "ETag: W/\"\($0)\""]
    }
    return .done(200, ["result": .array(page.map { .object($0) })], headers: headers ?? [])
  }
}

extension NightscoutV3 {
  /// What stands behind a dot in the address is taken as the wanted format.
  private func plainIdentifier() throws(NightscoutAnswer) -> String {
    guard let dot = call.rawSegments[3].lastIndex(of: ".") else { return call.segments[3] }
    let raw = call.rawSegments[3]
    guard raw[dot...] == ".json" else { throw .error(406, "Unsupported output format requested") }
    return raw[..<dot].removingPercentEncoding ?? String(raw[..<dot])
  }

  /// The smallest time of change that a history shows.
  private func firstOfHistory() throws(NightscoutAnswer) -> Int64 {
    guard call.segments.count < 5 else {
      guard let after = Int64(call.segments[4]), after >= Self.firstInstant else {
        throw .error(400, "Bad or missing Last-Modified header/parameter")
      }
      return after + 1
    }
    guard let header = call.headers["last-modified"], let parsed = NightscoutTime.parse(header) else {
      throw .error(400, "Bad or missing Last-Modified header/parameter")
    }
    return NightscoutTime.cut(parsed.milliseconds)
  }

  private func limit(_ state: NightscoutState) throws(NightscoutAnswer) -> Int {
    guard let text = call.parameter("limit") else { return state.settings.mostDocuments }
    guard let limit = Int(text), (1...state.settings.mostDocuments).contains(limit) else {
      throw .error(400, "Parameter limit out of tolerance")
    }
    return limit
  }

  private func projected(_ document: NightscoutDocument) -> NightscoutDocument {
    guard let fields = call.parameter("fields"), fields != "_all" else { return document }
    let names = fields.split(separator: ",").map(String.init)
    return document.filter { names.contains($0.key) }
  }

  /// By the wanted field, then by what makes the order of a page certain.
  private func sorted(_ documents: [NightscoutDocument]) throws(NightscoutAnswer) -> [NightscoutDocument] {
    let up = call.parameter("sort")
    let down = call.parameter("sort$desc")
    guard up == nil || down == nil else {
      throw .error(400, "Parameters sort and sort_desc cannot be combined")
    }
    let fields = [up ?? down ?? "identifier", "identifier", "created_at", "date"]
    return documents.sorted { left, right in
      for (place, field) in fields.enumerated() {
        let order = NightscoutFilter.order(left[field], right[field])
        if order != 0 { return (order < 0) != (place == 0 && down != nil) }
      }
      return false
    }
  }
}
