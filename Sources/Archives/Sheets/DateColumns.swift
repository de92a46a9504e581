// SPDX-License-Identifier: Apache-2.0

/// Finds columns in which a program swapped day and month. A program that opens a text file in the wrong order reads
/// 04/05 as the wrong date, and leaves 04/13 as text.
struct DateColumns {
  private struct Column {
    var hasDates = false
    /// Whether a date has a day above 12.
    var hasLateDays = false
    /// The number of texts that are a date in only one order.
    var settledTexts = 0
  }

  /// The minimum number of such texts: a single one may be in a title above the table.
  private static let minTexts = 2
  private var columns = [Column](repeating: Column(), count: SheetText.maxColumns)

  mutating func note(_ date: SheetTime, column: Int) {
    guard column < columns.count, !columns[column].hasLateDays else { return }
    columns[column].hasDates = true
    columns[column].hasLateDays = date.dayOfMonth > 12
  }

  mutating func note(text: UnsafeBufferPointer<UInt8>, column: Int) {
    guard text.count >= 8, text[0] &- 0x30 <= 9, column < columns.count, Self.isSettled(text) else { return }
    columns[column].settledTexts += 1
  }

  /// The first such column, from 0; nil if there is none.
  var exchanged: Int? {
    columns.firstIndex { $0.hasDates && !$0.hasLateDays && $0.settledTexts >= Self.minTexts }
  }

  /// Whether a text begins with a date that is valid in only one order of day and month, such as 13/04/2026 or
  /// 04-13-26. With dots the order is always the same.
  private static func isSettled(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    var numbers: [Int] = []
    var place = 0
    while numbers.count < 2 {
      let start = place
      var number = 0
      while place < text.count, place - start < 2, text[place] &- 0x30 <= 9 {
        number = number * 10 + Int(text[place] &- 0x30)
        place += 1
      }
      guard place > start, place < text.count,
        text[place] == UInt8(ascii: "/") || text[place] == UInt8(ascii: "-")
      else { return false }
      numbers.append(number)
      place += 1
    }
    let (smaller, larger) = (min(numbers[0], numbers[1]), max(numbers[0], numbers[1]))
    return (1...12).contains(smaller) && (13...31).contains(larger) && place < text.count
      && text[place] &- 0x30 <= 9
  }
}

/// Observations about a sheet besides its text.
package struct SheetFindings {
  /// The number of cells with an error such as `#N/A`; they are empty in the text.
  package let errorCount: Int
  /// The letters of a column in which a program swapped day and month of some dates; nil if there is none.
  package let exchangedDates: String?

  init(_ writer: SheetWriter?) {
    errorCount = writer?.errorCount ?? 0
    exchangedDates = writer?.dates.exchanged.map(Self.letters)
  }

  private static func letters(_ column: Int) -> String {
    let last = String(UnicodeScalar(UInt8(0x41 + column % 26)))
    return column < 26 ? last : letters(column / 26 - 1) + last
  }
}
