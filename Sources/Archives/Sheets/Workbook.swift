// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The sheets of an XLSX file by name, and the day from which its dates count.
final class WorkbookReader: XMLPart {
  struct SheetEntry {
    let name: String
    let relation: String
    let isHidden: Bool
  }

  private(set) var entries: [SheetEntry] = []
  private(set) var is1904 = false
  private(set) var isWorkbook = false

  override func start(_ name: XMLName, _ attributes: XMLAttributes) {
    if depth == 1 {
      isWorkbook = name.isLocally("workbook")
      if !isWorkbook { finish() }
    } else if name.isLocally("workbookPr") {
      is1904 = ["1", "true"].contains(attributes.text("date1904") ?? "")
    } else if name.isLocally("sheet") {
      guard entries.count < Spreadsheet.maxSheets else {
        return fail("more than \(Spreadsheet.maxSheets) sheets")
      }
      // `r:id` is found without its prefix, which differs between files. `sheetId` is a different number.
      guard let title = attributes.text("name"), let relation = attributes.localText("id") else { return }
      let isHidden = ["hidden", "veryHidden"].contains(attributes.text("state") ?? "")
      entries.append(SheetEntry(name: title, relation: relation, isHidden: isHidden))
    }
  }
}

/// The relationships of one file in an XLSX document: the other files that it refers to, by id.
final class RelationshipReader: XMLPart {
  struct Relation {
    let type: String
    let target: String
  }

  private(set) var relations: [String: Relation] = [:]

  override func start(_ name: XMLName, _ attributes: XMLAttributes) {
    guard name.isLocally("Relationship"), let id = attributes.text("Id"), let type = attributes.text("Type"),
      let target = attributes.text("Target"), attributes.text("TargetMode") != "External"
    else { return }
    guard relations.count < 4 * Spreadsheet.maxSheets else { return fail("too many relationships") }
    relations[id] = Relation(type: type, target: target)
  }

  /// The target of the relationship whose type ends with this name. The beginning of a type differs between
  /// strict and transitional files. If several relationships match, the first id in text order decides.
  func target(ofType type: String) -> String? {
    relations.filter { $0.value.type.hasSuffix("/\(type)") }.min { $0.key < $1.key }?.value.target
  }

  /// The path in the archive of a target. The target is relative to a folder, or to the archive if it begins
  /// with a slash. The path is in lower case, since the names of files in an office document ignore case.
  static func path(_ target: String, from folder: String) -> String {
    var parts = target.hasPrefix("/") ? [] : folder.split(separator: "/").map(String.init)
    for part in target.split(separator: "/") {
      if part == ".." {
        _ = parts.popLast()
      } else if part != "." {
        parts.append(String(part))
      }
    }
    return parts.joined(separator: "/").lowercased()
  }
}

/// Determines which cells of an XLSX file are dates and times, by the number formats of its styles (ECMA-376
/// part 1, 18.8.30).
final class NumberFormats: XMLPart {
  private static let maxFormats = 65_536
  private static let maxStyles = 65_536

  /// The forms of cells, by the number of their style.
  private(set) var forms: [CellForm] = []
  private var custom: [Int: CellForm] = [:]
  private var isInCellFormats = false

  override func start(_ name: XMLName, _ attributes: XMLAttributes) {
    if name.isLocally("numFmt") {
      guard let id = attributes.text("numFmtId").flatMap({ Int($0) }),
        let code = attributes.text("formatCode")
      else { return }
      guard custom.count < Self.maxFormats else { return fail("more than \(Self.maxFormats) number formats") }
      custom[id] = Self.form(ofCode: code)
    } else if name.isLocally("cellXfs") {
      isInCellFormats = true
    } else if name.isLocally("xf"), isInCellFormats {
      guard forms.count < Self.maxStyles else { return fail("more than \(Self.maxStyles) cell formats") }
      let id = attributes.text("numFmtId").flatMap { Int($0) } ?? 0
      forms.append(custom[id] ?? Self.form(ofBuiltIn: id))
    }
  }

  override func end(_ name: XMLName) {
    if name.isLocally("cellXfs") { isInCellFormats = false }
  }

  /// The form of a built-in format, by the format's id. Files do not define these formats. Those of East
  /// Asian programs are included.
  static func form(ofBuiltIn id: Int) -> CellForm {
    switch id {
    case 14...17, 27...31, 36, 50...54, 57, 58: .date
    case 18...21, 32...35, 45, 47, 55, 56: .time
    case 22: .dateTime
    case 46: .duration
    default: .number
    }
  }

  /// The form of a format code: `dd/mm/yyyy\ hh:mm`, `[$-409]h:mm AM/PM`, `0.0" mmol/L"`.
  static func form(ofCode code: String) -> CellForm {
    guard code.utf8.count <= 1024 else { return .number }
    var letters: Set<UInt8> = []
    var (isElapsed, hasDigits) = (false, false)
    var rest = Array(code.lowercased().utf8)[...]
    // Only the first part of a code is parsed. The parts after a semicolon are for negative numbers and zero.
    while let sign = rest.popFirst(), sign != UInt8(ascii: ";") {
      switch sign {
      case UInt8(ascii: "\""): skip(&rest, to: UInt8(ascii: "\""))
      case UInt8(ascii: "\\"), UInt8(ascii: "_"), UInt8(ascii: "*"): _ = rest.popFirst()
      case UInt8(ascii: "["):
        let inside = rest.prefix { $0 != UInt8(ascii: "]") }
        skip(&rest, to: UInt8(ascii: "]"))
        if let first = inside.first, "hms".utf8.contains(first), inside.allSatisfy({ $0 == first }) {
          isElapsed = true
        }
      case UInt8(ascii: "."):
        // Zeros after seconds are their decimals, not digits of a number.
        if letters.contains(UInt8(ascii: "s")) { rest = rest.drop { $0 == UInt8(ascii: "0") } }
      case UInt8(ascii: "0"), UInt8(ascii: "#"), UInt8(ascii: "?"): hasDigits = true
      case UInt8(ascii: "g") where rest.starts(with: "eneral".utf8): return .number
      default: letters.insert(sign)
      }
    }
    if isElapsed { return .duration }
    if hasDigits { return .number }
    let hasTime = !letters.isDisjoint(with: "hs".utf8)
    let hasDate = !letters.isDisjoint(with: "yd".utf8) || (!hasTime && letters.contains(UInt8(ascii: "m")))
    return hasDate ? hasTime ? .dateTime : .date : hasTime ? .time : .number
  }

  private static func skip(_ rest: inout ArraySlice<UInt8>, to end: UInt8) {
    while let sign = rest.popFirst(), sign != end {}
  }
}
