// SPDX-License-Identifier: Apache-2.0

import Logbook
import NIOHTTP1
import Nightscout

/// Changes members of a treatment. A running site computes active insulin and carbohydrates from data in its
/// memory, which each write also changes. So whether a dose still counts on the site depends on which members
/// a write contains.
extension NightscoutRemote {
  /// The result of writing changed members of a document.
  enum Written {
    case done
    /// Another program changed the document after it was read.
    case changed
    case refused(String)
  }

  /// Changes members of a document. If another program changed it after it was read, nothing is written.
  ///
  /// After a patch by API v3, the memory of a site contains exactly the members of the patch. If `mills` is
  /// missing, the dose stops counting until the site restarts. A document of API v1 has no identifier, so
  /// that two patches would add it to the memory twice. So such a document is replaced as a whole.
  func patch(
    _ document: NightscoutDocument, _ members: [String: JSONValue], _ writer: NightscoutWriter
  ) async throws(ServiceError) -> Written {
    switch try await stored(document) {
    case .gone: return .changed
    case .unkeyed(let raw): return try await replace(document, raw, members)
    case .keyed: break
    }
    var members = members.merging(Self.instant(of: document)) { own, _ in own }
    var headers: HTTPHeaders = [:]
    // The header `If-Unmodified-Since` prevents that a delayed request overwrites later writes. It has a
    // precision of seconds. For a document without `srvModified`, the server compares it with the event's
    // time.
    if let shown = document["srvModified"]?.integer, NightscoutTime.isPossible(shown) {
      headers.add(name: "If-Unmodified-Since", value: NightscoutTime.headerText(shown))
    }
    // The server compares `srvModified` in the body exactly, since no request may change this member.
    if let modified = document.modified { members["srvModified"] = .number(Double(modified)) }
    let path = NightscoutDocument.escaped(document.identifier)
    let answer = try await session.send(
      .PATCH, Self.path(.treatments, "/\(path)"), body: .object(members), headers: headers)
    switch NightscoutAnswer.status(answer) {
    case 200: return .done
    case 404, 412: return .changed
    case 410:
      try await removeDeletedDouble(document.identifier, writer)
      return .changed
    case 400, 422:
      let words = await session.message(in: answer)
      return words.contains("srvModified") ? .changed : .refused(words)
    default: throw await session.serviceError(for: answer, isWrite: true)
    }
  }

  /// Empties the members of a document that have an effect or that people read.
  func clear(_ document: NightscoutDocument) async throws(ServiceError) {
    let cleared = NightscoutTreatment.cleared(document)
    guard !cleared.isEmpty else { return }
    switch try await stored(document) {
    case .gone: return
    case .unkeyed(let raw):
      // The members must be emptied, whatever another program changed in the meantime.
      if case .refused(let reason) = try await put(raw, cleared) { throw .refused("\(hostName): \(reason)") }
    case .keyed:
      let path = NightscoutDocument.escaped(document.identifier)
      let answer = try await session.send(.PATCH, Self.path(.treatments, "/\(path)"), body: .object(cleared))
      switch NightscoutAnswer.status(answer) {
      case 200, 404, 410: return
      default: throw await session.serviceError(for: answer, isWrite: true)
      }
    }
  }

  /// The instant of a document as the member `mills`, which the memory of a site needs.
  static func instant(of document: NightscoutDocument) -> [String: JSONValue] {
    document.treatmentInstant.map { ["mills": .number(Double($0.milliseconds))] } ?? [:]
  }
}

// MARK: - Documents of API v1

extension NightscoutRemote {
  private static let treatmentsPath = "/api/v1/treatments"

  /// The ways in which a document can be stored in the database.
  private enum Stored {
    /// The document has an identifier, which API v3 and the memory of a site use.
    case keyed
    /// The document has only the database's key. The value is the document as API v1 returns it.
    case unkeyed(NightscoutRawTreatment)
    case gone
  }

  private func stored(_ document: NightscoutDocument) async throws(ServiceError) -> Stored {
    guard NightscoutRawTreatment.isKey(document.identifier) else { return .keyed }
    switch try await raw(document.identifier) {
    case nil: return .gone
    case let raw?: return raw.hasIdentifier ? .keyed : .unkeyed(raw)
    }
  }

  /// The treatment with this key of the database, as API v1 returns it; nil if there is none.
  private func raw(_ key: String) async throws(ServiceError) -> NightscoutRawTreatment? {
    let answer = try await session.send(.GET, "\(Self.treatmentsPath).json?find%5B_id%5D=\(key)&count=2")
    guard answer.status == 200, let items = NightscoutAnswer.value(answer)?.items else {
      throw await session.serviceError(for: answer)
    }
    return items.lazy.compactMap(NightscoutRawTreatment.init).first { $0.key == key }
  }

  /// Replaces a document of API v1, which was read again as `raw`. If `raw` differs from the document on
  /// which the change is based, nothing is written.
  private func replace(
    _ document: NightscoutDocument, _ raw: NightscoutRawTreatment, _ members: [String: JSONValue]
  ) async throws(ServiceError) -> Written {
    guard raw.isState(of: document) else { return .changed }
    return try await put(raw, members)
  }

