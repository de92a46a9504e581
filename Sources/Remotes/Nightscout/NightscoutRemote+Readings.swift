// SPDX-License-Identifier: Apache-2.0

import Logbook
import NIOHTTP1
import Nightscout

/// Sending readings: what is there already is found by time, since API v1 takes two entries of one type and time for
/// one, and would write a reading over what another program or meter left there.
extension NightscoutRemote {
  /// More new readings than these go up at once through API v1.
  private static let maxSingles = 20
  /// Entries in one request of API v1, which stores them one after the other.
  static let maxInBulk = 500
  /// Pages of entries in the stretch of time of one request.
  private static let maxPages = 10_000
  private static let bulkPath = "/api/v1/entries.json"

  /// A reading on its way.
  private struct Item {
    let place: Int
    let reading: Reading
    let device: Device
    let identity: ReadingIdentity
    let identifier: String
    let time: Int64
    var shift: Int64 = 0

    init(_ reading: Reading, _ device: Device, at place: Int) {
      self.place = place
      self.reading = reading
      self.device = device
      identity = ReadingIdentity(reading, device)
      identifier = identity.uuid
      time = NightscoutEntry.milliseconds(reading)
    }
  }

  func store(_ batch: ReadingBatch, _ run: RunStamp) async throws(ServiceError) -> ReadingAnswer {
    guard try await session.rights()?.maySend ?? true else { throw .readOnly }
    var answer = ReadingAnswer(stored: 0, known: 0)
    var types: [String: [Item]] = [:]
    for (place, reading) in batch.readings.enumerated() {
      if let reason = NightscoutEntry.refusal(reading) {
        answer.refused.append(RefusedItem(item: place, reason: reason))
        continue
      }
      let device = batch.devices[Int(reading.device.number)]
      types[NightscoutEntry.type(reading), default: []].append(Item(reading, device, at: place))
    }
    for (type, items) in types.sorted(by: { $0.key < $1.key }) {
      let items = items.sorted { $0.time < $1.time }
      for start in stride(from: 0, to: items.count, by: Self.maxInBulk) {
        let piece = items[start..<min(start + Self.maxInBulk, items.count)]
        try await push(piece, type, NightscoutWriter(run), &answer)
      }
    }
    answer.differing.sort()
    answer.refused.sort { $0.item < $1.item }
    return answer
  }

  private func push(
    _ items: ArraySlice<Item>, _ type: String, _ writer: NightscoutWriter, _ answer: inout ReadingAnswer
  ) async throws(ServiceError) {
    guard let first = items.first, let last = items.last else { return }
    var (known, taken) = try await there(type, from: first.time, to: last.time)
    var missing: [Item] = []
    for var item in items {
      if let measurement = known[item.identity] {
        answer.known += 1
        if !measurement.agrees(with: item.reading.measurement) { answer.differing.append(item.place) }
        continue
      }
      while taken.contains(item.time + item.shift) { item.shift += 1 }
      taken.insert(item.time + item.shift)
      known[item.identity] = item.reading.measurement
      missing.append(item)
    }
    if missing.count > Self.maxSingles {
      try await pushInBulk(missing, writer, &answer)
    } else {
      for item in missing { try await pushAlone(item, writer, &answer) }
    }
  }

  /// The readings of entries of a type in a stretch of time, and the times that are taken there.
  private func there(
    _ type: String, from first: Int64, to last: Int64
  ) async throws(ServiceError) -> (known: [ReadingIdentity: Measurement], taken: Set<Int64>) {
    var known: [ReadingIdentity: Measurement] = [:]
    var taken: Set<Int64> = []
    var start = first
    for _ in 0..<Self.maxPages {
      let page = try await list(
        Self.path(.entries),
        // One condition for each field: of several the site takes the last one alone.
        [("type$eq", type), ("date$gte", String(start)), ("sort", "date")], limit: Self.maxDocuments)
      for document in page.items.compactMap(NightscoutDocument.init) {
        if let date = document["date"]?.integer { taken.insert(date) }
        if let (reading, device) = NightscoutEntry.reading(document, zone) {
          known[ReadingIdentity(reading, device)] = reading.measurement
        }
      }
      // From the last time on once more: more than one may stand there. A thousand cannot, since ours move aside.
      let end = page.items.last?["date"]?.integer ?? start
      guard page.items.count >= page.limit, end < last + 1000 else { return (known, taken) }
      start = max(end, start + 1)
    }
    throw session.violation("it gives more entries of one stretch of time than can be")
  }

  /// One document by API v3. A deleted one stays deleted: a second POST would bring it back.
  private func pushAlone(
    _ item: Item, _ writer: NightscoutWriter, _ answer: inout ReadingAnswer
  ) async throws(ServiceError) {
    guard case .absent = try await find(.entries, item.identifier) else {
      answer.known += 1
      return
    }
    let reply = try await session.send(.POST, Self.path(.entries), body: .object(members(item, writer)))
    if NightscoutAnswer.isStored(reply) {
      if reply.status == 201 { answer.stored += 1 } else { answer.known += 1 }
      return
    }
    switch NightscoutAnswer.status(reply) {
    case 400:
      let words = await session.words(reply)
      // Somebody else's entry of this very time, which cannot become ours, and says the same.
      if words.contains("cannot be modified") {
        answer.known += 1
      } else {
        answer.refused.append(RefusedItem(item: item.place, reason: words))
      }
    case 422: answer.known += 1
    default: throw await session.problem(reply, isWrite: true)
    }
  }

  private func pushInBulk(
    _ items: [Item], _ writer: NightscoutWriter, _ answer: inout ReadingAnswer
  ) async throws(ServiceError) {
    // API v1 sets no marks of change and keeps the ones that it gets; with them the history shows what went up.
    let stored = try await session.now() + 1000
    let documents = items.enumerated().map { index, item in
      let mark = JSONValue.number(Double(stored + Int64(index)))
      return JSONValue.object(
        members(item, writer).merging(["srvModified": mark, "srvCreated": mark]) { $1 })
    }
    let reply = try await session.send(.POST, Self.bulkPath, body: .list(documents))
    guard let new = NightscoutAnswer.new(reply, of: items.map(\.identifier)) else {
      throw await session.problem(reply, isWrite: true)
    }
    // The rest fell on what is there, which a deleted entry can be, too.
    let count = items.filter { new.contains($0.identifier) }.count
    answer.stored += count
    answer.known += items.count - count
  }

  private func members(_ item: Item, _ writer: NightscoutWriter) -> [String: JSONValue] {
    NightscoutEntry.members(
      item.reading, item.device, identifier: item.identifier, shift: item.shift, writer)
  }
}
