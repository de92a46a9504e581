// SPDX-License-Identifier: Apache-2.0

/// The next item that a tokenizer found in an input, or the reason why there is none.
enum RowOutcome {
  case row(Row)
  /// An item that is not a row, with its line and the reason.
  case rejected(line: Int64, reason: String)
  /// There is no item at the moment, but the input is still open.
  case paused
  /// The end of the input. If it ended inside an item, `truncation` has the line and a description of that
  /// item.
  case end(truncation: (line: Int64, detail: String)?)
}

/// Yields the rows of an input in order, from delimited text, JSON or XML.
protocol RowSource: AnyObject {
  func next() throws -> RowOutcome
}
