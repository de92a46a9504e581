// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The items that a format reads from one row. They are compared with those from a variant of the row.
struct RowItems: Equatable {
  struct ReadingItem: Equatable {
    let kind: ReadingKind
    let positionKind: PositionKind
    let position: Int64
    let time: DeviceTime
    let placement: Placement
    let marks: ReadingMarks
    let measurement: Measurement
    var device: Device?
  }

  struct RecordItem: Equatable {
    let kind: RecordKind
    let time: DeviceTime
    let placement: Placement
    var fields: RecordFields
    var identity: [String]
    let deleted: Bool
  }

  private(set) var readings: [ReadingItem] = []
  private(set) var records: [RecordItem] = []
  /// Whether the row is rejected, or is not a row of the format.
  private(set) var isRefused = false
  /// Whether the row is a header.
  private(set) var isHeader = false

  var isEmpty: Bool { readings.isEmpty && records.isEmpty }
  /// The kinds of the row's items. Rows with equal kinds count as rows of one kind.
  var kinds: [String] { readings.map(\.kind.name) + records.map(\.kind.rawValue) }

  /// The items from one line of a batch.
  init(_ verdict: RowVerdict, _ batch: IngestBatch, line: Int64) {
    switch verdict {
    case .data: isRefused = !batch.rejections.isEmpty
    case .header: isHeader = true
    case .truncated, .unknown: isRefused = true
    }
    for reading in batch.readings where reading.line == line {
      readings.append(
        ReadingItem(
          kind: reading.kind, positionKind: reading.positionKind, position: reading.position,
          time: reading.deviceTime, placement: reading.placement, marks: reading.marks,
          measurement: reading.measurement, device: batch.devices[Int(reading.device.number)]))
    }
    for record in batch.records where record.line == line {
      records.append(
        RecordItem(
          kind: record.kind, time: record.deviceTime, placement: record.placement, fields: record.fields,
          identity: [
            record.owner, record.source, record.sourceID, record.entrySourceID, record.guid ?? "",
            record.entryGuid ?? "", record.provenance.map { "\($0)" } ?? "",
          ], deleted: record.deleted || record.isDeletedAtSource))
    }
  }

  /// The items without the names of devices, accounts and records.
  var withoutIdentity: RowItems {
    var other = self
    for index in readings.indices { other.readings[index].device = nil }
    for index in records.indices { other.records[index].identity = [] }
    return other
  }

  /// The items without free text.
  var withoutText: RowItems {
    var other = self
    for index in other.records.indices { other.records[index].fields["text"] = nil }
    other.records.removeAll { $0.kind == .note || $0.fields.values.isEmpty }
    return other
  }
}

/// Copies of the cells of a row, so that one of them can be replaced.
struct CellCopies {
  struct Cell: Equatable {
    var bytes: [UInt8] = []
    var shape = Field.Shape.bare
  }

  var cells: [Cell]
  let line: Int64
  private var source: [UInt8]

  init(_ row: Row) {
    cells = row.fields.map { Cell(bytes: Array($0.bytes), shape: $0.shape) }
    line = row.line
    source = Array(row.source)
  }

  /// The bytes of a cell; empty if the row has no such cell.
  subscript(column: Int) -> [UInt8] { column < cells.count ? cells[column].bytes : [] }

  /// The row with other bytes in its last cell.
  func replacingLast(by bytes: [UInt8]) -> CellCopies {
    guard let last = cells.last else { return self }
    var other = self
    other.cells[cells.count - 1].bytes = bytes
    // Some formats read an unquoted text from the source of its row.
    let end = (source.lastIndex { $0 != 0x20 } ?? -1) + 1
    if source[..<end].suffix(last.bytes.count) == last.bytes[...] {
      other.source = source[..<end].dropLast(last.bytes.count) + bytes
    }
    return other
  }

  /// Calls `body` with these cells as a row that has a line end.
  func withRow<Result>(_ body: (Row) -> Result) -> Result {
    // A byte is added, since an empty array has no address.
    let bytes = cells.flatMap(\.bytes) + [0]
    return bytes.withUnsafeBufferPointer { bytes in
      var fields: [Field] = []
      var start = 0
      for cell in cells {
        let part = UnsafeBufferPointer(rebasing: bytes[start..<start + cell.bytes.count])
        fields.append(
          part.baseAddress.map { Field(start: $0, count: part.count, shape: cell.shape) } ?? .absent)
        start += cell.bytes.count
      }
      return fields.withUnsafeBufferPointer { fields in
        source.withUnsafeBufferPointer { source in
          body(Row(fields: fields, line: line, isUnterminated: false, source: source))
        }
      }
    }
  }
}
