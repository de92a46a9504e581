// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookStore
import Remotes
import Simulation
import Synchronization
import TestServers

@testable import Sync

/// Stores of one person that sync with a simulated Nightscout site. Other programs write to the site, too.
/// There is no network.
final class SiteScene {
  /// The time of the first reading in seconds. It is long before the time of the site's clock.
  static let start: Int64 = 1_700_000_000
  static let clock: Int64 = 1_790_000_000_000
  static let meter = Device(vendor: "Test", model: "Meter", serial: "S1", format: "test")

  let site: NightscoutStandIn
  let link: SiteLink
  private let folder: URL
  private let token: String
  private var stores: [String: Store] = [:]
  private var runs = 0

  /// Copies a scene. This is much faster than repeating its uploads.
  init(copying other: SiteScene) throws {
    folder = try Self.makeFolder()
    site = NightscoutStandIn(copying: other.site)
    link = SiteLink(site)
    (token, runs) = (other.token, other.runs)
    for file in try FileManager.default.contentsOfDirectory(atPath: other.folder.path)
    where !file.hasSuffix("-shm") {
      try FileManager.default.copyItem(
        at: other.folder.appending(path: file), to: folder.appending(path: file))
    }
  }

  private static func makeFolder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: "glucoport-site-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  init() throws {
    folder = try Self.makeFolder()
    site = NightscoutStandIn(withoutWireAt: Self.clock)
    // The remote measures the duration of an upload with the clock of the machine, so the site's clock must
    // advance in step with it.
    site.runClock(ahead: Self.clock - Int64(Date().timeIntervalSince1970 * 1000))
    link = SiteLink(site)
    token = site.addSubject("anna", roles: ["uploader"])
    setRights()
  }

  /// Sets the rights of the role that the login has, as the administrator of the site does.
  func setRights(entries: String = "create,read,update,delete") {
    site.setRole("uploader", ["api:entries:\(entries)", "api:treatments:create,read,update,delete"])
  }

  deinit {
    do {
      try FileManager.default.removeItem(at: folder)
    } catch {
      // If the folder remains in the temporary folder, it affects no test.
    }
  }

  // MARK: Stores

  private func path(_ name: String) -> String { folder.appending(path: "\(name).db").path }

  /// The store with this name, connected to the site and opened for uploads.
  func store(_ name: String) throws -> Store {
    if let store = stores[name] { return store }
    _ = try Store.openOrCreate(path: path(name), role: .importer, zone: LogbookZone(name: "UTC"))
    let store = try Store(path: path(name), role: .sync)
    try store.setRemote(
      RemoteAccess(kind: "nightscout", url: "http://localhost", token: .file("/none")),
      logbook: RemoteLogbook(id: "site", name: "site", isWritable: true, maxReadings: 1, maxRecords: 1),
      isNewRemote: false, at: 0)
    stores[name] = store
    return store
  }

  /// A function that copies the files of a store as a killed process leaves them.
  func copying(_ name: String, to other: String) -> @Sendable () throws -> Void {
    let (from, to) = (path(name), path(other))
    return {
      for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: from + suffix) {
        try FileManager.default.copyItem(atPath: from + suffix, toPath: to + suffix)
      }
    }
  }

  /// A function that changes the zone of a store, as another process may do during an upload.
  func settingZone(_ name: String, _ zone: String, at second: Int64) -> @Sendable () throws -> Void {
    let path = path(name)
    return {
      _ = try Store(path: path, role: .editor).setTimezone(LogbookZone(name: zone), at: second)
    }
  }

  func close(_ name: String) { stores[name] = nil }

  /// Imports readings of one device and records into a store.
  ///
  /// - Parameter generatedAt: the time of the newest item in the export, by which the ages of exports are
  ///   compared.
  func ingest(
    _ name: String, _ readings: [Reading], _ device: Device = meter, records: [ImportedRecord] = [],
    generatedAt: Int64? = nil
  ) throws {
    _ = try store(name)
    let importer = try Store(path: path(name), role: .importer)
    var batch = IngestBatch()
    (batch.devices, batch.readings, batch.records) = (readings.isEmpty ? [] : [device], readings, records)
    let source = IngestSource(
      name: "input", format: "test", startedAt: 1000, modifiedAt: nil, decisions: [])
    try importer.ingest(source, isAtomic: false) { writer in
      try writer.write(batch)
      try writer.finish(
        end: .whole, digest: UUID().uuidString, generatedAt: generatedAt, finishedAt: 2000, decisions: [])
    }
  }

  /// Opens a store in the role that commands such as `undo` use.
  func editing(_ name: String) throws -> Store { try Store(path: path(name), role: .editor) }

  /// Opens a store in the role that resolves conflicts.
  func resolving(_ name: String) throws -> Store { try Store(path: path(name), role: .resolver) }

  func editor(_ name: String) throws -> RecordEditor {
    _ = try store(name)
    return RecordEditor(try Store(path: path(name), role: .editor), at: Self.clock / 1000)
  }

  // MARK: Uploads

  /// Another connection to the site with a separate login, as a second process has it.
  func remote() throws -> any LogbookService {
    let login = RemoteLogin(
      address: try RemoteAddress("http://localhost", allowsPlainHTTP: false),
      token: try Token(firstLineOf: Array(token.utf8), origin: "test"), agent: "test")
    return try RemoteRegister.remote("nightscout", login, over: link)
  }

  @discardableResult
  func upload(
    _ name: String, _ change: (inout UploadOptions) -> Void = { _ in }
  ) async throws -> (ending: UploadEnding, summary: UploadSummary) {
    var options = UploadOptions()
    change(&options)
    let store = try store(name)
    runs += 1
    let (number, ids) = (runs, IDs())
    let session = UploadSession(
      store, try remote(), named: "site", options,
      UploadEnvironment(
        now: { Self.clock / 1000 + Int64(number) * 86_400 },
        makeID: { Digest.uuid(of: ["run", String(number), String(ids.next())]) }, jitter: { 0.5 }))
    return (try await session.run(), session.summary)
  }

  // MARK: The site

  /// Adds sensor entries to the site, one every five minutes, as another program uploads them.
  func addEntries(_ values: [Int64], from second: Int64 = start, device: String = "xDrip") {
    let phone = site.actAsPhoneApp()
    for (place, value) in values.enumerated() {
      let milliseconds = (second + Int64(place) * 300) * 1000
      phone.addEntry([
        "type": "sgv", "sgv": DocumentValue(value), "date": DocumentValue(milliseconds),
        "device": .string(device),
        "dateString": .string(Self.text(milliseconds)),
      ])
    }
  }

  func addTreatments(_ count: Int) {
    let phone = site.actAsPhoneApp()
    for place in 0..<count {
      phone.addTreatment([
        "eventType": "Note", "notes": "theirs",
        "created_at": .string(Self.text((Self.start + 7 + Int64(place) * 3600) * 1000)),
      ])
    }
  }

  static func text(_ milliseconds: Int64) -> String {
    "\(DeviceTime(seconds: milliseconds / 1000).text).\(String("00\(milliseconds % 1000)".suffix(3)))Z"
  }

  /// The number of valid entries on the site for each second and type.
  func entries() -> [String: Int] {
    var counts: [String: Int] = [:]
    for entry in site.documents("entries") where entry["isValid"] != false {
      let second = (entry["date"]?.number ?? 0) / 1000
      counts["\(Int64(second)) \(entry["type"]?.text ?? "")", default: 0] += 1
    }
    return counts
  }

  /// The number of valid treatments on the site.
  var treatments: Int { site.documents("treatments").count { $0["isValid"] != false } }
}

