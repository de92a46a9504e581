// SPDX-License-Identifier: Apache-2.0

package import Formats
package import Foundation
import Logbook

/// The result of an export reader as lines of JSON: the decisions, then every item in the input's order.
package enum Rendering {
  /// Options with a stopped clock.
  package static func options(zone: String = "Europe/Madrid") throws -> ExportOptions {
    // The current time is fixed to 2026-11-21T00:00:00Z, so that the same readings are in the future in each
    // run.
    try ExportOptions(zone: LogbookZone(name: zone), now: 1_795_219_200)
  }

  /// The options in the `.options` file of a sample: words such as `--unit mg/dL`.
  package static func options(besides file: URL) throws -> ExportOptions {
    var options = try options()
    let path = file.path + ".options"
    guard FileManager.default.fileExists(atPath: path) else { return options }
    let words = try String(contentsOfFile: path, encoding: .utf8).split(whereSeparator: \.isWhitespace)
    try apply(words.map(String.init), to: &options)
    return options
  }

  /// Sets options from the words of a command line, such as `--unit mg/dL`.
  ///
  /// - Throws: `Failure` of category `usage` for a word that is not an option of an input.
  package static func apply(_ words: [String], to options: inout ExportOptions) throws {
    for index in stride(from: 0, to: words.count - 1, by: 2) {
      let value = words[index + 1]
      switch words[index] {
      case "--unit": options.unit = GlucoseUnit(name: value)
      case "--date-order": options.dateOrder = value
      case "--format": options.format = value
      case "--device": options.device = value
      case "--timezone": options.zone = try LogbookZone(name: value)
      case "--map":
        for pair in ColumnPairs.parse(value) ?? [] { options.columns[pair.name] = pair.value }
      case "--where":
        options.rows += (ColumnPairs.parse(value) ?? []).map { RowFilter(column: $0.name, value: $0.value) }
      case "--kind": options.kind = ReadingKind(name: value)
      default: throw Failure(.usage, "no option \(words[index])")
      }
    }
  }

  /// The summary, then every item of a file.
  package static func lines(of file: URL, options: ExportOptions) throws -> [String] {
    var reader = try InputReader(path: file.path, options: options)
    return try lines(from: &reader)
  }

  /// The summary, then every item of a reader.
  package static func lines(from reader: inout InputReader) throws -> [String] {
    var lines: [String] = []
    var batch = IngestBatch()
    var skipped: [String: Int] = [:]
    var isOpen = true
    while isOpen {
      isOpen = try reader.read(into: &batch)
      lines += batch.readings.map { line($0, batch.devices) }
      lines += batch.records.map(line)
      lines += batch.rejections.map { #"{"rejected":\#($0.line),"reason":\#(jsonText($0.reason))}"# }
      skipped.merge(batch.skipped, uniquingKeysWith: +)
      batch.removeItems()
    }
    let decisions = reader.decisions.map {
      #""\#($0.subject)":\#(jsonText("\($0.value) (\($0.basis.rawValue))"))"#
    }
    let counts = skipped.keys.sorted().map { "\(jsonText($0)):\(skipped[$0] ?? 0)" }
    var summary =
      #"{"decisions":{\#(decisions.joined(separator: ","))},"skipped":{\#(counts.joined(separator: ","))}"#
    switch reader.end {
    case .whole: break
    case .truncated(_, let detail), .unterminated(_, let detail):
      summary += #","truncated":\#(jsonText(detail))"#
    }
    if let time = reader.generatedAt {
      summary += #","generated_at":\#(jsonText(DeviceTime(seconds: time).text))"#
    }
    if !reader.warnings.isEmpty {
      summary += #","warnings":[\#(reader.warnings.map(jsonText).joined(separator: ","))]"#
    }
    return [summary + "}"] + lines
  }

  private static func line(_ reading: Reading, _ devices: [Device]) -> String {
    let device = devices[Int(reading.device.number)]
    var members = [
      #""kind":"\#(reading.kind.name)""#, #""time":"\#(reading.deviceTime.text)""#,
      #""offset":"\#(DeviceTime.offsetText(reading.placement.utcOffset)) \#(reading.placement.source.name)""#,
    ]
    switch reading.measurement {
    case .value(let quantity): members.append(#""value":\#(plainNumber(quantity.number))"#)
    case .low(let limit, _): members.append(#""low":\#(limit.map { plainNumber($0) } ?? "null")"#)
    case .high(let limit, _): members.append(#""high":\#(limit.map { plainNumber($0) } ?? "null")"#)
    }
    members.append(#""unit":"\#(reading.measurement.unit.name)""#)
    members.append(
      #""device":\#(jsonText([device.vendor, device.model, device.serial].joined(separator: "|")))"#)
    if reading.positionKind == .tick { members.append(#""tick":\#(reading.position)"#) }
    if reading.occurrence > 0 { members.append(#""occurrence":\#(reading.occurrence)"#) }
    if !reading.marks.isEmpty {
      members.append(#""marks":\#(jsonText(reading.marks.names.joined(separator: " ")))"#)
    }
    return #"{"line":\#(reading.line),"# + members.joined(separator: ",") + "}"
  }

  private static func line(_ record: ImportedRecord) -> String {
    var members = [
      #""record":"\#(record.kind.rawValue)""#, #""time":"\#(record.deviceTime.text)""#,
      #""offset":"\#(DeviceTime.offsetText(record.placement.utcOffset)) \#(record.placement.source.name)""#,
      #""fields":\#(record.fields.json)"#,
    ]
    if !record.owner.isEmpty { members.append(#""owner":\#(jsonText(record.owner))"#) }
    if !record.source.isEmpty { members.append(#""source":\#(jsonText(record.source))"#) }
    if !record.sourceID.isEmpty { members.append(#""source_id":\#(jsonText(record.sourceID))"#) }
    if !record.entrySourceID.isEmpty {
      members.append(#""entry_source_id":\#(jsonText(record.entrySourceID))"#)
    }
    if let guid = record.guid { members.append(#""guid":\#(jsonText(guid))"#) }
    if let provenance = record.provenance { members.append(#""provenance":\#(provenance.json)"#) }
    if record.deleted { members.append(#""deleted":true"#) }
    if record.isDeletedAtSource { members.append(#""deleted_at_source":true"#) }
    return #"{"line":\#(record.line),"# + members.joined(separator: ",") + "}"
  }
}
