// SPDX-License-Identifier: Apache-2.0

import Archives
import Logbook
import TemporaryFiles

/// A sheet of a spreadsheet as a separate input: CSV text. Its first rows show whether a format accepts it.
/// Then the whole text is written to an unlinked file. So damage is found before any value is used, and a
/// second reading is cheap.
///
/// The digest is that of the text, so that an equal table is recognised in another file.
final class SheetSource: InputSource {
  let name: String
  /// The name of the sheet in the workbook.
  var sheet: String { spreadsheet.sheets[place].name }
  let isRegularFile = true
  let modifiedAt: Int64?
  var isHashing = true {
    didSet { whole?.isHashing = isHashing }
  }
  var isInterrupted: @Sendable () -> Bool = { false }
  /// The number of cells with an error of the spreadsheet; known after the whole sheet was read.
  private(set) var errorCount = 0
  /// The number of cells with a formula that has no stored value; known after the whole sheet was read.
  private(set) var formulaCount = 0
  private let spreadsheet: Spreadsheet
  private let place: Int
  /// This reference keeps the spreadsheet's file open while sheets are read.
  private let file: FileSource
  private var head: (bytes: [UInt8], isWhole: Bool)?
  private var headPlace = 0
  private var whole: FileSource?

  init(_ place: Int, of spreadsheet: Spreadsheet, in file: FileSource) {
    name = "\(file.name):\(PathText.shown(spreadsheet.sheets[place].name))"
    modifiedAt = file.modifiedAt
    (self.place, self.spreadsheet, self.file) = (place, spreadsheet, file)
  }

  var size: Int64? { whole?.size }
  var bytesRead: Int64 { whole?.bytesRead ?? Int64(headPlace) }
  var digest: Digest { whole?.digest ?? Digest() }
  /// The encoding of the text, as the import reports it.
  let encoding = "UTF-8, sheet of a spreadsheet"

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> ReadOutcome {
    if let whole { return try whole.read(into: buffer) }
    let head = try readHead()
    if headPlace < head.bytes.count {
      let count = min(buffer.count, head.bytes.count - headPlace)
      buffer.copyBytes(from: head.bytes[headPlace..<(headPlace + count)])
      headPlace += count
      return .bytes(count)
    }
    if head.isWhole { return .end }
    return try spooledText(skipping: headPlace).read(into: buffer)
  }

  func rewind() throws {
    headPlace = 0
    isHashing = true
    try whole?.rewind()
  }

  /// Reads the whole sheet once, so that no value of a damaged sheet is used.
  func check() throws {
    if whole == nil { _ = try spooledText(skipping: 0) }
    try rewind()
  }

  private func readHead() throws -> (bytes: [UInt8], isWhole: Bool) {
    if let head { return head }
    var bytes: [UInt8] = []
    var isWhole = true
    let wanted = InputHead.size
    _ = try spreadsheet.write(place, isInterrupted: isInterrupted) { piece in
      bytes.append(contentsOf: piece)
      isWhole = bytes.count < wanted
      return isWhole
    }
    head = (bytes, isWhole)
    return (bytes, isWhole)
  }

  /// Writes the whole text to a file. Returns that file, with the read position after its first `count`
  /// bytes.
  private func spooledText(skipping count: Int) throws -> FileSource {
    let spool = try UnlinkedFile()
    let isInterrupted = isInterrupted
    let findings = try spreadsheet.write(place, isInterrupted: isInterrupted) { piece in
      try spool.append(piece)
      return true
    }
    if let column = findings.exchangedDates {
      throw Failure(
        .badInput,
        "\(name): a spreadsheet program exchanged day and month of some dates in column \(column) and left others as text; "
          + "import the original file")
    }
    errorCount = findings.errorCount
    formulaCount = findings.formulaCount
    let source = try FileSource(descriptor: spool.duplicate(), name: name)
    try source.rewind()
    source.isInterrupted = isInterrupted
    source.isHashing = isHashing
    whole = source
    head = nil
    var passed = [UInt8](repeating: 0, count: min(count, 64 * 1024))
    var left = count
    while left > 0 {
      let outcome = try passed.withUnsafeMutableBytes {
        try source.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<min(left, $0.count)]))
      }
      guard case .bytes(let more) = outcome else { break }
      left -= more
    }
    return source
  }
}
