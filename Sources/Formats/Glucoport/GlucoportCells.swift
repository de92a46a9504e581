// SPDX-License-Identifier: Apache-2.0

import Logbook

/// An item's cells by column: the text for CSV, and the value for JSON.
package struct GlucoportCells: Sendable {
  enum Cell: Sendable {
    /// Items of this kind do not have the column.
    case absent
    /// This item has nothing there.
    case null
    case text(String)
    /// A number, a flag or an object, as it is written in JSON.
    case literal(String)

    init(_ text: String?) { self = text.map(Self.text) ?? .null }
    init(number: String?) { self = number.map(Self.literal) ?? .null }
    init(_ flag: Bool) { self = .literal(flag ? "true" : "false") }

    var text: String {
      switch self {
      case .absent, .null: ""
      case .text(let text), .literal(let text): text
      }
    }

    var isAbsent: Bool { if case .absent = self { true } else { false } }
  }

  /// Each column's name as a JSON key.
  private static let keys = GlucoportColumn.allCases.map { Array("\"\($0.name)\":".utf8) }

  private var cells = [Cell](repeating: .absent, count: GlucoportColumn.allCases.count)

  /// - Parameter inBothUnits: whether the columns are filled that hold the value in one unit, whatever the source gave.
  package init(_ item: GlucoportItem, inBothUnits: Bool = false) {
    switch item {
    case .reading(let reading):
      fill(reading)
      if inBothUnits { fillBothUnits(reading) }
    case .record(let record): fill(record)
    }
  }

  private(set) subscript(column: GlucoportColumn) -> Cell {
    get { cells[column.rawValue] }
    set { cells[column.rawValue] = newValue }
  }

  /// The text of a cell; empty for nothing.
  package func text(_ column: GlucoportColumn) -> String { self[column].text }

  /// Appends the members of the item's object: the same for all of its kind, null where it has nothing.
  func appendMembers(to out: inout [UInt8]) {
    var isFirst = true
    for index in cells.indices where !cells[index].isAbsent {
      if !isFirst { out.append(UInt8(ascii: ",")) }
      isFirst = false
      out.append(contentsOf: Self.keys[index])
      switch cells[index] {
      case .absent, .null: out.append(contentsOf: "null".utf8)
      case .text(let text): appendJSONText(text, to: &out)
      case .literal(let text): out.append(contentsOf: text.utf8)
      }
    }
  }
}

extension GlucoportCells: Encodable {
  /// The members of the item's object, for an object that has more.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: JSONMemberName.self)
    for column in GlucoportColumn.allCases {
      let name = JSONMemberName(column.name)
      switch self[column] {
      case .absent: continue
      case .null: try container.encodeNil(forKey: name)
      case .text(let text): try container.encode(text, forKey: name)
      case .literal(let text): try container.encode(JSONFragment(text), forKey: name)
      }
    }
  }
}

extension GlucoportCells {
  private mutating func fill(_ reading: GlucoportReading) {
    self[.item] = Cell("reading")
    self[.kind] = Cell(reading.kind.name)
    fill(reading.deviceTime, reading.placement)
    fill(reading.measurement)
    self[.marks] = Cell(reading.marks.names.joined(separator: " "))
    self[.withdrawn] = Cell(reading.isWithdrawn)
    self[.vendor] = Cell(reading.device.vendor)
    self[.model] = Cell(reading.device.model)
    self[.serial] = Cell(reading.device.serial)
    self[.format] = Cell(reading.device.format)
    self[.positionKind] = Cell(reading.positionKind.name)
    self[.position] = Cell(number: String(reading.position))
    self[.valueBucket] = Cell(number: String(reading.valueBucket))
    self[.occurrence] = Cell(number: String(reading.occurrence))
  }

  private mutating func fill(_ record: GlucoportRecord) {
    self[.item] = Cell("record")
    self[.kind] = Cell(record.kind.rawValue)
    fill(record.deviceTime, record.placement)
    self[.guid] = Cell(record.guid)
    self[.entryGuid] = Cell(record.entryGuid)
    self[.fields] = .literal(record.fields)
    self[.deleted] = Cell(record.isDeleted)
  }

  private mutating func fill(_ deviceTime: DeviceTime, _ placement: Placement) {
    let utc = deviceTime.seconds - Int64(placement.utcOffset)
    self[.time] = Cell(DeviceTime(seconds: utc).text + "Z")
    self[.deviceTime] = Cell(deviceTime.text)
    self[.utcOffset] = Cell(DeviceTime.offsetText(placement.utcOffset))
    self[.offsetSource] = Cell(placement.source.name)
  }

  /// The numbers of the source in their shortest form, which reads back as the same number.
  private mutating func fill(_ measurement: Measurement) {
    self[.value] = Cell(number: measurement.quantity.map { plainNumber($0.number) })
    self[.unit] = Cell(measurement.unit.name)
    (self[.range], self[.threshold]) = (.null, .null)
    switch measurement {
    case .value: break
    case .low(let limit, _), .high(let limit, _):
      self[.range] = if case .low = measurement { Cell("low") } else { Cell("high") }
      self[.threshold] = Cell(number: limit.map(plainNumber))
    }
  }

  private mutating func fillBothUnits(_ reading: GlucoportReading) {
    self[.valueMgdl] = Cell(number: number(of: reading, in: .milligramsPerDecilitre))
    self[.valueMmoll] = Cell(number: number(of: reading, in: .millimolesPerLitre))
  }

  /// The value in a unit; nil beyond the range, and for a ketone value in another unit: the factor is that of glucose.
  private func number(of reading: GlucoportReading, in unit: GlucoseUnit) -> String? {
    let hasUnit =
      reading.kind != .ketone || unit == .millimolesPerLitre && reading.measurement.unit == unit
    guard hasUnit, let quantity = reading.measurement.quantity else { return nil }
    return quantity.displayed(in: unit)
  }
}