  /// Writes the whole document under its key, and reads it back. The request has no precondition. So writes
  /// and deletions by other programs after the document was read are overwritten.
  private func put(
    _ raw: NightscoutRawTreatment, _ members: [String: JSONValue]
  ) async throws(ServiceError) -> Written {
    if try await session.rights()?.missing.contains(Self.updateRight) == true {
      return .refused("the role of the access token lacks \(Self.updateRight); add it to the role")
    }
    if let refusal = raw.refusal(of: members) { return .refused(refusal) }
    // Other stores find the document in the history by its `srvModified`. Without this member, they would
    // miss the document if it is older than two days.
    let mark = ["srvModified": JSONValue.number(Double(try await session.now()))]
    let sent = raw.replacing(members.merging(mark) { $1 })
    let answer = try await session.send(.PUT, Self.treatmentsPath, body: sent.members)
    switch answer.status {
    case 200:
      guard NightscoutAnswer.value(answer)?["_id"]?.text == raw.key else { throw session.unknownAnswer }
    case 404: return .refused("the site takes no edits through API v1: its plugin careportal is not enabled")
    default: throw await session.serviceError(for: answer, isWrite: true)
    }
    // If the treatment differs from the written one, another program changed it after this write.
    return try await self.raw(raw.key)?.agrees(with: sent) == true ? .done : .changed
  }

  private static let updateRight = "api:treatments:update"
}

/// A treatment as API v1 returns it: with the key of the database, and without the members that API v3
/// generates.
struct NightscoutRawTreatment {
  let key: String
  let members: JSONValue

  /// Whether a text has the format of a database key: 24 hexadecimal digits.
  static func isKey(_ text: String) -> Bool {
    text.utf8.count == 24
      && text.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
      }
  }

  /// Nil if the treatment has no valid database key.
  init?(_ members: JSONValue) {
    guard let key = members["_id"]?.text, Self.isKey(key) else { return nil }
    (self.key, self.members) = (key, members)
  }

  var hasIdentifier: Bool { members["identifier"].map { !$0.isEmpty } ?? false }

  /// Whether this treatment has the same content as a document that API v3 returned.
  func isState(of document: NightscoutDocument) -> Bool {
    if let modified = members["srvModified"], modified != document["srvModified"] { return false }
    return Self.agree(members, document.members)
  }

  /// Whether this is the result of writing `other`, apart from members that the server changes.
  func agrees(with other: NightscoutRawTreatment) -> Bool { Self.agree(members, other.members) }

  /// Why API v1 would damage the treatment when these members are written; nil if it would not.
  func refusal(of changes: [String: JSONValue]) -> String? {
    if ["isReadOnly", "readOnly", "readonly"].contains(where: { members[$0] == .flag(true) }) {
      return "the treatment is read-only"
    }
    guard members["created_at"]?.text?.isEmpty == false, instant != nil, members["eventTime"] == nil else {
      return "the site would change the time of this treatment"
    }
    let splits = members["preBolus"]?.number.map { $0 != 0 } ?? false
    let carbs = changes["carbs"] ?? members["carbs"] ?? .null
    return splits && !carbs.isNothing ? "the site would drop the carbohydrates of this treatment" : nil
  }

  /// The treatment with changed members. Empty members are left out, since API v1 would read some of them as
  /// 0.
  func replacing(_ changes: [String: JSONValue]) -> NightscoutRawTreatment {
    guard case .object(var all) = members else { return self }
    all.merge(changes) { $1 }
    for (name, value) in all where value == .null { all[name] = nil }
    // API v1 computes the offset from the time in the member `created_at`, and then stores this time in UTC.
    // So the time is sent with its offset.
    if let minutes = members["utcOffset"]?.integer, minutes != 0, abs(minutes) < 1440, let instant {
      all["created_at"] = .text(NightscoutTime.localText(instant, minutes: minutes))
    }
    return NightscoutRawTreatment(.object(all)) ?? self
  }

  private var instant: Int64? { members["created_at"]?.instant?.milliseconds }

  /// The members that the server writes, or that only one of API v1 and API v3 returns. Comparisons ignore
  /// them.
  private static let volatile: Set<String> = [
    "_id", "identifier", "srvModified", "srvCreated", "modifiedBy", "subject", "created_at",
  ]

  private static func agree(_ one: JSONValue, _ other: JSONValue) -> Bool {
    guard case .object(let left) = one, case .object(let right) = other else { return false }
    let names = Set(left.keys).union(right.keys).subtracting(volatile)
    return one["created_at"]?.instant?.milliseconds == other["created_at"]?.instant?.milliseconds
      && names.allSatisfy { isSame(left[$0] ?? .null, right[$0] ?? .null) }
  }

  /// Whether API v1 treats both values as equal. It drops empty amounts, and converts texts to numbers.
  private static func isSame(_ one: JSONValue, _ other: JSONValue) -> Bool {
    if one == other || (one.isNothing && other.isNothing) { return true }
    guard let left = one.jsonNumber, let right = other.jsonNumber else { return false }
    return left == right
  }
}

extension JSONValue {
  /// Whether API v1 may omit the value: it is missing, an empty text or 0.
  fileprivate var isNothing: Bool { isEmpty || jsonNumber == 0 }
}
