// SPDX-License-Identifier: Apache-2.0

/// The content of a record of kind `withdrawal`. It states that some items are a mistake, or that they are
/// not.
package struct Withdrawal: Hashable, Sendable {
  /// The items that the withdrawal is about.
  package enum Subject: Hashable, Sendable {
    /// The items of an import, or a part of them.
    case input(WithdrawnInput)
    /// The items of this import that withdrawals of other imports also list. The items stay visible until
    /// this import is undone, too.
    case brought(WithdrawnInput)
    /// The readings of a device in a range of times, including readings that are imported later.
    case device(DeviceRule)
    /// One reading. Such a withdrawal has precedence over all others that list the reading.
    case reading(ReadingIdentity)
    /// The record with this guid. Such a withdrawal has precedence over all others that list the record,
    /// unless it is limited to one `content`.
    case record(String)
  }

  package var subject: Subject
  /// Whether the items are hidden. If false, a reading or record is shown whatever other withdrawals state.
  package var isHidden: Bool
  /// The reason for people; empty if there is none.
  package var reason: String
  /// For a record that its source deleted: the digest of the only content that is hidden; empty for any
  /// content. If `isHidden` is false, a withdrawal with a digest has no effect. See
  /// `RecordState.withdrawalDigest`.
  package var content: String

  /// The reason of a withdrawal that an import writes for a value of a reading that its source corrected.
  package static let correctedAtSource = "corrected at the source"
  /// The reason after the source restored the value. It also is that of a withdrawal that only states the age
  /// of the last export with the value. Such a withdrawal has no effect.
  package static let restoredAtSource = "corrected at the source, then restored"

  package init(_ subject: Subject, isHidden: Bool, reason: String = "", content: String = "") {
    (self.subject, self.isHidden, self.reason) = (subject, isHidden, reason)
    self.content = content
  }

  /// The guid of the withdrawal's record if its subject has at most one such record; nil for imports and
  /// devices.
  package var guid: String? {
    switch subject {
    case .reading(let identity): Digest.uuid(of: ["withdrawal", "reading", identity.text])
    case .record(let guid): Digest.uuid(of: ["withdrawal", "record", guid])
    case .input, .brought, .device: nil
    }
  }
}

/// What an import added and changed. A record holds at most 256 KiB, so this may be only a part of it.
package struct WithdrawnInput: Hashable, Sendable {
  /// The id that all parts of one import's withdrawal share.
  package var group: String
  /// The identity of the input and of the decisions by which it was read; empty if unknown. See `identity`.
  package var input: String
  /// The id of the import; empty if unknown. It is the same in every copy of the store that made the import.
  package var importID: String
  /// The points of the readings, by their series.
  package var points: [SeriesName: PointRuns]
  /// The digests of the records' contents, by guid.
  package var records: [String: String]
  /// The records that the import changed.
  package var changes: [RecordRevision]

  package init(
    group: String, input: String = "", importID: String = "", points: [SeriesName: PointRuns] = [:],
    records: [String: String] = [:], changes: [RecordRevision] = []
  ) {
    (self.group, self.input, self.importID) = (group, input, importID)
    (self.points, self.records, self.changes) = (points, records, changes)
  }

  /// The identity of an input together with how it was read. It is computed from the format, the digest of
  /// the input and the decisions about it.
  package static func identity(format: String, digest: String, _ decisions: [Decision]) -> String {
    Digest.uuid(of: ["input", format, digest] + Set(decisions.map { "\($0.subject)=\($0.value)" }).sorted())
  }

  /// The group of a list of what an import that is not undone brought. It follows from the readings, the
  /// records and the import, so that every copy of the store writes the same records.
  package var broughtGroup: String {
    let series = points.map { "\($0.key.text) \($0.value.unpackedText)" }.sorted()
    let records = records.map { "\($0.key) \($0.value)" }.sorted()
    return Digest.uuid(of: ["brought", importID] + series + records)
  }
}

