// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The header of a section of a Tandem export: its table, and the positions of its columns.
struct TandemTable {
  /// The kind of the rows below the header.
  enum Kind { case readings, bolus, insulinOnBoard }

  enum Column: Int, CaseIterable {
    case type, deviceType, serial, description, eventTime, value, note
    case bolusType, completionTime, delivered, carbs, extended, eventID, insulinOnBoard
  }

  let kind: Kind
  /// The unit in the header; nil if it has none.
  let unit: GlucoseUnit?
  /// Whether the table holds only a meter's values.
  let isOfMeter: Bool
  let columns: KnownColumns<Column>

  @inline(__always) subscript(column: Column) -> Int { columns[column] }

  init?(_ cells: [String]) {
    guard let first = cells.first.map(Self.folded), ["type", "device type", "devicetype"].contains(first)
    else { return nil }
    let columns = KnownColumns(cells, unread: Self.unread) { Self.names[Self.folded($0)] ?? Self.value($0) }
    self.columns = columns
    let value = columns[.value] >= 0 ? foldedHeader(cells[columns[.value]]) : ""
    unit = Self.unit(of: value)
    isOfMeter = value.hasPrefix("bg ")
    if first != "type", columns.has(.serial, .description, .eventTime, .value) {
      kind = .readings
    } else if columns.has(.type, .completionTime, .delivered) {
      kind = .bolus
    } else if columns.has(.type, .eventID, .eventTime, .insulinOnBoard), columns.unknown.isEmpty {
      kind = .insulinOnBoard
    } else {
      return nil
    }
  }

  /// t:connect writes `EventDateTime`, Tandem Source `Event Date Time`.
  private static func folded(_ name: String) -> String {
    joined[foldedHeader(name)] ?? foldedHeader(name)
  }

  private static let joined = [
    "devicetype": "device type", "serialnumber": "serial number", "eventdatetime": "event date time",
    "completiondatetime": "completion date time", "insulindelivered": "insulin delivered",
    "carbsize": "carb size", "eventid": "event id", "bolustype": "bolus type",
    "bolexinsulindelivered": "bolex insulin delivered",
  ]
  private static let names: [String: Column] = [
    "type": .type, "device type": .deviceType, "serial number": .serial, "description": .description,
    "event date time": .eventTime, "note": .note, "bolus type": .bolusType,
    "completion date time": .completionTime, "insulin delivered": .delivered, "carb size": .carbs,
    "bolex insulin delivered": .extended, "event id": .eventID, "iob": .insulinOnBoard,
  ]

  /// `Readings (CGM / BGM)`, `BG (mg/dL)` and similar names. The glucose of a bolus is also `BG` and is not read there.
  private static func value(_ name: String) -> Column? {
    name == "readings (cgm / bgm)" || unit(of: name) != nil ? .value : nil
  }

  private static func unit(of name: String) -> GlucoseUnit? {
    guard let open = name.lastIndex(of: "("), name.last == ")" else { return nil }
    return GlucoseUnit(name: name[open...].dropFirst().dropLast())
  }

  /// Columns of boluses about their calculation and delivery. Tandem Source writes them with blanks.
  private static let unread: Set<String> = {
    let names = [
      "BG", "Bolus Request ID", "Bolus Completion ID", "Food Delivered", "Correction Delivered",
      "Completion Status ID", "Completion Status Desc", "Bolus Is Complete", "Bolex Completion ID",
      "Bolex Size", "Bolex Start Date Time", "Bolex Completion Date Time", "Bolex IOB",
      "Bolex Completion Status ID", "Bolex Completion Status Desc", "Extended Bolus Is Complete",
      "Request Date Time", "Bolus Request Options", "Standard Percent", "Duration", "User Override",
      "Target BG", "Correction Factor", "Food Bolus Size", "Correction Bolus Size",
      "Actual Total Bolus Requested", "Is Quick Bolus", "Event History Report Event Desc",
      "Event History Report Details", "Note ID", "Index ID", "Bolus Delivery Method",
    ].map { $0.lowercased() }
    return Set(names + names.map { $0.filter { $0 != " " } })
  }()
}