/// Makes readings as a sensor reports them.
extension SiteScene {
  static func sensor(
    _ values: [Double], from second: Int64 = start, unit: GlucoseUnit = .milligramsPerDecilitre
  )
    -> [Reading]
  {
    values.enumerated().map { place, value in
      Reading(
        device: DeviceIndex(0), kind: .cbg, at: DeviceTime(seconds: second + Int64(place) * 300),
        placement: Placement(utcOffset: 0, source: .stated), .value(Quantity(value, unit)), line: 1)
    }
  }
}

/// The connection to the site. The test chooses which requests fail.
final class SiteLink: HTTPTransport {
  /// What happens to a request: it is answered, it is lost, or its answer is lost.
  enum Outcome: Sendable {
    case carried
    case lost
    case answerLost
    /// Only this number of bytes of the answer arrives.
    case cut(Int)
  }

  private struct State {
    var count = 0
    var calls: [String] = []
    var sizes: [Int] = []
    var outcome: @Sendable (_ number: Int) -> Outcome = { _ in .carried }
  }

  private let wire: SiteWire
  private let state = Mutex(State())

  init(_ site: NightscoutStandIn) { wire = SiteWire(site: site) }

  /// The number of requests since the last reset.
  var count: Int { state.withLock { $0.count } }
  /// The method and path of each request since the last reset.
  var calls: [String] { state.withLock { $0.calls } }

  /// The size in bytes of each successful answer since the last reset.
  var sizes: [Int] { state.withLock { $0.sizes } }

  func reset(_ outcome: @escaping @Sendable (_ number: Int) -> Outcome = { _ in .carried }) {
    state.withLock { $0 = State(outcome: outcome) }
  }

  func send(_ request: ExchangeRequest) async throws(ServiceError) -> ExchangeAnswer {
    let outcome = state.withLock { state in
      state.count += 1
      state.calls.append(request.line)
      return state.outcome(state.count)
    }
    switch outcome {
    case .carried:
      let answer = try await wire.send(request)
      state.withLock { $0.sizes.append(answer.body.count) }
      return answer
    case .lost: throw .unavailable("the request was lost")
    case .answerLost:
      _ = try await wire.send(request)
      throw .unavailable("the answer was lost")
    case .cut(let bytes):
      var answer = try await wire.send(request)
      answer.body = Array(answer.body.prefix(bytes))
      return answer
    }
  }
}

/// Counts upwards, so that each id of a test is unique.
private final class IDs: Sendable {
  private let last = Atomic(0)
  func next() -> Int { last.add(1, ordering: .relaxed).newValue }
}
