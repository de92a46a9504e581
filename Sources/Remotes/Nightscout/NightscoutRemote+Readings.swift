// SPDX-License-Identifier: Apache-2.0

import Logbook
import NIOHTTP1
import Nightscout

/// Sends readings. Existing entries are searched by time first. API v1 treats two entries of one type and
/// time as the same, and would overwrite an entry of another program or meter.
extension NightscoutRemote {
  /// The maximum number of readings in a batch from which each missing reading is sent separately by API v3.
  /// Of a larger batch, the missing readings are sent with one request of API v1.
  private static let maxSentSeparately = 20
  /// The maximum number of entries in one request of API v1. The site stores them one by one, so larger
  /// requests would take too long.
  static let maxInBulk = 1000
  /// The maximum number of pages of entries that are read for one batch.
  private static let maxPages = 10_000
  private static let bulkPath = "/api/v1/entries.json"

  func store(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> ReadingAnswer {
    guard try await session.rights()?.maySend ?? true else { throw .readOnly }
    var answer = ReadingAnswer(stored: 0, known: 0)
    var types: [String: [NightscoutPushedReading]] = [:]
    for (place, reading) in batch.readings.enumerated() {
      if let reason = NightscoutEntry.refusal(reading) {
        answer.refused.append(RefusedItem(item: place, reason: reason))
        continue
      }
      let device = batch.devices[Int(reading.device.number)]
      types[NightscoutEntry.type(reading), default: []].append(
        NightscoutPushedReading(reading, device, at: place))
    }
    var missing: [NightscoutPushedReading] = []
    for (type, items) in types.sorted(by: { $0.key < $1.key }) {
      let items = items.sorted { $0.time < $1.time }
      var entries = try await entries(of: type, at: items)
      for item in items {
        if let item = entries.match(item, &answer) { missing.append(item) }
      }
    }
    // For one missing reading, both APIs need the same number of requests, so API v3 is used.
    let isBulk = batch.readings.count > Self.maxSentSeparately && missing.count > 1
    try await push(missing, inBulk: isBulk, NightscoutWriter(run), &answer)
    answer.differing.sort()
    answer.disputed.sort()
    answer.sameAs.sort { $0.item < $1.item }
    answer.refused.sort { $0.item < $1.item }
    return answer
  }

  private func push(
    _ missing: [NightscoutPushedReading], inBulk isBulk: Bool, _ writer: NightscoutWriter,
    _ answer: inout ReadingAnswer
  ) async throws(ServiceError) {
    guard isBulk else {
      for item in missing { try await pushSeparately(item, writer, &answer) }
      return
    }
    for start in stride(from: 0, to: missing.count, by: Self.maxInBulk) {
      try await pushInBulk(
        Array(missing[start..<min(start + Self.maxInBulk, missing.count)]), writer, &answer)
    }
  }

  /// The entries of a type in the same seconds as these readings. The readings are sorted by time. If two of
  /// them are more than a page of entries apart, the entries between them are skipped.
  private func entries(
    of type: String, at items: [NightscoutPushedReading]
  ) async throws(ServiceError) -> NightscoutEntries {
    var entries = NightscoutEntries()
    guard var start = items.first?.time else { return entries }
    for _ in 0..<Self.maxPages {
      let page = try await list(
        Self.path(.entries),
        // Each field has only one condition, since the site applies only the last condition on a field.
        [("type$eq", type), ("date$gte", String(start)), ("sort", "date")], limit: Self.maxDocuments)
      for document in page.items.compactMap(NightscoutDocument.init) { entries.insert(document, zone) }
      // The next page begins at the last time of this page, since further entries may have the same time. The
      // entries of a full page never all have the same time, since glucoport chooses unused times for its
      // entries.
      let end = page.items.last?["date"]?.integer ?? start
      guard page.items.count >= page.limit, let next = items.first(where: { $0.time + 999 >= end }) else {
        return entries
      }
      start = max(end, next.time, start + 1)
    }
    throw session.violation("it returned an impossible number of entries for one period")
  }

  /// Sends one document by API v3. A PUT with a `srvModified` that the document does not have can only create
  /// a document. A POST would also restore a deleted document. Without `srvModified`, both would replace an
  /// existing document.
  private func pushSeparately(
    _ item: NightscoutPushedReading, _ writer: NightscoutWriter, _ answer: inout ReadingAnswer
  ) async throws(ServiceError) {
    var members = item.members(writer)
    members["srvModified"] = .number(1)
    let reply = try await session.send(
      .PUT, Self.path(.entries, "/\(item.identifier)"), body: .object(members))
    if NightscoutAnswer.isStored(reply) {
      answer.stored += 1
      return
    }
    switch NightscoutAnswer.status(reply) {
    case 400:
      let words = await session.message(in: reply)
      if words.contains("cannot be modified") {
        answer.known += 1
      } else {
        answer.refused.append(RefusedItem(item: item.place, reason: words))
      }
    case 410, 422: answer.known += 1
    default: throw await session.serviceError(for: reply, isWrite: true)
    }
  }

  private func pushInBulk(
    _ items: [NightscoutPushedReading], _ writer: NightscoutWriter, _ answer: inout ReadingAnswer
  ) async throws(ServiceError) {
    // API v1 does not set `srvModified`, but keeps one that the request contains. Only documents with
    // `srvModified` are in the history, so it is set here.
    let stored = try await session.now() + 1000
    let documents = items.enumerated().map { index, item in
      let mark = JSONValue.number(Double(stored + Int64(index)))
      return JSONValue.object(
        item.members(writer).merging(["srvModified": mark, "srvCreated": mark]) { $1 })
    }
    let reply = try await session.send(.POST, Self.bulkPath, body: .list(documents))
    guard let new = NightscoutAnswer.new(reply, of: items.map(\.identifier)) else {
      throw await session.serviceError(for: reply, isWrite: true)
    }
    // The other documents were not stored, since the site already has them, either valid or deleted.
    let count = items.filter { new.contains($0.identifier) }.count
    answer.stored += count
    answer.known += items.count - count
  }
}

/// A reading that is sent to a site.
private struct NightscoutPushedReading {
  let place: Int
  let reading: Reading
  let device: Device
  let identity: ReadingIdentity
  let identifier: String
  let time: Int64
  /// The number of milliseconds that are added to the time of the reading's entry, so that no other entry has
  /// the same time.
  var shift: Int64 = 0

