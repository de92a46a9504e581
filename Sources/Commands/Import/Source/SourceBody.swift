// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Formats
import Glibc
import Ingest
import Logbook
import LogbookStore
import TemporaryFiles

/// The answer of a source. It is kept in a file without a name, which no other process can open.
struct SourceBody {
  let file: UnlinkedFile
  let name: String
  /// Whether it is certain that the source sent its whole answer.
  var isKnownWhole = false

  /// The first bytes of the answer, and whether they are the whole answer.
  func head() throws -> (bytes: [UInt8], isWhole: Bool) {
    let count = try file.size()
    var bytes = [UInt8](repeating: 0, count: min(count, ServiceProblem.maxBytes))
    try bytes.withUnsafeMutableBytes { try file.read($0, at: 0) }
    return (bytes, count == bytes.count)
  }

  /// The SHA-256 of the whole answer.
  func digest() throws -> String {
    var digest = Digest()
    let count = try file.size()
    var piece = [UInt8](repeating: 0, count: 256 << 10)
    var offset = 0
    while offset < count {
      let length = min(piece.count, count - offset)
      try piece.withUnsafeMutableBytes { buffer in
        let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<length])
        try file.read(part, at: offset)
        digest.update(UnsafeRawBufferPointer(part))
      }
      offset += length
    }
    return digest.hexadecimal()
  }

  /// Calls the closure with a reader for each export in the answer. An answer that is not an archive is one
  /// export.
  ///
  /// - Throws: `Failure` of category `badInput` if the answer has no export.
  func forEachReader(_ options: ExportOptions, _ body: (InputReader) throws -> Void) throws {
    let descriptor = try file.duplicate()
    guard lseek(descriptor, 0, SEEK_SET) == 0 else {
      close(descriptor)
      throw Failure(.inputOutput, "\(name): cannot read the answer")
    }
    let inputs = try ExportInputs(descriptor: descriptor, name: name, isInterrupted: options.isInterrupted)
    var isFound = false
    func open(_ inputs: ExportInputs) throws {
      for index in 0..<inputs.count {
        switch try inputs.open(index, options: options) {
        case .export(let reader):
          isFound = true
          try body(reader)
        case .spreadsheet(let sheets): try open(sheets)
        case .unread: continue
        }
      }
    }
    try open(inputs)
    guard isFound else {
      throw Failure(.badInput, "\(name): no member of the answer is an export that glucoport reads")
    }
  }
}

/// What the answer of a source contains. It is determined without storing anything.
struct SourceContents {
  /// The number of readings of each kind.
  private(set) var readings: [ReadingKind: Int] = [:]
  private(set) var records = 0
  private(set) var rejections = 0
  /// The instants of the oldest and the newest item in UTC seconds; nil if there is none.
  private(set) var period: ClosedRange<Int64>?
  /// The instants of the oldest and the newest sensor value in UTC seconds; nil if there is none.
  private(set) var values: ClosedRange<Int64>?
  /// Whether at least one time has no offset.
  private var usesZone = false
  /// Whether the answer states the zone of its logbook, as an export of a store does.
  private var statesZone = false
  private(set) var format = ""
  private(set) var firstName: String?
  private(set) var persons: [StatedPerson] = []
  /// How the answer ended: whole or truncated.
  private(set) var end = InputEnd.whole

  /// - Throws: `Failure`: `badInput` if the answer is not an export, `configuration` if it is of several
  ///   persons.
  init(_ body: SourceBody, _ options: ExportOptions) throws {
    try body.forEachReader(options) { try read($0) }
  }

  private mutating func read(_ reader: InputReader) throws {
    var (reader, batch, hasMore) = (reader, IngestBatch(), true)
    format = reader.format
    firstName = firstName ?? reader.statedFirstName
    while hasMore {
      hasMore = try reader.read(into: &batch)
      for reading in batch.readings { observe(reading) }
      for record in batch.records {
        records += 1
        usesZone = usesZone || record.placement.source.placesShownTime
        statesZone = statesZone || record.guid == LogbookZones.baseGuid
        observe(record.deviceTime.seconds - Int64(record.placement.utcOffset))
      }
      rejections += batch.rejections.count
      batch.removeItems()
    }
    persons += reader.statedPersons.filter { !persons.contains($0) }
    if case .whole = end { end = reader.end }
  }

  private mutating func observe(_ reading: Reading) {
    readings[reading.kind, default: 0] += 1
    usesZone = usesZone || reading.placement.source.placesShownTime
    let instant = reading.deviceTime.seconds - Int64(reading.placement.utcOffset)
    observe(instant)
    if reading.kind == .cbg, !reading.marks.contains(.doubtfulTime) {
      values = Self.extended(values, instant)
    }
  }

  private mutating func observe(_ instant: Int64) { period = Self.extended(period, instant) }

  private static func extended(_ range: ClosedRange<Int64>?, _ instant: Int64) -> ClosedRange<Int64> {
    guard let range else { return instant...instant }
    return min(range.lowerBound, instant)...max(range.upperBound, instant)
  }

  /// Whether the zone of the logbook is needed to determine the offsets of the times.
  var needsZone: Bool { usesZone && !statesZone }

  /// Whether the answer has neither items nor rejections.
  var isEmpty: Bool { readings.isEmpty && records == 0 && rejections == 0 }

  /// Lines about the person, the number of items and their period.
  ///
  /// - Parameter now: the host's clock in UTC seconds.
  func lines(now: Int64) -> [String] {
    var lines = [
      firstName.map { "person \(displayed($0))" } ?? "the answer names no person",
      "format \(SourceTitle.format(format))",
    ]
    var parts = ReadingKind.allCases.compactMap { kind in
      readings[kind].map { "\(kind.name) \(grouped($0))" }
    }
    if records > 0 { parts.append(counted(records, "record")) }
    if rejections > 0 { parts.append("\(grouped(rejections)) not readable") }
    lines.append(parts.isEmpty ? "no readings" : parts.joined(separator: " · "))
    if let period {
      let age = max(0, now - period.upperBound)
      let words =
        age < 7200 ? "\(age / 60) min" : age < 172_800 ? "\(age / 3600) h" : "\(age / 86400) days"
      lines.append(
        "\(instant(period.lowerBound)) … \(instant(period.upperBound)), the newest is \(words) old")
    }
    return lines
  }
}