/// A record before and after the change by an import.
package struct RecordRevision: Hashable, Sendable {
  package let guid: String
  package let before: RecordState
  package let after: RecordState

  package init(guid: String, before: RecordState, after: RecordState) {
    (self.guid, self.before, self.after) = (guid, before, after)
  }
}

/// The readings of a device in a range of shown times.
package struct DeviceRule: Hashable, Sendable {
  /// The identity of the device, as `ReadingIdentity.text(of:)` writes it.
  package var device: String
  /// The first shown time; nil for no limit.
  package var since: DeviceTime?
  /// The exclusive end of the range; nil for no limit.
  package var until: DeviceTime?

  package init(device: String, since: DeviceTime? = nil, until: DeviceTime? = nil) {
    (self.device, self.since, self.until) = (device, since, until)
  }

  package func covers(_ time: DeviceTime) -> Bool {
    (since.map { $0 <= time } ?? true) && (until.map { time < $0 } ?? true)
  }
}

extension RecordState {
  /// The digest by which a withdrawal recognises whether a record was edited after the import.
  package var withdrawalDigest: String {
    Self.withdrawalDigest(deviceTime: deviceTime, statedOffset: statedOffset, fields: fields.json)
  }

  /// The same digest, computed from the parts of a state.
  ///
  /// - Parameter statedOffset: nil for a derived offset, which is not part of the content.
  package static func withdrawalDigest(
    deviceTime: DeviceTime, statedOffset: Int32?, fields: String
  ) -> String {
    Digest.uuid(of: ["content", String(deviceTime.seconds), statedOffset.map(String.init) ?? "", fields])
  }
}

// Converts a withdrawal to the fields of its record and back. glucoport-json(5) documents the fields.

extension Withdrawal {
  /// The maximum size in bytes of a field that lists readings or records. So a record with such a field stays
  /// far below a server's limit.
  package static let maxListBytes = 200 * 1024
  /// The maximum size of all fields together, in bytes. Every version of glucoport writes smaller records.
  package static let maxBytes = 256 * 1024
  /// The maximum number of points in one record. It limits the time to search for them in a store.
  package static let maxPoints = 4 * PointRuns.maxPoints

  /// The name of the field that states whether the subject is hidden.
  package static let hiddenName = "hidden"

  private enum FieldName {
    static let (subtype, hidden, text) = ("subtype", hiddenName, "text")
    static let importID = "import"
    static let (group, input, points, records, changes) = ("group", "input", "points", "records", "changes")
    static let (device, since, until) = ("device", "since", "until")
    static let (reading, record, content) = ("reading", "record", "content")
  }

  private enum Subtype: String { case `import`, brought, device, reading, record }

  /// The fields of the withdrawal's record.
  package var fields: RecordFields {
    var fields = RecordFields([FieldName.hidden: .flag(isHidden)])
    if !reason.isEmpty { fields[FieldName.text] = .text(reason) }
    switch subject {
    case .input(let input), .brought(let input):
      let subtype = if case .brought = subject { Subtype.brought } else { Subtype.import }
      fields[FieldName.subtype] = .text(subtype.rawValue)
      fields[FieldName.group] = .text(input.group)
      if !input.input.isEmpty { fields[FieldName.input] = .text(input.input) }
      if !input.importID.isEmpty { fields[FieldName.importID] = .text(input.importID) }
      fields.set(FieldName.points, lines: input.pointLines)
      fields.set(FieldName.records, lines: input.records.map { "\($0.key) \($0.value)" }.sorted())
      fields.set(FieldName.changes, lines: input.changes.map(\.line).sorted())
    case .device(let rule):
      fields[FieldName.subtype] = .text(Subtype.device.rawValue)
      fields[FieldName.device] = .text(rule.device)
      if let since = rule.since { fields[FieldName.since] = .text(since.text) }
      if let until = rule.until { fields[FieldName.until] = .text(until.text) }
    case .reading(let identity):
      fields[FieldName.subtype] = .text(Subtype.reading.rawValue)
      fields[FieldName.reading] = .text(identity.text)
    case .record(let guid):
      fields[FieldName.subtype] = .text(Subtype.record.rawValue)
      fields[FieldName.record] = .text(guid)
      if !content.isEmpty { fields[FieldName.content] = .text(content) }
    }
    return fields
  }

