// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Rebuilds readings from the parts of identity in a glucoport export. The parts are found by the names of
/// the columns of a row.
///
/// Documents of another format may contain these parts as well, in a separate object whose name is the
/// prefix.
struct GlucoportIdentity {
  enum RebuiltReading {
    case reading(Reading)
    case rejected(String)
  }

  private var places: [Int]
  private let isTable: Bool
  private var devices: [(parts: [[UInt8]], index: DeviceIndex)] = []
  private var last = 0

  /// - Parameters:
  ///   - columns: the names of the row's columns, from the layout or the header.
  ///   - prefix: the text before each name, such as `glucoport.`.
  ///   - isTable: whether texts were protected against spreadsheets.
  init(columns: [String], prefix: String = "", isTable: Bool = false) {
    places = GlucoportColumn.allCases.map { columns.firstIndex(of: prefix + $0.name) ?? -1 }
    self.isTable = isTable
  }

  /// Whether the required columns exist.
  var isComplete: Bool {
    [GlucoportColumn.kind, .deviceTime, .utcOffset, .offsetSource, .positionKind, .position].allSatisfy {
      index(of: $0) >= 0
    }
  }

  @inline(__always) func index(of column: GlucoportColumn) -> Int { places[column.rawValue] }

  @inline(__always) func field(_ column: GlucoportColumn, of row: Row) -> Field {
    row[places[column.rawValue]]
  }

  /// The reading of a row.
  ///
  /// - Parameter measurement: a value stated elsewhere in the row; nil to read it from these columns.
  mutating func reading(
    from row: Row, measurement stated: Measurement? = nil, into out: inout BatchBuilder
  ) -> RebuiltReading {
    guard let kind = kind(field(.kind, of: row)) else {
      return .rejected("unknown kind of reading")
    }
    guard let (deviceTime, placement) = time(of: row) else { return .rejected(Self.badTime) }
    guard let measurement = stated ?? measurement(of: row) else {
      return .rejected("invalid value, unit or range")
    }
    guard let marks = marks(field(.marks, of: row)) else { return .rejected("unknown mark") }
    guard let position = field(.position, of: row).integer else {
      return .rejected("the position is not a number")
    }
    var reading = Reading(
      device: device(of: row, in: &out), kind: kind, at: deviceTime, placement: placement, measurement,
      marks: marks, line: row.line)
    let positionKind = field(.positionKind, of: row)
    if positionKind.equals("tick") {
      reading.positionKind = .tick
      reading.position = position
    } else if !positionKind.equals("time") || position != deviceTime.seconds || placement.source == .instant {
      return .rejected("unknown position_kind, or the position is not the device time")
    }
    return finish(&reading, row)
  }

  private func finish(_ reading: inout Reading, _ row: Row) -> RebuiltReading {
    let occurrence = field(.occurrence, of: row)
    if !occurrence.isEmpty {
      guard let number = occurrence.integer, let small = Int32(exactly: number), small >= 0 else {
        return .rejected("the occurrence is not a number")
      }
      reading.occurrence = small
    }
    reading.occurrenceIsStated = true
    let valueBucket = field(.valueBucket, of: row)
    guard valueBucket.isEmpty || valueBucket.integer == reading.valueBucket else {
      return .rejected("the value_bucket does not match the value")
    }
    return .reading(reading)
  }

  static let badTime = "invalid time, offset or offset source"

  /// The shown time and its placement.
  func time(of row: Row) -> (DeviceTime, Placement)? {
    guard let shown = field(.deviceTime, of: row).yearFirstTime, shown.utcOffset == nil,
      let offset = field(.utcOffset, of: row).writtenOffset,
      let source = Self.source(field(.offsetSource, of: row))
    else { return nil }
    return (shown.deviceTime, Placement(utcOffset: offset, source: source))
  }

  private static func source(_ field: Field) -> OffsetSource? {
    if field.equals("stated") { return .stated }
    if field.equals("zone") { return .zone }
    if field.equals("ticks") { return .ticks }
    if field.equals("instant") { return .instant }
    if field.equals("zone-gap") { return .zoneGap }
    return field.equals("zone-overlap") ? .zoneOverlap : nil
  }

  private func kind(_ field: Field) -> ReadingKind? {
    if field.equals("cbg") { return .cbg }
    if field.equals("smbg") { return .smbg }
    if field.equals("scan") { return .scan }
    return field.equals("ketone") ? .ketone : nil
  }

  private func measurement(of row: Row) -> Measurement? {
    let unitField = field(.unit, of: row)
    let unit: GlucoseUnit
    if unitField.equals("mg/dL") {
      unit = .milligramsPerDecilitre
    } else if unitField.equals("mmol/L") {
      unit = .millimolesPerLitre
    } else {
      return nil
    }
    let range = field(.range, of: row)
    if range.isEmpty {
      return number(field(.value, of: row)).map { .value(Quantity($0, unit)) }
    }
    let threshold = field(.threshold, of: row)
    let limit = number(threshold)
    guard threshold.isEmpty || limit != nil, field(.value, of: row).isEmpty else { return nil }
    if range.equals("low") { return .low(below: limit, unit) }
    return range.equals("high") ? .high(above: limit, unit) : nil
  }

  private func number(_ field: Field) -> Double? {
    guard let number = field.jsonNumber, PlausibleAmounts.stated.contains(number) else { return nil }
    return number
  }

  private func marks(_ field: Field) -> ReadingMarks? {
    field.isEmpty ? [] : ReadingMarks(names: field.text.split(separator: " "))
  }
}

// MARK: - Devices

extension GlucoportIdentity {
  private static let parts: [GlucoportColumn] = [.vendor, .model, .serial, .format]

