// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The sheets of an XLSX file by name, and the day from which its dates count.
final class WorkbookReader: XMLPart {
  struct Entry {
    let name: String
    let relation: String
    let isHidden: Bool
  }

  private(set) var entries: [Entry] = []
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
      // A file may use any prefix for `r:id`; the sheet's own number is `sheetId`.
      guard let title = attributes.text("name"), let relation = attributes.localText("id") else { return }
      let isHidden = ["hidden", "veryHidden"].contains(attributes.text("state") ?? "")
      entries.append(Entry(name: title, relation: relation, isHidden: isHidden))
    }
  }
}

/// The files that belong to a file of an XLSX document.
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

  /// The target of the first relation of a type. Only the end of the type's name is compared, since strict and
  /// transitional files differ before it.
  func target(ofType type: String) -> String? {
    relations.values.first { $0.type.hasSuffix("/\(type)") }?.target
  }

  /// The path in the archive of a target that is relative to a folder; in lower case, since names of parts ignore case.
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
