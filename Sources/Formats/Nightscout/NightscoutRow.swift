// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout

/// A row of an export as a document of Nightscout.
struct NightscoutRow: NightscoutFields {
  let row: Row
  let columns: NamedColumns

  @inline(__always) subscript(member: NightscoutMember) -> Field { row[columns[member.place]] }
}

extension Field: NightscoutValue {
  var plainText: String { shape == .composite ? "" : text }

  var statedOffset: Int32? { yearFirstTime?.utcOffset }

  @inline(__always) var endsInZ: Bool { count > 0 && start[count - 1] | 0x20 == UInt8(ascii: "z") }

  func glucoseWord(_ unit: GlucoseUnit) -> CellValue { GlucoseReader(unit: unit).read(self) }
}

extension NightscoutPart {
  /// The parts that a list in JSON holds; none where it is no such list.
  static func parts(json field: Field) -> [NightscoutPart] { parts(field.json) }
}

extension Field {
  /// The text that the base64 of an object holds, as our own documents have it; empty for anything else.
  var openedText: String { NightscoutText.opened(json) ?? "" }

  /// A list or an object; nil for anything else, and for what is damaged.
  fileprivate var json: JSONValue? {
    guard shape == .composite else { return nil }
    do {
      return try JSONValue.read([UInt8](bytes))
    } catch {
      return nil
    }
  }
}