  /// The device of a row, with the format that the row states for it. This format is a part of the device's
  /// identity.
  private mutating func device(of row: Row, in out: inout BatchBuilder) -> DeviceIndex {
    if last < devices.count, isSame(devices[last].parts, row) { return devices[last].index }
    for place in devices.indices where isSame(devices[place].parts, row) {
      last = place
      return devices[place].index
    }
    let index = out.device(
      Device(
        vendor: text(.vendor, of: row), model: text(.model, of: row), serial: text(.serial, of: row),
        format: field(.format, of: row).text))
    if devices.count == 64 { devices.removeAll(keepingCapacity: true) }
    last = devices.count
    devices.append((Self.parts.map { Array(field($0, of: row).bytes) }, index))
    return index
  }

  @inline(__always) private func isSame(_ parts: [[UInt8]], _ row: Row) -> Bool {
    field(.serial, of: row).hasSameBytes(as: parts[2]) && field(.model, of: row).hasSameBytes(as: parts[1])
      && field(.vendor, of: row).hasSameBytes(as: parts[0])
      && field(.format, of: row).hasSameBytes(as: parts[3])
  }

  private func text(_ column: GlucoportColumn, of row: Row) -> String {
    let field = field(column, of: row)
    if field.shape == .composite { return field.openedText }
    let text = field.text
    return isTable ? GlucoportColumns.unguarding(text) : text
  }
}

extension Field {
  /// The offset in `Z`, `±hh:mm` or `±hh:mm:ss`, as written by `DeviceTime.offsetText`, in seconds east of
  /// Greenwich.
  fileprivate var writtenOffset: Int32? {
    if equals("Z") { return 0 }
    guard count == 6 || count == 9, start[0] == UInt8(ascii: "+") || start[0] == UInt8(ascii: "-"),
      start[3] == UInt8(ascii: ":"), count == 6 || start[6] == UInt8(ascii: ":"),
      let hours = twoDigits(1), let minutes = twoDigits(4), let seconds = count == 9 ? twoDigits(7) : 0,
      hours < 24, minutes < 60, seconds < 60
    else { return nil }
    let size = hours * 3600 + minutes * 60 + seconds
    return start[0] == UInt8(ascii: "-") ? -size : size
  }

  private func twoDigits(_ index: Int) -> Int32? {
    let (tens, ones) = (start[index] &- 0x30, start[index + 1] &- 0x30)
    return tens <= 9 && ones <= 9 ? Int32(tens) * 10 + Int32(ones) : nil
  }
}

/// Records of a glucoport export, with their identity.
extension GlucoportIdentity {
  /// The reason why a record cannot be rebuilt. It contains none of the record's values.
  struct Reason: Error {
    let text: String
  }

  /// The record of a row.
  ///
  /// - Parameter guid: the identity of the record, which another format may state elsewhere.
  func record(from row: Row, guid: Field) -> Result<ImportedRecord, Reason> {
    guard let kind = RecordKind(rawValue: field(.kind, of: row).text) else {
      return .failure(Reason(text: "a kind that is not 1 to 32 lower-case letters and hyphens"))
    }
    guard let (time, placement) = time(of: row) else {
      return .failure(Reason(text: Self.badTime))
    }
    let entry = field(.entryGuid, of: row)
    guard Self.isGuid(guid), entry.isEmpty || Self.isGuid(entry) else {
      return .failure(Reason(text: "invalid guid"))
    }
    guard let fields = RecordFields(json: field(.fields, of: row)) else {
      return .failure(
        Reason(text: "the fields are not a JSON object of numbers, texts, flags and lists of words"))
    }
    if let fault = fields.fault { return .failure(Reason(text: fault)) }
    guard let provenance = provenance(of: row) else {
      return .failure(Reason(text: "the provenance is not a JSON object of a format and a source"))
    }
    let deleted = field(.deleted, of: row)
    guard deleted.isEmpty || Self.flag(deleted) != nil else {
      return .failure(Reason(text: "'deleted' is neither true nor false"))
    }
    var record = ImportedRecord(kind: kind, at: time, placement: placement, fields: fields, line: row.line)
    record.guid = guid.text
    record.entryGuid = entry.isEmpty ? nil : entry.text
    record.provenance = provenance
    record.deleted = Self.flag(deleted) ?? false
    // A tombstone may have no fields. Then there is nothing to check.
    if !record.deleted || !fields.values.isEmpty, let fault = kind.details?.fault(in: fields) {
      return .failure(Reason(text: fault))
    }
    return .success(record)
  }

  /// The provenance. The inner optional is nil if the provenance is unknown, the outer one if the cell is
  /// invalid.
  private func provenance(of row: Row) -> Provenance?? {
    let field = field(.provenance, of: row)
    if field.isEmpty { return .some(nil) }
    do throws(JSONError) {
      return .some(try Provenance(json: String(decoding: field.bytes, as: UTF8.self)))
    } catch {
      return nil
    }
  }

  static func flag(_ field: Field) -> Bool? {
    if field.equals("true") { return true }
    return field.equals("false") ? false : nil
  }

  /// Whether the text can be the guid of a record, also of another program: printable ASCII without blanks.
  private static func isGuid(_ field: Field) -> Bool {
    field.count > 0 && field.count <= 128 && field.bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }
}

extension RecordFields {
  /// The fields of a record in a cell with a JSON object, of any size; nil for any other text.
  init?(json field: Field) {
    do throws(JSONError) {
      self = try RecordFields(uncheckedJSON: String(decoding: field.bytes, as: UTF8.self))
    } catch {
      return nil
    }
  }
}