  /// Parses a withdrawal from the fields of its record. Nil for fields that this program does not understand.
  /// A withdrawal with such fields hides nothing.
  package init?(fields: RecordFields) {
    guard fields.textBytes <= Self.maxBytes, case .flag(let isHidden)? = fields[FieldName.hidden],
      let subtype = fields.text(FieldName.subtype).flatMap(Subtype.init)
    else { return nil }
    let subject: Subject? =
      switch subtype {
      case .import: Self.input(fields).map(Subject.input)
      case .brought: Self.input(fields).map(Subject.brought)
      case .device: Self.rule(fields).map(Subject.device)
      case .reading: fields.text(FieldName.reading).flatMap { ReadingIdentity(text: $0) }.map(Subject.reading)
      case .record: fields.text(FieldName.record).flatMap { Guid.isValid($0) ? .record($0) : nil }
      }
    guard let subject else { return nil }
    self.init(
      subject, isHidden: isHidden, reason: fields.text(FieldName.text) ?? "",
      content: subtype == .record ? fields.text(FieldName.content) ?? "" : "")
  }

  /// Parses a withdrawal from the fields in a JSON text. Nil for invalid JSON, and for fields that this
  /// program does not understand.
  package init?(json: String) {
    guard json.utf8.count <= Self.maxBytes else { return nil }
    do throws(JSONError) {
      self.init(fields: try RecordFields(json: json))
    } catch {
      return nil
    }
  }

  /// Merges a local and a remote edit of one withdrawal. Withdrawals never become conflicts: an item that one
  /// of the edits shows again is shown. Both stores get the same result.
  package static func merged(
    _ local: RecordFields, _ remote: RecordFields, base: RecordFields?
  ) -> RecordFields {
    var merged = RecordFields()
    for name in Set(local.values.keys).union(remote.values.keys).union((base?.values ?? [:]).keys) {
      let (mine, theirs) = (local[name], remote[name])
      if mine == theirs {
        merged[name] = mine
      } else if let base, base[name] == mine || base[name] == theirs {
        merged[name] = base[name] == mine ? theirs : mine
      } else {
        merged[name] = mergedField(name, mine, theirs)
      }
    }
    return merged
  }

  private static func mergedField(_ name: String, _ mine: FieldValue?, _ theirs: FieldValue?) -> FieldValue? {
    switch (name, mine, theirs) {
    case (FieldName.hidden, _, _): return .flag(false)
    // A missing list is an empty one: the edit that removed the list showed all items of the list again.
    case (FieldName.points, nil, _), (FieldName.points, _, nil), (FieldName.records, nil, _),
      (FieldName.records, _, nil),
      (FieldName.changes, nil, _), (FieldName.changes, _, nil):
      return nil
    case (FieldName.points, .text(let mine)?, .text(let theirs)?):
      // Two versions of zlib may pack the same points differently. Then one of the texts is kept.
      guard let mine = WithdrawnInput.points(mine), let theirs = WithdrawnInput.points(theirs),
        mine != theirs
      else { break }
      let common = Dictionary(
        uniqueKeysWithValues: mine.compactMap { series, runs in
          theirs[series].map { other in (series, runs.intersection(other)) }
        })
      let text = WithdrawnInput.lines(common).joined(separator: "\n")
      // The merged list may be larger than a record can hold. In this case it is left out, and all its items
      // are shown.
      return text.isEmpty || text.utf8.count > maxListBytes ? nil : .text(text)
    case (FieldName.records, .text(let mine)?, .text(let theirs)?),
      (FieldName.changes, .text(let mine)?, .text(let theirs)?):
      let lines = Set(mine.listedLines).intersection(theirs.listedLines)
      return lines.isEmpty ? nil : .text(lines.sorted().joined(separator: "\n"))
    default: break
    }
    // The texts are for people, or list the same points. Every store chooses the same one of the two texts.
    return [mine, theirs].compactMap(\.self).max { RecordFields(["": $0]).json < RecordFields(["": $1]).json }
  }
}

