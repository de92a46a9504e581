// SPDX-License-Identifier: Apache-2.0

extension NightscoutV1 {
  private static let numbers = [
    "carbs", "insulin", "glucose", "duration", "percent", "absolute", "relative", "preBolus", "targetTop",
    "targetBottom",
  ]
  private static let droppedWhenEmpty = ["carbs", "insulin", "notes", "percent", "preBolus"]

  func postTreatments(_ state: inout NightscoutState) throws(NightscoutAnswer) -> NightscoutAnswer {
    let sent = try Self.body(call)
    var answer: [DocumentValue] = []
    for (index, treatment) in (sent.array ?? [sent]).enumerated() {
      guard let treatment = treatment.object, !treatment.keys.contains(where: { $0.hasPrefix("$") }) else {
        throw Self.mongoError(index)
      }
      answer += Self.post(treatment, &state).map { .object($0) }
    }
    return .bare(.array(answer))
  }

  func putTreatment(_ state: inout NightscoutState) throws(NightscoutAnswer) -> NightscoutAnswer {
    try require("treatments", "update")
    guard let sent = try Self.body(call).object else { throw .v1(400, "Bad Request", "no object") }
    return .bare(.object(Self.putTreatment(sent, &state)))
  }

  /// Replaces the treatment of the same identifier, else `_id`, else time and kind, or adds one; two documents where
  /// the meal comes later than the bolus.
  static func post(_ sent: NightscoutDocument, _ state: inout NightscoutState) -> [NightscoutDocument] {
    parts(of: sent, state).map { document in
      let key = ["identifier", "_id"].first { document[$0] != nil }
      return save(document, meeting: key.map { [$0] } ?? ["created_at", "eventType"], &state)
    }
  }

  /// Replaces the treatment of the same identifier, else `_id`, else time.
  @discardableResult
  static func putTreatment(_ sent: NightscoutDocument, _ state: inout NightscoutState) -> NightscoutDocument {
    let document = normalised(sent, state)
    let key = ["identifier", "_id"].first { document[$0] != nil } ?? "created_at"
    return save(document, meeting: [key], &state)
  }

  private static func parts(of sent: NightscoutDocument, _ state: NightscoutState) -> [NightscoutDocument] {
    var bolus = normalised(sent, state)
    guard let minutes = bolus["preBolus"]?.number, let carbs = bolus["carbs"],
      let time = NightscoutShape.eventTime(["created_at": bolus["created_at"] ?? .null])
    else { return [bolus] }
    bolus["carbs"] = nil
    let later = NightscoutTime.iso(time + Int64(minutes * 60_000))
    var meal: NightscoutDocument = ["created_at": .string(later), "carbs": carbs]
    for field in ["eventType", "notes", "utcOffset"] { meal[field] = bolus[field] }
    return [bolus, meal]
  }

  /// Replaces the first document that agrees in all keys, or adds one. All that was not sent is lost.
  private static func save(
    _ document: NightscoutDocument, meeting keys: [String], _ state: inout NightscoutState
  ) -> NightscoutDocument {
    var document = document
    let met = state.seen("treatments", keys[0], document[keys[0]] ?? .null).first { seen in
      keys.allSatisfy { seen.document[$0] == document[$0] }
    }
    guard let met else {
      document["_id"] = document["_id"] ?? state.objectID()
      state.insert(document, in: "treatments")
      return document
    }
    document["_id"] = met.document["_id"]
    state.replace(met.row, document, in: "treatments")
    return document
  }

  private static func normalised(
    _ sent: NightscoutDocument, _ state: NightscoutState
  ) -> NightscoutDocument {
    var document = sent.mapValues(sanitised)
    let time = sent["created_at"]?.text.flatMap { NightscoutTime.parse($0) }
    document["created_at"] = .string(NightscoutTime.iso(time?.milliseconds ?? state.now))
    let offset = time.map { $0.offset ?? 0 } ?? state.settings.serverOffsetMinutes
    document["utcOffset"] = DocumentValue(Int64(offset))
    for field in numbers {
      guard let text = document[field]?.text else { continue }
      document[field] = Double(text).map(DocumentValue.number)
    }
    for field in droppedWhenEmpty where isEmpty(document[field]) { document[field] = nil }
    if isEmpty(document["glucose"]) {
      for field in ["glucose", "glucoseType", "units"] { document[field] = nil }
    }
    return document
  }

  private static func isEmpty(_ value: DocumentValue?) -> Bool {
    value.map { $0 == .null || $0 == "" || $0 == 0 || $0 == false } ?? true
  }

  /// As a browser writes the text of a page: what is escaped stays so, the rest becomes so.
  private static func sanitised(_ value: DocumentValue) -> DocumentValue {
    guard case .string(let text) = value else { return value }
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")]
    let plain = entities.reduce(text) { $0.replacing($1.0, with: $1.1) }
    return .string(entities.reversed().reduce(plain) { $0.replacing($1.1, with: $1.0) })
  }
}
