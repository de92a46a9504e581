// SPDX-License-Identifier: Apache-2.0

import GRDB
package import Logbook

/// What is known about an input when its ingest begins.
package struct IngestSource: Sendable {
  /// The prefix of `name` for imports by `fetch`. After it, `name` has the name of the source.
  package static let fetched = "source "

  /// The path of the file, `-` for standard input, the name of a meter, or `fetched` and the name of a
  /// source.
  package let name: String
  /// The id of the format.
  package let format: String
  /// When the ingest began, by the host's clock in UTC seconds.
  package let startedAt: Int64
  /// When the file was last written, in UTC seconds; nil for other inputs.
  package let modifiedAt: Int64?
  /// The decisions that were made before the first batch.
  package let decisions: [Decision]
  /// Whether the ingest may buffer readings, and store them at the end of the input in the order of time.
  /// True for a file; false for a pipe or a meter, whose readings should appear at once.
  package let mayWait: Bool
  /// Whether the ingest shows the items again that a withdrawal of the same input hides, as with `--again`.
  package let restoresWithdrawn: Bool
  /// The zone for times without a stated offset; nil if the offsets in the input were already derived by
  /// another store.
  package let zone: InputZone?

  /// Whether a person stated that the input is of the store's person. If so, the input's statements about its
  /// person are not checked.
  package let acceptsPerson: Bool
  /// What the input states about its person.
  package let persons: [StatedPerson]
  /// Whether the input is an export of another program, whose sensor values may be those of another person.
  package let isExport: Bool
  /// Whether the input is another store. If so, its items are not noted as items that an import of this store
  /// contained.
  package let isMerge: Bool
  /// Whether the source is known to repeat rows, so that equal rows need no warning.
  package let repeatsRows: Bool
  /// The numbers of the imports of other sheets of the same workbook in this run; nil if the input is not a
  /// sheet.
  package let earlierSheets: [Int64]?

  /// An input at the moment when its ingest begins.
  package init(
    name: String, format: String, startedAt: Int64, modifiedAt: Int64?, decisions: [Decision],
    mayWait: Bool = false, restoresWithdrawn: Bool = false, zone: InputZone? = nil,
    acceptsPerson: Bool = false,
    persons: [StatedPerson] = [], isExport: Bool = false, isMerge: Bool = false, repeatsRows: Bool = false,
    earlierSheets: [Int64]? = nil
  ) {
    (self.isExport, self.isMerge) = (isExport, isMerge)
    (self.repeatsRows, self.earlierSheets) = (repeatsRows, earlierSheets)
    self.acceptsPerson = acceptsPerson
    self.persons = persons
    self.name = name
    self.format = format
    self.startedAt = startedAt
    self.modifiedAt = modifiedAt
    self.decisions = decisions
    self.mayWait = mayWait
    self.restoresWithdrawn = restoresWithdrawn
    self.zone = zone
  }
}

extension IngestSource {
  /// The part of an error message that states what a person can do if the sensor values are not those of the
  /// stored sensors.
  var adviceOnOtherSensor: String {
    let file = name.shellWord
    if isFetched {
      return "If the source is of the person of this store, set it again with --accept-person"
    }
    let others = "if they are another person's, with --person NAME \(file)"
    return isTable
      ? "If they are yours, import them as those of a device with --device NAME \(file); \(others)"
      : "If they are yours, such as those of a sensor that failed, import them with --yes \(file); \(others)"
  }

  /// Whether the input is the answer of a source of `fetch`.
  var isFetched: Bool { name.hasPrefix(Self.fetched) }

  /// The number of characters of the colon and the sheet's name at the end of `name`; 0 if the input is not a
  /// sheet.
  var sheetNameLength: Int64 {
    guard earlierSheets != nil, let colon = name.lastIndex(of: ":") else { return 0 }
    return Int64(name[colon...].unicodeScalars.count)
  }

  /// Whether the input is a table, which may name no device.
  var isTable: Bool { format == Device.ofUnknownTable.format }
}

extension Store {
  /// Runs one ingest: `body` writes its batches and finishes it.
  ///
  /// - Parameter isAtomic: whether everything is committed in one transaction at the end.
  package func ingest(
    _ source: IngestSource, isAtomic: Bool, _ body: (IngestWriter) throws -> Void
  ) throws {
    try translatingErrors(path) {
      try queue.inDatabase { database in
        let writer = try IngestWriter(database, batch, source, isAtomic: isAtomic)
        do {
          try body(writer)
        } catch {
          writer.abandon()
          throw error
        }
      }
    }
  }
}
