// SPDX-License-Identifier: Apache-2.0

extension NightscoutV1 {
  private static let numbers = [
    "glucose", "targetTop", "targetBottom", "carbs", "insulin", "duration", "percent", "absolute", "relative",
    "preBolus",
  ]
  private static let droppedWhenEmpty = [
    "targetTop", "targetBottom", "carbs", "insulin", "percent", "relative", "notes", "preBolus",
  ]

  func postTreatments(_ state: inout NightscoutState) throws(NightscoutAnswer) -> NightscoutAnswer {
    var answer: [NightscoutDocument] = []
    for (index, treatment) in (sent.array ?? [sent]).enumerated() {
      guard let treatment = treatment.object, let stored = Self.post(treatment, &state) else {
        throw Self.mongoError(index)
      }
      answer += stored
    }
    return .bare(.array(answer.map { .object($0) }))
  }

  func putTreatment(_ state: inout NightscoutState) -> NightscoutAnswer {
    guard let sent = sent.object, let stored = Self.putTreatment(sent, &state) else {
      return Self.mongoError(0)
    }
    return .bare(.object(stored))
  }

  /// Replaces the treatment with the same identifier, otherwise the same `_id`, otherwise the same time and
  /// type. If there is none, it adds one. A meal later than its bolus becomes a second document. Returns nil
  /// for a treatment that the database refuses.
  static func post(_ sent: NightscoutDocument, _ state: inout NightscoutState) -> [NightscoutDocument]? {
    guard isStorable(sent) else { return nil }
    var cleaned = sent
    if !JavaScriptNumber.isTruthy(sent["created_at"]) {
      cleaned["created_at"] = .string(NightscoutTime.iso(state.now))
    }
    return parts(of: cleaned.mapValues(HTMLText.cleaned), state).map { save($0, &state) }
  }

  /// Replaces the treatment with the same identifier, otherwise the same `_id`, otherwise the same time and
  /// type. The sent texts are not cleaned. A meal later than its bolus is dropped, without a second
  /// document.
  @discardableResult
  static func putTreatment(_ sent: NightscoutDocument, _ state: inout NightscoutState) -> NightscoutDocument?
  {
    var document = normalised(sent, state)
    if document["preBolus"] != nil { document["carbs"] = nil }
    return save(document, &state)
  }

  private static func parts(of sent: NightscoutDocument, _ state: NightscoutState) -> [NightscoutDocument] {
    var bolus = normalised(sent, state)
    guard let minutes = bolus["preBolus"]?.number, let carbs = bolus["carbs"],
      let time = bolus["created_at"]?.text.flatMap({ NightscoutTime.parse($0)?.milliseconds })
    else { return [bolus] }
    bolus["carbs"] = nil
    let later = NightscoutTime.iso(time + Int64(minutes * 60_000))
    var meal: NightscoutDocument = ["created_at": .string(later), "carbs": carbs]
    for field in ["eventType", "notes"] { meal[field] = bolus[field] }
    return [bolus, meal]
  }

  /// Replaces the first matching document, or adds one. Fields that were not sent are lost. The result has
  /// `_id` if it was sent, if the document is added, or if the identifier matched.
  private static func save(_ sent: NightscoutDocument, _ state: inout NightscoutState) -> NightscoutDocument {
    var document = sent
    var answer = sent
    if let existing = existing(by: sent, state) {
      document["_id"] = existing.document["_id"]
      if sent["_id"] != nil || JavaScriptNumber.isTruthy(sent["identifier"]) {
        answer["_id"] = document["_id"]
      }
      state.replace(existing.row, document, in: "treatments")
    } else {
      document["_id"] = sent["_id"] ?? state.objectID()
      answer = document
      state.insert(document, in: "treatments")
    }
    if answer["_id"] != nil {
      state.memory.update("treatments", [NightscoutMemory.processed(answer)], now: state.now)
    }
    state.memory.mark(state.now)
    return answer
  }

  private static func existing(
    by sent: NightscoutDocument, _ state: NightscoutState
  ) -> NightscoutCollection.Seen? {
    if let identifier = sent["identifier"], JavaScriptNumber.isTruthy(identifier) {
      return state.seen("treatments", "identifier", identifier).first
    }
    if let id = sent["_id"] { return state.seen("treatments", "_id", id).first }
    return state.seen("treatments", "created_at", sent["created_at"] ?? .null).first {
      $0.document["eventType"] ?? .null == sent["eventType"] ?? .null
    }
  }

  private static func normalised(_ sent: NightscoutDocument, _ state: NightscoutState) -> NightscoutDocument {
    var document = keyed(sent)
    if JavaScriptNumber.isTruthy(document["identifier"]) { document["_id"] = nil }
    let time = sent["created_at"]?.text.flatMap { NightscoutTime.parse($0) }
    let event = sent["eventTime"]?.text.flatMap { NightscoutTime.parse($0)?.milliseconds }
    document["created_at"] = .string(NightscoutTime.iso(event ?? time?.milliseconds ?? state.now))
    document["eventTime"] = nil
    let offset = time.map { $0.offset ?? 0 } ?? state.settings.serverOffsetMinutes
    document["utcOffset"] = DocumentValue(Int64(offset))
    for field in numbers {
      let number = JavaScriptNumber.of(document[field])
      document[field] = number.isNaN ? nil : .number(number)
    }
    for field in droppedWhenEmpty where !JavaScriptNumber.isTruthy(document[field]) { document[field] = nil }
    if !JavaScriptNumber.isTruthy(document["glucose"]) {
      for field in ["glucose", "glucoseType", "units"] { document[field] = nil }
    }
    if document["eventType"] == "Announcement" { document["isAnnouncement"] = true }
    return document
  }
}
