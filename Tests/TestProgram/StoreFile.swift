// SPDX-License-Identifier: Apache-2.0

package import Foundation
import GRDB

/// A store that is read with SQLite, without the program's own code.
package struct StoreFile {
  private let queue: DatabaseQueue

  package init(_ path: String) throws {
    var configuration = Configuration()
    configuration.busyMode = .timeout(20)
    queue = try DatabaseQueue(path: path, configuration: configuration)
  }

  /// `ok`, or what is wrong with the file.
  package func integrity() throws -> String? {
    try queue.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
  }

  package func count(_ table: String) throws -> Int? {
    try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") }
  }

  /// All readings in order, each as a text of its columns except the ingest that added it.
  package func readings() throws -> [String] {
    let columns = [
      "vendor", "model", "serial", "kind", "position_kind", "position", "value_bucket", "occurrence",
      "device_time",
      "coalesce(stated_offset, derived_offset)", "offset_source", "ifnull(value, '')", "unit", "range_flag",
      "marks", "uploaded",
    ]
    let line = columns.joined(separator: " || '|' || ")
    return try queue.read {
      try String.fetchAll(
        $0,
        sql:
          "SELECT \(line) FROM reading JOIN series ON series.id = series JOIN device ON device.id = device "
          + "ORDER BY device, kind, position_kind, position, value_bucket, occurrence")
    }
  }

  /// The counts in the store, which must agree with the readings.
  package func counters() throws -> [String] {
    try queue.read {
      try String.fetchAll(
        $0,
        sql:
          "SELECT device || '|' || kind || '|' || position_kind || '|' || readings || '|' || pending FROM series ORDER BY 1"
      )
    }
  }

  package func execute(_ sql: String) throws {
    try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
  }
}

/// Every file below a folder with its mode and content.
package struct FolderListing: Equatable {
  private struct File: Equatable {
    let mode: Int
    let content: Data
  }

  private var files: [String: File] = [:]

  package init(_ folder: URL) throws {
    let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
    for name in names {
      let url = folder.appending(path: name)
      let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
      let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
      let content = try isFolder ? Data() : Data(contentsOf: url)
      files[name] = File(mode: attributes[.posixPermissions] as? Int ?? -1, content: content)
    }
  }
}

/// The permission bits of a file.
package func mode(of path: String) throws -> Int? {
  try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
}
