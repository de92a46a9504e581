// SPDX-License-Identifier: Apache-2.0

import Logbook

extension GenericFinding {
  private static let maxShown = 4

  /// - Throws: `Failure` of category `badInput` if a column states the kinds of doses by codes such as `R`. A
  ///   code does not show whether the amount is a dose. In the data set T1D-UOM, `R` marks a pump's rate in
  ///   U/h, and `L` a dose of long-acting insulin.
  func requireKnownKindsOfDoses(_ hint: ImportHint) throws {
    let doses = GenericRole.doses.map { columns[$0] }.filter { $0 >= 0 }
    guard let first = doses.first else { return }
    let hasReadings = GenericRole.measured.contains { columns[$0] >= 0 }
    let picked = hint.options.rows.compactMap { header.place(of: $0.column) }
    let rows = header.rows.filter { row in
      doses.contains { row.indices.contains($0) && !row[$0].isEmpty }
    }
    for place in header.names.indices where !picked.contains(place) && !doses.contains(place) {
      let words = header.words[place]
      guard GenericAmountRows.mayStateKinds(words, hasReadings: hasReadings) else { continue }
      let cells = Set(rows.compactMap { $0.indices.contains(place) && !$0[place].isEmpty ? $0[place] : nil })
      let codes = cells.filter(GenericAmountRows.isCode)
      // In a column of general kinds, a code next to words is the name of something in the diary.
      guard let code = codes.sorted().first, GenericAmountRows.isOfKindsOfDoses(words) || codes == cells
      else {
        continue
      }
      throw Failure(
        .badInput,
        "the column \(quoted([place])) states the kinds of the amounts in \(quoted([first])) by codes such as \(shownName(code)), "
          + "which may mean rates in U/h and not doses. "
          + commands(cells.sorted(), place, hint))
    }
  }

  /// The commands that import the rows with one of the words, or all rows.
  private func commands(_ words: [String], _ place: Int, _ hint: ImportHint) -> String {
    let all = "If all rows are doses in U, import them with:" + hint.lines([{ $0.force = true }])
    guard words.count > 1, words.count <= Self.maxShown, let name = nameInCommands(place),
      words.allSatisfy(\.isPlainInCommands)
    else { return all }
    return "Import the rows that are doses with:"
      + hint.lines(words.map { word in { $0.rows.append(RowFilter(column: name, value: word)) } })
  }
}
