// SPDX-License-Identifier: Apache-2.0

import Logbook
import NIOHTTP1
import Nightscout

/// Changing members of a treatment. A running site computes insulin and carbs on board from a memory of its own, which each
/// write changes too: what is written decides whether a dose still acts there.
extension NightscoutRemote {
  /// What came of writing a document.
  enum Written {
    case done
    /// Somebody else changed it since it was read.
    case changed
    case refused(String)
  }

  /// Changes members of a document unless somebody else did since it was read.
  ///
  /// A site keeps a document that API v3 patched as the patch left it. Without `mills` the dose in it stops acting until the
  /// site restarts. A document of API v1, which has no identifier, would stay twice in that memory after two patches, so
  /// that it is replaced as a whole.
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
    // The header is exact to the second, and compared with the event's time where the document has no mark: so a
    // request that arrives late does not hit what was written since.
    if let shown = document["srvModified"]?.integer, NightscoutTime.isPossible(shown) {
      headers.add(name: "If-Unmodified-Since", value: NightscoutTime.headerText(shown))
    }
    // A mark in the body, which nobody may change, is compared as it is.
    if let modified = document.modified { members["srvModified"] = .number(Double(modified)) }
    let path = NightscoutDocument.escaped(document.identifier)
    let answer = try await session.send(
      .PATCH, Self.path(.treatments, "/\(path)"), body: .object(members), headers: headers)
    switch NightscoutAnswer.status(answer) {
    case 200: return .done
    case 404, 412: return .changed
    case 410:
      try await uncover(document.identifier, writer)
      return .changed
    case 400, 422:
      let words = await session.words(answer)
      return words.contains("srvModified") ? .changed : .refused(words)
    default: throw await session.problem(answer, isWrite: true)
    }
  }

  /// Takes away from a document what acts and what people read.
  func blank(_ document: NightscoutDocument) async throws(ServiceError) {
    let blank = NightscoutTreatment.blank(document)
    guard !blank.isEmpty else { return }
    switch try await stored(document) {
    case .gone: return
    case .unkeyed(let raw):
      // Whatever others changed since, it acts no longer.
      if case .refused(let reason) = try await put(raw, blank) { throw .refused("\(hostName): \(reason)") }
    case .keyed:
      let path = NightscoutDocument.escaped(document.identifier)
      let answer = try await session.send(.PATCH, Self.path(.treatments, "/\(path)"), body: .object(blank))
      switch NightscoutAnswer.status(answer) {
      case 200, 404, 410: return
      default: throw await session.problem(answer, isWrite: true)
      }
    }
  }

  /// The instant at which a document acts, as the memory of a site needs it.
  static func instant(of document: NightscoutDocument) -> [String: JSONValue] {
    document.treatmentInstant.map { ["mills": .number(Double($0.milliseconds))] } ?? [:]
  }
}

// MARK: - Documents of API v1

extension NightscoutRemote {
  private static let treatmentsPath = "/api/v1/treatments"

  /// How the database keeps a document.
  private enum Stored {
    /// Under an identifier, by which API v3 and the memory of a site know it.
    case keyed
    /// Under the key of the database only: the document as API v1 shows it.
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

  /// The treatment of a key of the database as API v1 shows it; nil where there is none.
  private func raw(_ key: String) async throws(ServiceError) -> NightscoutRawTreatment? {
    let answer = try await session.send(.GET, "\(Self.treatmentsPath).json?find%5B_id%5D=\(key)&count=2")
    guard answer.status == 200, let items = NightscoutAnswer.value(answer)?.items else {
      throw await session.problem(answer)
    }
    return items.lazy.compactMap(NightscoutRawTreatment.init).first { $0.key == key }
  }

  /// Replaces a document of API v1, which was read immediately before, unless it is not what the change is made on.
  private func replace(
    _ document: NightscoutDocument, _ raw: NightscoutRawTreatment, _ members: [String: JSONValue]
  ) async throws(ServiceError) -> Written {
    guard raw.isState(of: document) else { return .changed }
    return try await put(raw, members)
  }

