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
  /// The parts in a JSON list; empty for anything else.
  static func parts(json field: Field) -> [NightscoutPart] { parts(field.json) }
}

extension Field {
  /// The text in the base64 of an object, as in our own documents; empty for anything else.
  var openedText: String { NightscoutText.opened(json) ?? "" }

  /// A list or an object; nil for anything else, including damaged JSON.
  fileprivate var json: JSONValue? {
    guard shape == .composite else { return nil }
    do {
      return try JSONValue.read([UInt8](bytes))
    } catch {
      return nil
    }
  }
}
