// SPDX-License-Identifier: Apache-2.0

import Logbook

/// An item's cells by column: text for people, and values for JSON.
package struct GlucoportCells: Sendable {
  enum Cell: Sendable {
    /// Items of this kind do not have the column.
    case absent
    /// The column has no value in this item.
    case null
    case text(String)
    /// A number, a flag or an object as JSON.
    case literal(String)

    var text: String {
      switch self {
      case .absent, .null: ""
      case .text(let text), .literal(let text): text
      }
    }
  }

  private var cells = [Cell](repeating: .absent, count: GlucoportColumn.allCases.count)

  /// - Parameter inBothUnits: whether to fill the columns of the value in a fixed unit, whatever the source's
  ///   unit.
  package init(_ item: GlucoportItem, inBothUnits: Bool = false) {
    item.write(inBothUnits: inBothUnits, to: &self)
  }

  private(set) subscript(column: GlucoportColumn) -> Cell {
    get { cells[column.rawValue] }
    set { cells[column.rawValue] = newValue }
  }

  /// The text of a cell; empty for no value.
  package func text(_ column: GlucoportColumn) -> String { self[column].text }
}

extension GlucoportCells: GlucoportSink {
  mutating func null(_ column: GlucoportColumn) { self[column] = .null }
  mutating func text(_ column: GlucoportColumn, _ text: String) { self[column] = .text(text) }
  mutating func literal(_ column: GlucoportColumn, _ text: String) { self[column] = .literal(text) }
  mutating func integer(_ column: GlucoportColumn, _ number: Int64) {
    self[column] = .literal(String(number))
  }
  mutating func number(_ column: GlucoportColumn, _ number: Double) {
    self[column] = .literal(plainNumber(number))
  }
  mutating func time(_ column: GlucoportColumn, _ time: DeviceTime, isInstant: Bool) {
    self[column] = .text(time.text + (isInstant ? "Z" : ""))
  }
  mutating func offset(_ column: GlucoportColumn, _ seconds: Int32) {
    self[column] = .text(DeviceTime.offsetText(seconds))
  }
}

extension GlucoportCells: Encodable {
  /// Encodes the item's members. The caller can encode further members of the same object with the same
  /// encoder.
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
