// SPDX-License-Identifier: Apache-2.0

/// The lists that API v1 returns. Some come from the running site's memory, some from the database.
extension NightscoutV1 {
  private static let usualEntries = 10
  private static let usualTreatments = 100
  private static let usualFoundTreatments = 1000

  private func count(_ usual: Int) -> Int {
    call.parameter("count").flatMap(JavaScriptNumber.leadingInteger).map { Int($0) } ?? usual
  }

  private func page(
    _ find: NightscoutFind, _ collection: String, _ field: String, _ count: Int, _ state: NightscoutState
  ) -> [NightscoutDocument] {
    let order = NightscoutOrder(fields: [field], isDescending: true)
    return state.found(collection, find.conditions, order, limit: count > 0 ? count : .max)
  }
}

// MARK: Entries

extension NightscoutV1 {
  func readEntries(_ spec: String?, _ state: NightscoutState) throws(NightscoutAnswer) -> NightscoutAnswer {
    let newest = spec == nil ? state.memory.loaded.readings.last?["mills"]?.whole : nil
    if let newest, let known = knownSince, newest <= known { return unmodified(newest) }
    let entries = try entries(spec, state).enumerated().sorted { left, right in
      let (one, other) = (Self.time(left.element), Self.time(right.element))
      return one == other ? left.offset < right.offset : one > other
    }.map(\.element)
    let time = entries.first.map { Int64(Self.time($0)) } ?? newest
    if let first = entries.first.map({ Int64(Self.time($0)) }), let known = knownSince, first <= known {
      return unmodified(first)
    }
    var answer = NightscoutAnswer(status: 200, content: content(entries))
    answer.headers = time.map { ["Last-Modified: \(NightscoutTime.http($0))"] } ?? []
    return answer
  }

  private func entries(_ spec: String?, _ state: NightscoutState) throws(NightscoutAnswer)
    -> [NightscoutDocument]
  {
    if let spec, NightscoutState.isKey(spec) {
      guard let found = state.seen("entries", "_id", .id(spec.lowercased())).first else {
        throw .v1(500, "Mongo Error", .string("No such id: '\(spec)'"))
      }
      return [found.document]
    }
    if spec?.lowercased() == "current" {
      return page(try find([:], "entries", state), "entries", "date", 1, state)
    }
    var sent = call.query["find"]?.object ?? [:]
    if let spec { sent["type"] = .string(spec) }
    let count = count(Self.usualEntries)
    let remembered = Self.remembered(sent["type"]?["$eq"] ?? sent["type"], state)
    if sent.keys.allSatisfy({ $0 == "type" }), count <= remembered.count {
      return remembered.prefix(count).map { entry in
        var entry = entry
        if !JavaScriptNumber.isTruthy(entry["mills"]) { entry["mills"] = entry["date"] }
        return entry
      }
    }
    return page(try find(sent, "entries", state), "entries", "date", count, state)
  }

  /// The entries in memory of this type; all entries for nil.
  private static func remembered(_ type: DocumentValue?, _ state: NightscoutState) -> [NightscoutDocument] {
    let entries = state.memory.items["entries"] ?? []
    switch type?.text {
    case nil: return entries
    case "sgv"?, "mbg"?: return entries.filter { $0[type?.text ?? ""] != nil }
    case "cal"?: return entries.filter { $0["type"] == "cal" }
    default: return []
    }
  }

  private static func time(_ entry: NightscoutDocument) -> Double {
    let time = JavaScriptNumber.of(JavaScriptNumber.isTruthy(entry["mills"]) ? entry["mills"] : entry["date"])
    return time.isNaN ? 0 : time
  }

  /// The entries as JSON if the path or the header `Accept` requests it, otherwise as a table.
  private func content(_ entries: [NightscoutDocument]) -> NightscoutAnswer.Content {
    let accept = call.headers["accept"] ?? "*/*"
    let isTable = ["*/*", "text/plain", "text/*", "text/tab-separated-values"].contains {
      accept.hasPrefix($0)
    }
    if asksForJSON || !isTable { return .json(.array(entries.map { .object($0) })) }
    let lines = entries.map { entry in
      ["dateString", "date", "sgv", "direction", "device"].map { entry[$0]?.json ?? "" }.joined(
        separator: "\t")
    }
    return .table(lines.joined(separator: "\r\n"))
  }

  private var knownSince: Int64? {
    call.headers["if-modified-since"].flatMap { NightscoutTime.parse($0)?.milliseconds }
  }

  private func unmodified(_ time: Int64) -> NightscoutAnswer {
    // The ETag belongs to a text which the server computes but does not send.
    let text: DocumentValue = ["status": 304, "message": "Not modified", "type": "internal"]
    let tag = NightscoutAnswer.bare(text).tagged(for: call).headers
    return NightscoutAnswer(
      status: 304, body: nil, headers: ["Last-Modified: \(NightscoutTime.http(time))"] + tag)
  }
}

// MARK: Treatments

extension NightscoutV1 {
  func readTreatments(_ state: NightscoutState) throws(NightscoutAnswer) -> NightscoutAnswer {
    let sent = call.query["find"]?.object
    let count = count(sent == nil ? Self.usualTreatments : Self.usualFoundTreatments)
    let isPlain = call.query.names.allSatisfy { $0 == "count" }
    let remembered = state.memory.items["treatments"] ?? []
    let treatments: [NightscoutDocument]
    if isPlain, remembered.count >= count {
      treatments = Array(remembered.prefix(count))
    } else {
      // The site answers a query with an invalid time with `null`.
      guard let find = try? NightscoutFind(sent ?? [:], in: "treatments", at: state.now) else {
        return .bare(.null)
      }
      treatments = page(find, "treatments", "created_at", count, state)
    }
    let newest = treatments.compactMap {
      $0["created_at"]?.text.flatMap { NightscoutTime.parse($0)?.milliseconds }
    }
    .max()
    if let newest, let known = knownSince, newest <= known { return unmodified(newest) }
    var answer = NightscoutAnswer.bare(.array(treatments.map { .object(Self.shown($0)) }))
    answer.headers = newest.map { ["Last-Modified: \(NightscoutTime.http($0))"] } ?? []
    return answer
  }

  /// Shows amounts as numbers, or as null if there are none.
  private static func shown(_ treatment: NightscoutDocument) -> NightscoutDocument {
    var shown = treatment
    for field in ["carbs", "insulin"] {
      let number = JavaScriptNumber.of(treatment[field])
      shown[field] = number.isNaN ? .null : .number(number)
    }
    return shown
  }
}
