// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport show`: everything about one reading or record.
struct ShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show everything about one reading or record.",
    discussion: "'list --long' shows the ids. Of a record's id its first characters are enough.")

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The id of a reading or record.")
  var id: String

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.reader)
    if let reading = try store.reading(at: id) {
      try show(reading, store, output)
    } else {
      try show(record(store), store, output)
    }
    try output.finish()
  }

  private func record(_ store: Store) throws -> StoredRecord {
    let isGuidStart = id.count >= 4 && id.allSatisfy { $0.isHexDigit || $0 == "-" }
    let found = isGuidStart ? try store.records(guidPrefix: id.lowercased()) : []
    guard let record = found.first else {
      throw Failure(
        .missingInput, "\(id): there is no such reading or record; 'glucoport list --long' shows the ids")
    }
    guard found.count == 1 else {
      throw Failure(.usage, "\(id): \(found.count) records start so; give more of the id")
    }
    return record
  }

  private func show(_ reading: StoredReading, _ store: Store, _ output: Output) throws {
    let cells = ItemCells(.reading(reading))
    let revisions = try store.revisions(of: reading)
    if json {
      let others = revisions.map {
        "{\"value\":\(jsonText(value($0.measurement, $0.measurement.unit))),\"unit\":\"\($0.measurement.unit.name)\",\"ingest\":\($0.ingest)}"
      }
      return output.line(
        object(
          cells,
          more: [
            ("id", jsonText(reading.address)), ("ingest", String(reading.ingest)),
            ("uploaded", reading.isUploaded ? "true" : "false"),
            ("revisions", "[\(others.joined(separator: ","))]"),
          ]))
    }
    write(cells, output)
    output.line("ingest         \(reading.ingest)\(try source(of: reading.ingest, store))")
    output.line("uploaded       \(reading.isUploaded ? "yes" : "no")")
    for revision in revisions {
      output.line(
        "changed        \(value(revision.measurement, revision.measurement.unit)) \(revision.measurement.unit.name) in ingest \(revision.ingest)\(try source(of: revision.ingest, store))"
      )
    }
  }

  private func show(_ record: StoredRecord, _ store: Store, _ output: Output) throws {
    let cells = ItemCells(.record(record))
    if json {
      return output.line(
        object(
          cells,
          more: [
            ("version", String(record.version)), ("version_synced", String(record.versionSynced)),
            ("ingest", record.ingest.map(String.init) ?? "null"),
          ]))
    }
    write(cells, output)
    output.line("version        \(record.version), synced \(record.versionSynced)")
    if let ingest = record.ingest { output.line("ingest         \(ingest)\(try source(of: ingest, store))") }
  }

  private func object(_ cells: ItemCells, more: [(String, String)]) -> String {
    let members = ItemCells.names.compactMap { name in cells[name].map { "\"\(name)\":\($0.json)" } }
    return "{" + (members + more.map { "\"\($0.0)\":\($0.1)" }).joined(separator: ",") + "}"
  }

  private func write(_ cells: ItemCells, _ output: Output) {
    for name in ItemCells.names {
      guard let text = cells[name]?.text, !text.isEmpty else { continue }
      output.line(name + String(repeating: " ", count: 15 - name.count) + displayed(text))
    }
  }

  private func source(of ingest: Int64, _ store: Store) throws -> String {
    try store.ingest(ingest).map { ", \(displayed($0.source)) (\($0.format))" } ?? ""
  }
}