  /// Puts the whole document by its key, and reads it back. The request checks nothing: it overwrites what others write in
  /// the moment after the document was read, and restores what they delete in it.
  private func put(
    _ raw: NightscoutRawTreatment, _ members: [String: JSONValue]
  ) async throws(ServiceError) -> Written {
    if try await session.rights()?.missing.contains(Self.updateRight) == true {
      return .refused("the role of the access token lacks \(Self.updateRight); add it to the role")
    }
    if let refusal = raw.refusal(of: members) { return .refused(refusal) }
    // Without a mark of change no other store would see in the history what is older than two days.
    let mark = ["srvModified": JSONValue.number(Double(try await session.now()))]
    let sent = raw.replacing(members.merging(mark) { $1 })
    let answer = try await session.send(.PUT, Self.treatmentsPath, body: sent.members)
    switch answer.status {
    case 200:
      guard NightscoutAnswer.value(answer)?["_id"]?.text == raw.key else { throw session.unknownAnswer }
    case 404: return .refused("the site takes no edits through API v1: its plugin careportal is not enabled")
    default: throw await session.problem(answer, isWrite: true)
    }
    // What another program made of it meanwhile decides as any other edit.
    return try await self.raw(raw.key)?.agrees(with: sent) == true ? .done : .changed
  }

  private static let updateRight = "api:treatments:update"
}

/// A treatment as API v1 shows and takes it: with the key of the database, and without what API v3 makes up.
struct NightscoutRawTreatment {
  let key: String
  let members: JSONValue

  /// Whether a text may be a key of the database.
  static func isKey(_ text: String) -> Bool {
    text.utf8.count == 24
      && text.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
      }
  }

  /// Nil for what has no such key.
  init?(_ members: JSONValue) {
    guard let key = members["_id"]?.text, Self.isKey(key) else { return nil }
    (self.key, self.members) = (key, members)
  }

  var hasIdentifier: Bool { members["identifier"].map { !$0.isEmpty } ?? false }

  /// Whether a document that API v3 showed is this very state.
  func isState(of document: NightscoutDocument) -> Bool {
    if let modified = members["srvModified"], modified != document["srvModified"] { return false }
    return Self.agree(members, document.members)
  }

  /// Whether a write left this, apart from what the server itself changes.
  func agrees(with other: NightscoutRawTreatment) -> Bool { Self.agree(members, other.members) }

  /// Why API v1 would not keep the treatment as it is while these members change; nil where it would.
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

  /// The treatment with other members. An empty one is left out: API v1 would take some for 0.
  func replacing(_ changes: [String: JSONValue]) -> NightscoutRawTreatment {
    guard case .object(var all) = members else { return self }
    all.merge(changes) { $1 }
    for (name, value) in all where value == .null { all[name] = nil }
    // API v1 takes the offset from the time, and keeps the time in UTC.
    if let minutes = members["utcOffset"]?.integer, minutes != 0, abs(minutes) < 1440, let instant {
      all["created_at"] = .text(NightscoutTime.localText(instant, minutes: minutes))
    }
    return NightscoutRawTreatment(.object(all)) ?? self
  }

  private var instant: Int64? { members["created_at"]?.instant?.milliseconds }

  /// What the server writes, or shows in one API only.
  private static let volatile: Set<String> = [
    "_id", "identifier", "srvModified", "srvCreated", "modifiedBy", "subject", "created_at",
  ]

  private static func agree(_ one: JSONValue, _ other: JSONValue) -> Bool {
    guard case .object(let left) = one, case .object(let right) = other else { return false }
    let names = Set(left.keys).union(right.keys).subtracting(volatile)
    return one["created_at"]?.instant?.milliseconds == other["created_at"]?.instant?.milliseconds
      && names.allSatisfy { isSame(left[$0] ?? .null, right[$0] ?? .null) }
  }

  /// API v1 keeps no empty amounts, and makes numbers of texts.
  private static func isSame(_ one: JSONValue, _ other: JSONValue) -> Bool {
    if one == other || (one.isNothing && other.isNothing) { return true }
    guard let left = one.jsonNumber, let right = other.jsonNumber else { return false }
    return left == right
  }
}

extension JSONValue {
  /// Whether API v1 may leave it out: nothing, an empty text, or 0.
  fileprivate var isNothing: Bool { isEmpty || jsonNumber == 0 }
}
