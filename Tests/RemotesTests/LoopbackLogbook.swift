// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import Synchronization
import TestServers

/// A logbook on loopback that speaks the glucoport protocol as far as a remote sees it, all in memory.
final class LoopbackLogbook: ConformanceServer {
  static let readOnlySecret = "read-only-token"

  private struct State {
    struct Entry {
      var revision: String
      var state: RecordState
      var versions: [String: (version: Int, digest: String, revision: String)] = [:]
    }

    var sequence = 0
    var blobs = LoopbackBlobs()
    var readings: [ReadingIdentity: (reading: Reading, device: Device, place: Int, node: String)] = [:]
    var records: [String: (entry: Entry, place: Int, node: String)] = [:]
    var isPurged = false

    mutating func next() -> Int {
      sequence += 1
      return sequence
    }
  }

  private let server: ScriptedServer
  var url: String { server.url }

  init() throws {
    let state = Mutex(State())
    server = try ScriptedServer { request in state.withLock { Self.answer(request, &$0) } }
  }

  func token(canWrite: Bool) -> String { canWrite ? Login.secret : Self.readOnlySecret }

  private static func answer(_ request: ReceivedRequest, _ state: inout State) -> ScriptedAnswer {
    let login = request.headers["authorization"]
    guard login == "Bearer \(Login.secret)" || login == "Bearer \(readOnlySecret)" else {
      return .status(401, ErrorBody(.login, "there is no such token").json)
    }
    if state.isPurged { return .status(410, ErrorBody(.purged, "it was removed for ever").json) }
    let canWrite = login == "Bearer \(Login.secret)"
    guard canWrite || request.method == "GET" || request.method == "HEAD" else {
      return .status(403, ErrorBody(.readOnly, "this token may read only").json)
    }
    let path = request.path.split(separator: "?")
    if request.path.hasPrefix(Wire.blobsPath) {
      return state.blobs.answer(request, String(request.path.dropFirst(Wire.blobsPath.count)))
    }
    do {
      let packed = request.headers["content-encoding"] == "gzip"
      let body = packed ? try WireGzip.unpack(request.body, limit: Wire.maxBodyBytes) : request.body
      let node = request.headers[Wire.nodeHeader.lowercased()] ?? ""
      switch String(path[0]) {
      case Wire.logbookPath where request.method == "DELETE": return try purge(body, &state)
      case Wire.logbookPath: return .status(200, logbook(canWrite))
      case Wire.readingsPath: return .status(200, try store(Bodies.readReadings(body), node, &state))
      case Wire.recordsPath: return .status(200, try store(Bodies.readChanges(body), node, &state))
      case Wire.changesPath: return page(path.count > 1 ? String(path[1]) : "", node, state)
      case Wire.digestsPath: return .status(200, digests(path.count > 1 ? String(path[1]) : "", state))
      default: return .status(404, ErrorBody(.notFound, "there is nothing here").json)
      }
    } catch {
      return .status(400, ErrorBody(.badRequest, "\(error)").json)
    }
  }

  private static func logbook(_ canWrite: Bool) -> [UInt8] {
    var logbook = Login.logbook
    logbook.isWritable = canWrite
    return Bodies.write(logbook)
  }

  private static func store(_ received: ReceivedReadings, _ node: String, _ state: inout State) -> [UInt8] {
    var answer = ReadingAnswer(stored: 0, known: 0, refused: received.refused)
    for (index, reading) in received.batch.readings.enumerated() {
      let device = received.batch.devices[Int(reading.device.number)]
      let identity = ReadingIdentity(reading, of: device)
      if let known = state.readings[identity] {
        answer.known += 1
        if known.reading.measurement != reading.measurement { answer.differing.append(index) }
      } else {
        answer.stored += 1
        state.readings[identity] = (reading, device, state.next(), node)
      }
    }
    return Bodies.write(answer)
  }

