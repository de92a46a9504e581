// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookStore
import Simulation
import Testing

@testable import Sync

/// Two nodes and a server for a test. Their stores and the server's storage are real, but there is no
/// network.
final class Scene {
  let server: SimulatedServer
  let a: SimulatedNode
  let b: SimulatedNode
  private let folder: URL
  private static let template = Task { try await Template() }

  init() async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "glucoport-sync-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let template = try await Self.template.value
    server = try SimulatedServer(template, folder: folder.path + "/server")
    var nodes: [SimulatedNode] = []
    for seed in 1...2 {
      let remote = FaultyRemote(server)
      await remote.setPage(1000)
      nodes.append(
        try await SimulatedNode(
          template, path: "\(folder.path)/\(seed).db", server, remote, seed: UInt64(seed)))
    }
    (a, b) = (nodes[0], nodes[1])
  }

  /// Makes a third node that syncs with the same server.
  func another(seed: UInt64) async throws -> SimulatedNode {
    let remote = FaultyRemote(server)
    await remote.setPage(1000)
    return try await SimulatedNode(
      Self.template.value, path: "\(folder.path)/\(seed).db", server, remote, seed: seed)
  }

  deinit {
    do {
      try FileManager.default.removeItem(at: folder)
    } catch {
      // If the folder remains in the temporary folder, it affects no test.
    }
  }

  /// Adds a record with the texts `a` and `b`, and syncs it to both nodes.
  func sharedNote() async throws -> String {
    let guid = try a.add(["a": "1", "b": "1"])
    try await upload(a, b)
    return guid
  }

  func upload(_ nodes: SimulatedNode...) async throws {
    for node in nodes { try await node.upload() }
  }

  /// The state of a record on the server; nil if the server does not have it.
  func held(_ guid: String) async throws -> RecordState? {
    try await server.everything().records.first { $0.guid == guid }?.state
  }
}

extension SimulatedNode {
  @discardableResult
  func upload(
    _ change: (inout UploadOptions) -> Void = { _ in }
  ) async throws -> (ending: UploadEnding?, summary: UploadSummary) {
    var options = UploadOptions()
    change(&options)
    clock += 86_400
    try beginUpload(options)
    let run = session
    for _ in 0..<500 {
      if let ending = try await stepUpload() { return (ending, run?.summary ?? UploadSummary()) }
    }
    return (nil, run?.summary ?? UploadSummary())
  }

  func add(_ texts: [String: String], to entry: String? = nil) throws -> String {
    let guid = UUID().uuidString.lowercased()
    var draft = RecordDraft(
      kind: .note, at: DeviceTime(seconds: 1000), placement: Placement(utcOffset: 3600, source: .zone),
      fields: RecordFields(texts.mapValues { .text($0) }))
    draft.entryGuid = entry
    _ = try editor().add(draft, guid: guid)
    return guid
  }

  func edit(_ guid: String, _ field: String, _ text: String) throws {
    _ = try editor().edit(guid) { $0.fields[field] = .text(text) }
  }

  func delete(_ guid: String) throws { _ = try editor().delete(guid) }

  func resolve(_ guid: String, _ resolution: Resolution) throws {
    let resolver = try resolver()
    _ = try resolver.resolve(resolver.conflict(of: guid), resolution, at: clock)
  }

  func record(_ guid: String) throws -> SyncRecord {
    try #require(try sync().sync { try $0.record(guid) })
  }

  func text(_ guid: String, _ field: String) throws -> String? {
    if case .text(let text)? = try record(guid).state.fields[field] { text } else { nil }
  }

  /// Imports a sensor reading for each number in `places`. The readings of consecutive numbers are five
  /// minutes apart.
  func importReadings(_ places: Range<Int64>, value: Double = 100) throws {
    var batch = IngestBatch()
    batch.devices = [Device(vendor: "Maker", model: "M", serial: "S", format: "test")]
    batch.readings = places.map { place in
      Reading(
        device: DeviceIndex(0), kind: .cbg, at: DeviceTime(seconds: 1_700_000_000 + 300 * place),
        placement: Placement(utcOffset: 3600, source: .zone),
        .value(Quantity(value, .milligramsPerDecilitre)), line: 1)
    }
    try ingest(batch, generatedAt: nil)
  }

  /// Imports an export of a diary with one row. The row has an id.
  func importDiary(
    carbs: Double, generatedAt: Int64, digest: String = "",
    _ change: (inout ImportedRecord) -> Void = { _ in }
  ) throws {
    var batch = IngestBatch()
    var row = ImportedRecord(
      kind: .food, at: DeviceTime(seconds: 1000), placement: Placement(utcOffset: 3600, source: .zone),
      fields: RecordFields(["carbs": .number(carbs)]), sourceID: "row", line: 1)
    change(&row)
    batch.records = [row]
    try ingest(batch, generatedAt: generatedAt, digest: digest)
  }

  func ingest(_ batch: IngestBatch, generatedAt: Int64?, digest: String = "") throws {
    let source = IngestSource(name: "-", format: "test", startedAt: clock, modifiedAt: nil, decisions: [])
    try importer().ingest(source, isAtomic: false) { writer in
      try writer.write(batch)
      try writer.finish(
        end: .whole, digest: digest, generatedAt: generatedAt, finishedAt: clock, decisions: [])
    }
  }

  func pendingReadings() throws -> Int {
    try sync().sync { try $0.pendingReadings(after: nil, limit: 100_000).keys.count }
  }

  func stepUntil(_ isReached: (UploadStep) -> Bool) async throws {
    try beginUpload(UploadOptions())
    for _ in 0..<100 {
      guard let next = session?.nextStep, !isReached(next) else { return }
      try await stepUpload()
    }
  }
}

extension Scene {
  /// Another installation that uses a copy of the files of `node`.
  ///
  /// - Parameter number: distinguishes the copies if there are several.
  func copy(of node: SimulatedNode, number: UInt64 = 0) async throws -> SimulatedNode {
    let path = node.path + "-copy" + (number == 0 ? "" : "\(number)")
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: node.path + suffix) {
      try FileManager.default.copyItem(atPath: node.path + suffix, toPath: path + suffix)
    }
    let remote = FaultyRemote(server)
    await remote.setPage(1000)
    return SimulatedNode(at: path, remote, seed: 3 + number)
  }
}
