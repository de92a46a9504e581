// SPDX-License-Identifier: Apache-2.0

/// Writes the cells of a sheet by their type; used for XLSX and ODS.
struct SheetWriter {
  var text: SheetText
  /// The number of cells with an error such as `#N/A`; they are empty in the text.
  private(set) var errorCount = 0
  private(set) var dates = DateColumns()
  private var cell: [UInt8] = []
  /// The columns in which a date with a time of day occurred. Later dates without a time of day are at midnight there.
  private var hasTimes = [Bool](repeating: false, count: SheetText.maxColumns)

  init(_ sink: @escaping SheetText.Sink) {
    text = SheetText(sink)
  }

  mutating func addError() { errorCount += 1 }

  mutating func add(text bytes: UnsafeBufferPointer<UInt8>, column: Int) throws {
    dates.note(text: bytes, column: column)
    try text.add(bytes, column: column, isText: true)
  }

  mutating func add(boolean: Bool, column: Int) throws {
    try addCell(column) { $0.append(contentsOf: (boolean ? "TRUE" : "FALSE").utf8) }
  }

  /// Adds a number in its format's form.
  mutating func add(
    number: UnsafeBufferPointer<UInt8>, form: CellForm, is1904: Bool, column: Int
  ) throws {
    guard form != .number, let serial = SheetNumber.value(number),
      let time = SheetTime(serial: serial, is1904: is1904)
    else { return try addCell(column) { SheetNumber.append(number, to: &$0) } }
    switch form {
    case .time: try addCell(column) { SheetTime.append(clock: time.seconds, to: &$0) }
    case .duration:
      let seconds = Int((serial * Double(SheetTime.secondsOfDay)).rounded())
      try addCell(column) { SheetTime.append(clock: seconds, to: &$0) }
    case .date: try add(time, showsTime: false, column: column)
    case .dateTime, .number: try add(time, showsTime: true, column: column)
    }
  }

  /// Adds a date in ISO 8601; other text is added unchanged.
  mutating func add(
    isoDate bytes: UnsafeBufferPointer<UInt8>, showsTime: Bool, column: Int
  ) throws {
    guard let time = SheetTime(iso: bytes) else { return try add(text: bytes, column: column) }
    try add(time, showsTime: showsTime, column: column)
  }

  /// Adds a time of day or a duration in ISO 8601; other text is added unchanged.
  mutating func add(duration bytes: UnsafeBufferPointer<UInt8>, column: Int) throws {
    guard let seconds = SheetTime.seconds(ofDuration: bytes) else {
      return try add(text: bytes, column: column)
    }
    try addCell(column) { SheetTime.append(clock: seconds, to: &$0) }
  }

  /// Keeps the time of day of a number even if its format shows only a date: some programs write times with a format
  /// for dates.
  private mutating func add(_ time: SheetTime, showsTime: Bool, column: Int) throws {
    let place = min(column, SheetText.maxColumns - 1)
    if showsTime || time.seconds != 0 { hasTimes[place] = true }
    let withTime = hasTimes[place]
    dates.note(time, column: column)
    try addCell(column) { time.append(to: &$0, withTime: withTime) }
  }

  private mutating func addCell(_ column: Int, _ write: (inout [UInt8]) -> Void) throws {
    cell.removeAll(keepingCapacity: true)
    write(&cell)
    try cell.withUnsafeBufferPointer { try text.add($0, column: column, isText: true) }
  }
}
