// SPDX-License-Identifier: Apache-2.0

import Archives
import Logbook
import Testing

/// A spreadsheet in a file that exists during a test.
final class SheetFile {
  private let file: ArchiveFile
  private(set) var kind: Spreadsheet.DocumentKind?

  init(_ bytes: [UInt8]) throws {
    file = try ArchiveFile(bytes)
    kind = try Spreadsheet.kind(of: file.archive, isInterrupted: { false })
  }

  var refusal: String? { if case .refused(let reason) = kind { reason } else { nil } }

  func spreadsheet() throws -> Spreadsheet {
    guard case .spreadsheet(let spreadsheet) = kind else { throw Failure(.badInput, "not a spreadsheet") }
    return spreadsheet
  }

  /// Writes a sheet; the file stays open until the end.
  func write(_ place: Int = 0, to sink: @escaping (UnsafeRawBufferPointer) throws -> Bool) throws {
    try withExtendedLifetime(self) { findings = try spreadsheet().write(place, to: sink) }
  }

  /// The text of a sheet.
  func text(_ place: Int = 0) throws -> String {
    var text: [UInt8] = []
    try write(place) { piece in
      text += piece
      return true
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The findings in the sheet that was read last.
  private(set) var findings: SheetFindings?

  var errors: Int? { findings?.errorCount }
}