  init(_ reading: Reading, _ device: Device, at place: Int) {
    self.place = place
    self.reading = reading
    self.device = device
    identity = ReadingIdentity(reading, device)
    identifier = identity.uuid
    time = NightscoutEntry.milliseconds(reading)
  }

  func members(_ writer: NightscoutWriter) -> [String: JSONValue] {
    NightscoutEntry.members(reading, device, identifier: identifier, shift: shift, writer)
  }
}

/// The entries of one type that a site has around the times of a batch's readings.
private struct NightscoutEntries {
  private var known: [ReadingIdentity: Measurement] = [:]
  private var taken: Set<Int64> = []
  /// The values that glucoport has written for each shown time. Each has the 16 bytes of its identity's UUID
  /// as `key`. Only readings are included whose identity does not contain the value. The dictionary is keyed
  /// by the identity of the first value at a shown time.
  private var values: [ReadingIdentity: [(key: [UInt8], measurement: Measurement)]] = [:]
  /// The readings that other programs wrote, by the second of their time.
  private var foreign: [Int64: [(identity: ReadingIdentity, reading: Reading)]] = [:]
  /// The identities that the readings in `foreign` get if the site's export is imported.
  private var foreignIdentities: Set<ReadingIdentity> = []

  mutating func insert(_ document: NightscoutDocument, _ zone: NightscoutZone) {
    if let date = document["date"]?.integer { taken.insert(date) }
    guard let (reading, device) = NightscoutEntry.reading(document, zone) else { return }
    let identity = ReadingIdentity(reading, device)
    let isNew = known.updateValue(reading.measurement, forKey: identity) == nil
    guard isNew else { return }
    guard !document.holdsOwnReading else { return addValue(reading, device, identity) }
    foreignIdentities.insert(identity)
    foreign[NightscoutEntry.milliseconds(reading) / 1000, default: []].append((identity, reading))
  }

  private mutating func addValue(_ reading: Reading, _ device: Device, _ identity: ReadingIdentity) {
    guard let time = ReadingIdentity(firstValueAt: reading, device) else { return }
    values[time, default: []].append((identity.key, reading.measurement))
  }

  /// The 16 bytes of the identity's UUID of a written reading with an equal value at the same shown time; nil
  /// if there is none. If a shown time occurs twice, two stores may number its values differently. Other
  /// programs should still see each value once.
  private func equalValue(of item: NightscoutPushedReading) -> [UInt8]? {
    guard let time = ReadingIdentity(firstValueAt: item.reading, item.device) else { return nil }
    return values[time]?.first { $0.measurement.agrees(with: item.reading.measurement) }?.key
  }

  /// If the site has the reading, counts it and returns nil. Otherwise returns the reading with a time that
  /// no entry has.
  mutating func match(
    _ item: NightscoutPushedReading, _ answer: inout ReadingAnswer
  ) -> NightscoutPushedReading? {
    if let measurement = known[item.identity] {
      answer.known += 1
      if foreignIdentities.contains(item.identity) {
        answer.sameAs.append(SameReading(item: item.place, document: item.identity.key))
      }
      if !measurement.agrees(with: item.reading.measurement) { answer.differing.append(item.place) }
      return nil
    }
    if let document = equalValue(of: item) {
      answer.known += 1
      answer.sameAs.append(SameReading(item: item.place, document: document))
      return nil
    }
    let others = (foreign[item.time / 1000] ?? []).filter { $0.reading.kind.isSame(as: item.reading.kind) }
    if let same = others.first(where: { $0.reading.measurement.isSame(as: item.reading.measurement) }) {
      answer.known += 1
      answer.sameAs.append(SameReading(item: item.place, document: same.identity.key))
      return nil
    }
    if !others.isEmpty { answer.disputed.append(item.place) }
    var item = item
    while taken.contains(item.time + item.shift) { item.shift += 1 }
    taken.insert(item.time + item.shift)
    known[item.identity] = item.reading.measurement
    addValue(item.reading, item.device, item.identity)
    return item
  }
}

extension ReadingIdentity {
  /// The identity that the first value at the position of a reading would have. Nil if a position has only
  /// one value, or if the identity contains the value.
  fileprivate init?(firstValueAt reading: Reading, _ device: Device) {
    guard reading.isNumberedAtPosition else { return nil }
    self.init(
      device: device, kind: reading.kind, positionKind: reading.positionKind, position: reading.position,
      valueBucket: reading.valueBucket, occurrence: 0)
  }
}

extension NightscoutDocument {
  /// Whether glucoport wrote this entry, and not another program.
  var holdsOwnReading: Bool { own?["position_kind"] != nil }
}
