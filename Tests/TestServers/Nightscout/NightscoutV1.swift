// SPDX-License-Identifier: Apache-2.0

/// One call of API v1 by somebody, or by nobody.
struct NightscoutV1 {
  static let denied = NightscoutAnswer.v1(401, "Unauthorized", "Invalid/Missing")
  private static let fourDays: Int64 = 4 * 86_400_000

  let call: NightscoutCall
  let caller: NightscoutAccess.Caller

  static func body(_ call: NightscoutCall) throws(NightscoutAnswer) -> DocumentValue {
    do {
      return try DocumentValue(json: call.body)
    } catch {
      throw .v1(400, "Bad Request", .string("\(error)"))
    }
  }

  func answer(_ state: inout NightscoutState) throws(NightscoutAnswer) -> NightscoutAnswer {
    var path = Array(call.segments.dropFirst(2))
    if let last = path.last, last.hasSuffix(".json") { path[path.count - 1] = String(last.dropLast(5)) }
    let collection = path.first ?? ""
    if path == ["status"] { return try status(state) }
    guard ["entries", "treatments"].contains(collection), path.count <= 2 else { throw .error(404) }
    let id = path.count > 1 ? path[1] : nil
    switch (call.method, id) {
    case ("GET", _): return try read(collection, id, state)
    case ("POST", nil):
      try require(collection, "create")
      try require(collection, "read")
      return collection == "entries" ? try postEntries(&state) : try postTreatments(&state)
    case ("PUT", nil) where collection == "treatments": return try putTreatment(&state)
    case ("DELETE", _): return try delete(collection, id, &state)
    default: throw .error(404)
    }
  }

  func require(_ collection: String, _ operation: String) throws(NightscoutAnswer) {
    guard caller.may("api:\(collection):\(operation)") else { throw Self.denied }
  }

  private func status(_ state: NightscoutState) throws(NightscoutAnswer) -> NightscoutAnswer {
    try require("status", "read")
    return .bare([
      "status": "ok", "name": "nightscout", "version": .string(NightscoutStandIn.version),
      "serverTime": .string(NightscoutTime.iso(state.now)), "serverTimeEpoch": DocumentValue(state.now),
      "apiEnabled": true, "careportalEnabled": true, "settings": ["units": "mg/dl"],
    ])
  }

  private func read(
    _ collection: String, _ id: String?, _ state: NightscoutState
  ) throws(NightscoutAnswer) -> NightscoutAnswer {
    try require(collection, "read")
    var conditions = NightscoutFind.conditions(call)
    let isFound = !conditions.isEmpty
    if let id { conditions.append(NightscoutFind(field: Self.isObject(id) ? "_id" : "type", value: id)) }
    let usual = collection == "entries" ? 10 : isFound ? 1000 : 100
    let count = call.parameter("count").flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } ?? usual
    let found = matching(conditions, collection, state).map(\.document)
    let field = Self.timeField(collection)
    let page = found.sorted { NightscoutFilter.order($0[field], $1[field]) > 0 }.prefix(count)
    // Event times, so that a change to an old document is no change.
    let newest = page.compactMap(NightscoutShape.eventTime).max()
    let known = call.headers["if-modified-since"].flatMap { NightscoutTime.parse($0)?.milliseconds }
    if let known, let newest, known >= NightscoutTime.cut(newest) {
      return NightscoutAnswer(status: 304, body: nil)
    }
    var answer = NightscoutAnswer.bare(.array(page.map { .object($0) }))
    answer.headers = newest.map { ["Last-Modified: \(NightscoutTime.http($0))"] } ?? []
    return answer
  }

  /// For good, and everything that matches, however little was asked for.
  private func delete(
    _ collection: String, _ id: String?, _ state: inout NightscoutState
  ) throws(NightscoutAnswer) -> NightscoutAnswer {
    try require(collection, "delete")
    var conditions = NightscoutFind.conditions(call)
    if let id { conditions.append(NightscoutFind(field: "_id", value: id)) }
    let found = matching(conditions, collection, state)
    for seen in found { state.remove(seen.row, in: collection) }
    // The rows of the last four days are gone nevertheless.
    guard !conditions.isEmpty else { throw .v1(500, "Mongo Error", "no query") }
    let count = DocumentValue(Int64(found.count))
    return .bare(["n": count, "ok": 1, "deletedCount": count])
  }

  /// Without a condition on the time only the last four days are looked at.
  private func matching(
    _ conditions: [NightscoutFind], _ collection: String, _ state: NightscoutState
  ) -> [NightscoutCollection.Seen] {
    var conditions = conditions
    if !conditions.contains(where: { NightscoutFind.bounding.contains($0.field) }) {
      let start = state.now - Self.fourDays
      let text = collection == "entries" ? String(start) : NightscoutTime.iso(start)
      conditions.append(
        NightscoutFind(field: Self.timeField(collection), comparison: "$gte", value: text))
    }
    return state.seen(collection).filter { seen in conditions.allSatisfy { $0.takes(seen.document) } }
  }

  private static func timeField(_ collection: String) -> String {
    collection == "entries" ? "date" : "created_at"
  }

  private static func isObject(_ id: String) -> Bool { id.count == 24 && id.allSatisfy(\.isHexDigit) }
}
