// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook

/// The readings, records and messages that a reader returns for an input.
struct TextExport {
  private(set) var readings: [Reading] = []
  private(set) var records: [ImportedRecord] = []
  private(set) var rejections: [Rejection] = []
  private(set) var skipped: [String: Int] = [:]
  private(set) var devices: [Device] = []
  let end: InputEnd
  let decisions: [Decision]
  let warnings: [String]
  let generatedAt: Int64?

  init(_ text: String, zone: String = "Europe/Madrid", change: (inout ExportOptions) -> Void = { _ in })
    throws
  {
    try self.init(bytes: Array(text.utf8), zone: zone, change: change)
  }

  init(bytes: [UInt8], zone: String = "Europe/Madrid", change: (inout ExportOptions) -> Void = { _ in })
    throws
  {
    let file = FileManager.default.temporaryDirectory.appending(path: "glucoport-test-\(UUID().uuidString)")
    try Data(bytes).write(to: file)
    defer { unlink(file.path) }
    var options = try Rendering.options(zone: zone)
    change(&options)
    var reader = try InputReader(path: file.path, options: options)
    var batch = IngestBatch()
    var isOpen = true
    while isOpen {
      isOpen = try reader.read(into: &batch)
      readings += batch.readings
      records += batch.records
      rejections += batch.rejections
      skipped.merge(batch.skipped, uniquingKeysWith: +)
      batch.removeItems()
    }
    devices = batch.devices
    end = reader.end
    decisions = reader.decisions
    warnings = reader.warnings
    generatedAt = reader.generatedAt
  }

  /// The bytes of a sample, by its path below `Samples`.
  static func sample(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: Repository.samples.appending(path: path)))
  }

  /// Lengths to which a test truncates an export: every length within the last 160 bytes, and every 17th
  /// length before them, after the header.
  static func cuts(of bytes: [UInt8]) -> [Int] {
    let start = (bytes.firstIndex(of: 0x0A) ?? 0) + 1
    return (start..<bytes.count).filter { $0 > bytes.count - 160 || $0 % 17 == 0 }
  }

  var isTruncated: Bool { end != .whole }

  /// Each reading in one line: its device, its transmitter time or shown time, and its value.
  var readingTexts: Set<String> {
    Set(
      readings.map { reading in
        let device = devices[Int(reading.device.number)]
        let value = reading.measurement.quantity.map { plainNumber($0.number) } ?? "beyond"
        let name = device.serial.isEmpty ? device.model : device.serial
        let place = "\(reading.positionKind.name) \(reading.position) \(reading.deviceTime.text)"
        return "\(name) \(reading.kind.name) \(place) \(value)"
      })
  }

  /// Each record in one line: kind, time and fields.
  var recordTexts: Set<String> {
    Set(records.map { "\($0.kind.rawValue) \($0.deviceTime.text) \($0.fields.json)" })
  }

  func decision(_ subject: String) -> String? {
    decisions.first { $0.subject == subject }.map { "\($0.value) (\($0.basis.rawValue))" }
  }
}
