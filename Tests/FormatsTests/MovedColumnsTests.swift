// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Foundation
import Logbook
import SeededRandom
import Testing

@testable import Formats

/// Tests exports in which a person exchanged two columns, including their names, in a spreadsheet.
@Suite struct MovedColumnsTests {
  private static let samples = [
    "mysugr/mysugr-mgdl-de.csv", "mysugr/mysugr-mgdl-en.csv", "mysugr/mysugr-mmol-da.csv",
    "libreview/libreview-mgdl-fr.csv", "libreview/libreview-mgdl-de-empty-second-line.csv",
    "libreview/libreview-mgdl-en-us-12h.csv", "contour/contour-mmol-en-doses.csv",
    "contour/contour-mgdl-pl.csv", "contour/contour-mmol-nb.csv", "tandem/source-bolus.csv",
    "tandem/source-bg.csv",
  ]

  private static func rows(_ sample: String) throws -> [[String]] {
    let text = String(decoding: try TextExport.sample(sample), as: UTF8.self).replacing("\u{FEFF}", with: "")
    return cells(text.replacing("\r\n", with: "\n"))
  }

  /// The cells of a table, with quotes removed.
  private static func cells(_ text: String) -> [[String]] {
    var rows: [[String]] = [[""]]
    var isQuoted = false
    for character in text {
      let place = (row: rows.count - 1, cell: rows[rows.count - 1].count - 1)
      switch character {
      case "\"": isQuoted.toggle()
      case "," where !isQuoted: rows[place.row].append("")
      case "\n" where !isQuoted: rows.append([""])
      default: rows[place.row][place.cell].append(character)
      }
    }
    return rows.last == [""] ? rows.dropLast() : rows
  }

  private static func text(_ rows: [[String]]) -> String {
    rows.map { row in
      row.map { "\"" + $0.replacing("\"", with: "\"\"") + "\"" }.joined(separator: ",") + "\n"
    }.joined()
  }

  /// Whether no cell is read as another column: the input is refused, no row is read, or all rows give the
  /// expected items.
  private static func isRight(_ rows: [[String]], _ expected: TextExport) throws -> Bool {
    do {
      let export = try TextExport(text(rows))
      if export.readings.isEmpty, export.records.isEmpty { return true }
      return export.readingTexts == expected.readingTexts && export.recordTexts == expected.recordTexts
    } catch let failure as Failure {
      return failure.category == .badInput
    }
  }

  @Test(arguments: samples.filter { $0 != "tandem/source-bg.csv" })
  func swappedColumnsAreReadByTheirNamesOrRefused(_ sample: String) throws {
    let rows = try Self.rows(sample)
    let expected = try TextExport(Self.text(rows))
    try #require(!expected.readings.isEmpty || !expected.records.isEmpty)
    let width = rows.map(\.count).max() ?? 0
    let pairs = (0..<width).flatMap { first in ((first + 1)..<width).map { (first, $0) } }
    for (first, second) in Seeds.share(of: pairs, every: 4) {
      let moved = rows.map { row in
        guard row.count > second, row.count > 5 else { return row }
        var row = row
        row.swapAt(first, second)
        return row
      }
      #expect(try Self.isRight(moved, expected), "\(first) and \(second)")
    }
  }

  @Test(arguments: samples.filter { $0.hasPrefix("contour") || $0.hasPrefix("tandem") })
  func afterAColumnIsRemovedTheRemainingOnesKeepTheirMeaning(_ sample: String) throws {
    let rows = try Self.rows(sample)
    let expected = try TextExport(Self.text(rows))
    let removed = rows.map { Array($0.dropFirst()) }
    #expect(try Self.isRight(removed, expected))
  }

  @Test func aSecondColumnOfCarbohydratesIsRefused() throws {
    var rows = try Self.rows("contour/contour-mmol-en-doses.csv")
    for place in rows.indices { rows[place].insert(place == 0 ? "Snack[g]" : "", at: 8) }
    let failure = #expect(throws: Failure.self) { _ = try TextExport(Self.text(rows)) }
    #expect(failure?.message.contains("were moved") == true)
  }

  @Test func aColumnWithAMisspeltNameIsReadByItsPosition() throws {
    for (sample, column) in [("mysugr/mysugr-mgdl-de.csv", 5), ("contour/contour-mgdl-pl.csv", 5)] {
      var rows = try Self.rows(sample)
      let expected = try TextExport(Self.text(rows))
      rows[0][column] = String(rows[0][column].dropLast())
      let export = try TextExport(Self.text(rows))
      #expect(export.readingTexts == expected.readingTexts && export.recordTexts == expected.recordTexts)
    }
  }
}