  private static func store(
    _ changes: [Bodies.ReceivedChange], _ node: String, _ state: inout State
  ) -> [UInt8] {
    let verdicts = changes.map { received -> RecordVerdict in
      switch received {
      case .refused(let reason): return .refused(reason: reason)
      case .change(let change):
        let known = state.records[change.guid]?.entry
        if let last = known?.versions[node], last.version == change.version, last.digest == change.digest {
          return .accepted(revision: last.revision)
        }
        if let known, known.revision != change.base {
          return .conflict(revision: known.revision, state: known.state, isBaseKnown: change.base != nil)
        }
        let place = state.next()
        var entry = known ?? State.Entry(revision: "", state: change.state)
        entry.revision = "r\(place)"
        entry.state = change.state
        entry.versions[node] = (change.version, change.digest, entry.revision)
        state.records[change.guid] = (entry, place, node)
        return .accepted(revision: entry.revision)
      }
    }
    return Bodies.write(RecordAnswer(verdicts: verdicts))
  }

  /// The items behind the cursor by their places, of which a page takes as many as were asked for.
  private static func page(_ query: String, _ node: String, _ state: State) -> ScriptedAnswer {
    let parts = query.split(separator: "&").map { $0.split(separator: "=").map(String.init) }
    let values = Dictionary(parts.map { ($0[0], $0.count > 1 ? $0[1] : "") }) { $1 }
    let after = values["after"].flatMap { Int($0) } ?? 0
    if values["after"] != nil, after == state.sequence { return .status(304) }
    let places = (state.readings.values.map(\.place) + state.records.values.map(\.place)).sorted()
    let taken = places.filter { $0 > after }.prefix(values["limit"].flatMap { Int($0) } ?? 1)
    let last = taken.last ?? after
    var page = ChangePage(
      readings: ReadingBatch(), records: [], cursor: "\(last)", hasMore: last < places.last ?? 0)
    for item in state.readings.values where taken.contains(item.place) && item.node != node {
      var reading = item.reading
      reading.device = DeviceIndex(Int32(page.readings.devices.count))
      page.readings.devices.append(item.device)
      page.readings.readings.append(reading)
    }
    for (guid, item) in state.records where taken.contains(item.place) && item.node != node {
      page.records.append(RemoteRecord(guid: guid, revision: item.entry.revision, state: item.entry.state))
    }
    return .status(200, Bodies.write(page))
  }

  /// Digests, or what is in some of their buckets, with one record on a page.
  private static func digests(_ query: String, _ state: State) -> [UInt8] {
    let parts = query.split(separator: "&").map { $0.split(separator: "=").map(String.init) }
    let values = Dictionary(parts.map { ($0[0], $0.count > 1 ? $0[1] : "") }) { $1 }
    var digests = IdentityDigests()
    if let buckets = values["readings"].flatMap(Bodies.buckets) {
      var batch = ReadingBatch()
      for (identity, item) in state.readings
      where buckets.contains(IdentityDigests.bucket(of: identity.bytes)) {
        var reading = item.reading
        reading.device = DeviceIndex(Int32(batch.devices.count))
        batch.devices.append(item.device)
        batch.readings.append(reading)
      }
      return Bodies.writeReadings(batch)
    }
    if let buckets = values["records"].flatMap(Bodies.buckets) {
      let rest = state.records.filter {
        buckets.contains(IdentityDigests.bucket(ofRecord: $0.key)) && $0.key > values["after"] ?? ""
      }.sorted { $0.key < $1.key }
      let records = rest.prefix(1).map {
        RemoteRecord(guid: $0.key, revision: $0.value.entry.revision, state: $0.value.entry.state)
      }
      return Bodies.write(RecordPage(records: records, hasMore: rest.count > 1))
    }
    if values["of"] == "records" {
      for (guid, item) in state.records { digests.insert(guid, item.entry.state) }
    } else {
      for identity in state.readings.keys { digests.insert(identity.bytes) }
    }
    return Bodies.write(digests)
  }

  private static func purge(_ body: [UInt8], _ state: inout State) throws -> ScriptedAnswer {
    let named = try Bodies.readPurge(body)
    guard named.logbook == Login.logbook.id, named.name == Login.logbook.name else {
      return .status(400, ErrorBody(.badRequest, "this is not the name of the logbook").json)
    }
    state = State(isPurged: true)
    return .status(200, Array("{}".utf8))
  }
}

extension ReadingIdentity {
  init(_ reading: Reading, of device: Device) {
    self.init(
      device: device, kind: reading.kind, positionKind: reading.positionKind, position: reading.position,
      valueBucket: reading.valueBucket,
      occurrence: Int64(reading.occurrence))
  }

  /// The bytes of the identity's UUID.
  var bytes: [UInt8] {
    let digits = Array(uuid.replacing("-", with: ""))
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16) ?? 0 }
  }
}
