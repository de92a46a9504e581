// SPDX-License-Identifier: Apache-2.0

/// What a tokenizer found next.
enum RowOutcome {
  case row(Row)
  /// An item that cannot be read as a row, with its line and the reason.
  case rejected(line: Int64, reason: String)
  /// Nothing more for now; the input is still open.
  case paused
  /// The end; with the line and what was being read when the input ended inside an item.
  case end(cut: (line: Int64, detail: String)?)
}

/// Yields the rows of an input one after the other, from text or JSON alike.
protocol RowSource: AnyObject {
  func next() throws -> RowOutcome
}
