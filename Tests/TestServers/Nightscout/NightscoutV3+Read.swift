// SPDX-License-Identifier: Apache-2.0

import Foundation

extension NightscoutV3 {
  func read(_ identifier: String, _ state: NightscoutState) throws(NightscoutAnswer) -> NightscoutAnswer {
    try require("read")
    guard let stored = state.named(identifier, in: collection) else { throw .error(404) }
    let found = projected(NightscoutShape.identified(stored.document))
    guard found["isValid"] != false else { throw .error(410) }
    let dated = NightscoutShape.dated(found, in: collection)
    let modified = dated["srvModified"]?.whole
    let headers = modified.map { ["Last-Modified: \(NightscoutTime.http($0))"] } ?? []
    let known = call.headers["if-modified-since"].flatMap { NightscoutTime.parse($0)?.milliseconds }
    if let known, let modified, NightscoutTime.cut(known) >= NightscoutTime.cut(modified) {
      return NightscoutAnswer(status: 304, body: nil, headers: headers)
    }
    return try rendered(.object(shown(dated)), headers)
  }

  func search(_ state: NightscoutState) throws(NightscoutAnswer) -> NightscoutAnswer {
    try require(collection == "settings" ? "admin" : "read")
    let conditions = try NightscoutFilter.conditions(call.query)
    let order = try order()
    let limit = try limit(state)
    let skip = try skip()
    let page = state.found(collection, conditions, order, skip: skip, limit: limit)
    return try rendered(.array(page.map { .object(presented($0)) }))
  }

  /// Lists documents by their stored time of change. Documents of API v1 have none and are never included.
  /// Documents with equal times have any order.
  func history(_ after: String?, _ state: NightscoutState) throws(NightscoutAnswer) -> NightscoutAnswer {
    try require(collection == "settings" ? "admin" : "read")
    let first = try firstOfHistory(after)
    let limit = try limit(state)
    guard let first else { return try rendered([]) }
    let changed = NightscoutCondition("srvModified", [.ordered("gte", DocumentValue(first))])
    let page = state.found(collection, [changed], NightscoutOrder(fields: ["srvModified"]), limit: limit)
    let found = page.map(dated)
    // If the requested fields lack `srvModified`, the time of the event is used instead.
    let headers = found.compactMap { $0["srvModified"]?.whole }.max().map {
      ["Last-Modified: \(NightscoutTime.http($0))", "ETag: W/\"\($0)\""]
    }
    return try rendered(.array(found.map { .object(shown($0)) }), headers ?? [])
  }
}

extension NightscoutV3 {
  /// The requested fields; nil for all.
  private var wanted: [String]? {
    guard let fields = call.parameter("fields"), fields != "_all" else { return nil }
    return fields.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
  }

  /// The fields from the database: the requested ones, and those that the server needs.
  private func projected(_ document: NightscoutDocument) -> NightscoutDocument {
    guard let wanted else { return document }
    let names = wanted + ["identifier", "srvCreated", "created_at", "date"]
    return document.filter { names.contains($0.key) }
  }

  private func shown(_ document: NightscoutDocument) -> NightscoutDocument {
    guard let wanted else { return document }
    return document.filter { wanted.contains($0.key) }
  }

  private func dated(_ stored: NightscoutDocument) -> NightscoutDocument {
    NightscoutShape.dated(projected(NightscoutShape.identified(stored)), in: collection)
  }

  private func presented(_ stored: NightscoutDocument) -> NightscoutDocument { shown(dated(stored)) }

  /// The earliest time of change that the history includes; nil if the header contains an invalid time.
  private func firstOfHistory(_ after: String?) throws(NightscoutAnswer) -> Int64? {
    let missing = NightscoutAnswer.error(400, "Bad or missing Last-Modified header/parameter")
    if let after {
      guard let time = NightscoutShape.instant(.string(after)) else { throw missing }
      return time.milliseconds + 1
    }
    guard let header = call.headers["last-modified"], !header.isEmpty else { throw missing }
    return NightscoutTime.parse(header).map { NightscoutTime.cut($0.milliseconds) }
  }

  private func limit(_ state: NightscoutState) throws(NightscoutAnswer) -> Int {
    guard let value = call.query["limit"], value != "" else { return state.settings.maxDocuments }
    let limit = JavaScriptNumber.of(value)
    guard limit > 0, limit <= Double(state.settings.maxDocuments) else {
      throw .error(400, "Parameter limit out of tolerance")
    }
    // The site truncates a limit below 1 to 0, which the database treats as unlimited.
    return limit < 1 ? .max : Int(limit)
  }

  private func skip() throws(NightscoutAnswer) -> Int {
    guard let value = call.query["skip"], value != "" else { return 0 }
    let skip = JavaScriptNumber.of(value)
    guard skip >= 0, skip < 1e15 else { throw .error(400, "Parameter skip out of tolerance") }
    return Int(skip)
  }

  /// Sorts by the requested field, then by fields that make the order of a page unambiguous, all in the same
  /// direction.
  private func order() throws(NightscoutAnswer) -> NightscoutOrder {
    let up = call.parameter("sort")
    let down = call.parameter("sort$desc")
    guard up == nil || down == nil else {
      throw .error(400, "Parameters sort and sort_desc cannot be combined")
    }
    let fields = [up ?? down].compactMap { $0 } + ["identifier", "created_at", "date"]
    return NightscoutOrder(fields: fields, isDescending: down != nil)
  }
}