extension Withdrawal {
  private static func input(_ fields: RecordFields) -> WithdrawnInput? {
    guard let group = fields.text(FieldName.group), Guid.isValid(group),
      let points = WithdrawnInput.points(fields.text(FieldName.points) ?? "")
    else { return nil }
    var input = WithdrawnInput(
      group: group, input: fields.text(FieldName.input) ?? "",
      importID: fields.text(FieldName.importID) ?? "",
      points: points)
    for line in (fields.text(FieldName.records) ?? "").listedLines {
      let words = line.split(separator: " ")
      guard words.count == 2, Guid.isValid(String(words[0])) else { return nil }
      input.records[String(words[0])] = String(words[1])
    }
    for line in (fields.text(FieldName.changes) ?? "").listedLines {
      guard let change = RecordRevision(line: line) else { return nil }
      input.changes.append(change)
    }
    return input
  }

  private static func rule(_ fields: RecordFields) -> DeviceRule? {
    guard let device = fields.text(FieldName.device) else { return nil }
    let (since, until) = (fields.text(FieldName.since), fields.text(FieldName.until))
    let rule = DeviceRule(
      device: device, since: since.flatMap { DeviceTime(text: $0) },
      until: until.flatMap { DeviceTime(text: $0) })
    // If a limit is present but unreadable, the rule is ignored. Without the limit, the rule would hide more
    // than was stated.
    return (rule.since == nil) == (since == nil) && (rule.until == nil) == (until == nil) ? rule : nil
  }
}

extension WithdrawnInput {
  /// One line for each series: the name of the series, a blank, and its points in base64.
  static func lines(_ points: [SeriesName: PointRuns]) -> [String] {
    points.filter { !$0.value.isEmpty }.map { "\($0.key.text) \($0.value.text)" }.sorted()
  }

  static func points(_ text: String) -> [SeriesName: PointRuns]? {
    var points: [SeriesName: PointRuns] = [:]
    var count: Int64 = 0
    for line in text.listedLines {
      guard let end = line.utf8.lastIndex(of: UInt8(ascii: " ")), let series = SeriesName(text: line[..<end]),
        let runs = PointRuns(text: line[line.index(after: end)...]), points[series] == nil
      else { return nil }
      points[series] = runs
      count += runs.count
      if count > Withdrawal.maxPoints { return nil }
    }
    return points
  }

  fileprivate var pointLines: [String] { Self.lines(points) }
}

extension RecordRevision {
  /// The size of `line` in the JSON of a record, in bytes. The line contains JSON. Its quotation marks are
  /// escaped, since the line is written as a JSON string.
  package var listBytes: Int { RecordFields(["": .text(line)]).json.utf8.count }

  /// The guid and both states in JSON, separated by tabs. JSON of a state contains no tab.
  fileprivate var line: String { "\(guid)\t\(before.json)\t\(after.json)" }

  fileprivate init?(line: Substring) {
    let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 3, Guid.isValid(parts[0]) else { return nil }
    do throws(JSONError) {
      self.init(
        guid: parts[0], before: try RecordState(json: parts[1]), after: try RecordState(json: parts[2]))
    } catch {
      return nil
    }
  }
}

extension String {
  /// The lines of a list. The text is split by bytes: a million readings are megabytes of text, and a search
  /// by characters would take most of the time.
  var listedLines: [Substring] {
    utf8.split(separator: UInt8(ascii: "\n")).map { Substring($0) }
  }
}

extension RecordFields {
  /// The approximate size of the record in bytes: the length of its texts, which are most of it.
  fileprivate var textBytes: Int {
    values.values.reduce(0) { sum, value in
      if case .text(let text) = value { sum + text.utf8.count } else { sum }
    }
  }

  fileprivate func text(_ name: String) -> String? {
    if case .text(let text)? = self[name] { text } else { nil }
  }

  fileprivate mutating func set(_ name: String, lines: [String]) {
    if !lines.isEmpty { self[name] = .text(lines.joined(separator: "\n")) }
  }
}
