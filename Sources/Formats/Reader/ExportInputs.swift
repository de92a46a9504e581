// SPDX-License-Identifier: Apache-2.0

import Archives
import Logbook

/// The inputs at a path: a file is one input, a ZIP archive has one for each member, a spreadsheet one for
/// each sheet. A spreadsheet that is a member of an archive has one input for each sheet, too.
///
/// Members are in the order of their names, with numbers ordered by size: `cgm_data_2.csv` before
/// `cgm_data_10.csv`. Therefore the result of an import does not depend on the program that packed the
/// archive.
package struct ExportInputs {
  /// The result of opening an input.
  package enum Opened {
    case export(InputReader)
    /// A member of an archive that is a spreadsheet. It has one input for each sheet.
    case spreadsheet(ExportInputs)
    /// A member of an archive or a sheet that is not an export, with the reason.
    case unread(name: String, reason: String)
  }

  private enum InputContent {
    case file
    /// A document from which nothing is read, with advice.
    case document(String)
    /// The members that are inputs. `sheet` is set if a person named one sheet of a spreadsheet among them.
    case members([ZipMember], ZipArchive, sheet: String?)
    /// The indexes of the sheets that are inputs.
    case sheets([Int], Spreadsheet)

    var isDocument: Bool { if case .document = self { true } else { false } }

    /// The number of inputs.
    var count: Int {
      switch self {
      case .members(let members, _, _): members.count
      case .sheets(let places, _): places.count
      case .file, .document: 1
      }
    }
  }

  private let file: FileSource
  private let content: InputContent
  private let skipsUnrecognised: Bool

  /// The file at a path: the archive of a member, or the workbook of a sheet.
  package static func file(of path: String) -> String { memberPath(path)?.0 ?? path }

  /// Opens a file, a member of an archive, or a sheet, by a path such as `archive.zip:member.csv` or
  /// `file.xlsx:Sheet`.
  ///
  /// - Parameters:
  ///   - skipsUnrecognised: whether a file that is not an export is skipped, as a member of an archive is.
  ///   - isInterrupted: ends the wait for the writer of a named pipe.
  /// - Throws: `Failure`: the file cannot be read, or is a damaged archive.
  package init(
    path: String, skipsUnrecognised: Bool = false, isInterrupted: @escaping @Sendable () -> Bool = { false }
  ) throws {
    guard let (archive, member) = Self.memberPath(path) else {
      try self.init(
        FileSource(path: path, isInterrupted: isInterrupted), only: nil, skipsUnrecognised: skipsUnrecognised)
      return
    }
    try self.init(
      FileSource(path: archive, isInterrupted: isInterrupted), only: member, skipsUnrecognised: false)
  }

  /// Takes over an open descriptor, such as standard input. An archive from a pipe is kept in a file that no
  /// other process can see.
  package init(descriptor: Int32, name: String, isInterrupted: @escaping @Sendable () -> Bool) throws {
    let source = try FileSource(descriptor: descriptor, name: name)
    source.isInterrupted = isInterrupted
    try self.init(source, only: nil, skipsUnrecognised: false)
  }

  private init(_ source: FileSource, only member: String?, skipsUnrecognised: Bool) throws {
    guard ZipArchive.isArchive(try source.peek(4)) else {
      (file, self.skipsUnrecognised) = (source, skipsUnrecognised)
      content = try Self.compoundFile(source).map { .document($0) } ?? .file
      guard member == nil || content.isDocument else {
        throw Failure(.missingInput, "\(source.name): not a ZIP archive or a spreadsheet")
      }
      return
    }
    let isInterrupted = source.isInterrupted
    file = source.isRegularFile ? source : try Spool.copy([], then: source, name: source.name)
    let archive = try ZipArchive(descriptor: file.descriptor, name: file.name)
    if let document = try Self.document(in: archive, file.name, only: member, isInterrupted) {
      content = document
      // A sheet that a person named must be an export, so it is never skipped. The only sheet of a file is
      // skipped only if the file itself may be skipped.
      self.skipsUnrecognised = member == nil && (skipsUnrecognised || document.count > 1)
      return
    }
    content = try Self.members(of: archive, only: member, name: file.name)
    // A member that a person named must be an export, so it is never skipped.
    self.skipsUnrecognised = member == nil
  }

  /// Opens a spreadsheet that was unpacked from an archive to `file`.
  ///
  /// - Throws: `UnrecognisedInput` for a ZIP archive that is not the file of an office program.
  private init(member file: FileSource, only sheet: String?, skipsUnrecognised: Bool) throws {
    let archive = try ZipArchive(descriptor: file.descriptor, name: file.name)
    guard let document = try Self.document(in: archive, file.name, only: sheet, file.isInterrupted) else {
      throw UnrecognisedInput(name: file.name, reason: "this is \(Signature.nestedArchive)")
    }
    (self.file, content) = (file, document)
    self.skipsUnrecognised = sheet == nil && (skipsUnrecognised || document.count > 1)
  }

  /// The content of an archive that is the file of an office program; nil for an archive of separate files.
  private static func document(
    in archive: ZipArchive, _ name: String, only sheet: String?,
    _ isInterrupted: @escaping @Sendable () -> Bool
  ) throws -> InputContent? {
    switch try Spreadsheet.kind(of: archive, isInterrupted: isInterrupted) {
    case .refused(let document): .document(document)
    case .spreadsheet(let spreadsheet):
      .sheets(try sheets(of: spreadsheet, only: sheet, name: name), spreadsheet)
    case nil: nil
    }
  }

  /// The members that are inputs, in the order of their names.
  ///
  /// - Parameter path: the name of one member. If the member is a spreadsheet, the name of a sheet can
  ///   follow, as in `book.xlsx:Sheet`.
  private static func members(
    of archive: ZipArchive, only path: String?, name: String
  ) throws -> InputContent {
    guard let path else {
      let members = archive.members.filter { !$0.isHidden }
      return .members(members.sorted { NaturalOrder.isBefore($0.name, $1.name) }, archive, sheet: nil)
    }
    let named = archive.members.filter { $0.name == path }
    if !named.isEmpty { return .members(named, archive, sheet: nil) }
    if let (book, sheet) = memberPath(path), case let books = archive.members.filter({ $0.name == book }),
      !books.isEmpty
    {
      return .members(books, archive, sheet: sheet)
    }
    throw Failure(.missingInput, "\(name): the archive has no member \(PathText.shown(path))")
  }

  /// The kind of a file with several inputs, for messages.
  package enum Container: String {
    case archive
    case spreadsheet

    /// The word for one of the inputs in such a file.
    package var part: String { self == .archive ? "member" : "sheet" }
  }

  /// The kind of the file if it can have several inputs; nil for a file that is one input.
  package var container: Container? {
    switch content {
    case .members: .archive
    case .sheets(let places, _): places.count == 1 ? nil : .spreadsheet
    case .file, .document: nil
    }
  }

  /// The number of inputs.
  package var count: Int { content.count }

  /// Opens the input at an index from 0. An input that is not in an archive can be opened only once.
  ///
  /// - Throws: `Failure` if the input cannot be read, needs an option, or is of no known format and is not
  ///   skipped.
  package func open(_ place: Int, options: ExportOptions) throws -> Opened {
    do {
      switch content {
      case .document(let kind): throw UnrecognisedInput(name: file.name, reason: "this is \(kind)")
      case .file: return try .export(InputReader(source: file, options: options))
      case .members(let members, let archive, let sheet):
        return try open(members[place], of: archive, sheet: sheet, options)
      case .sheets(let places, let spreadsheet):
        return try open(places[place], of: spreadsheet, options)
      }
    } catch let unrecognised as UnrecognisedInput {
      guard skipsUnrecognised else { throw unrecognised.failure }
      return .unread(name: unrecognised.name, reason: unrecognised.reason)
    }
  }

  private func open(
    _ member: ZipMember, of archive: ZipArchive, sheet: String?, _ options: ExportOptions
  ) throws -> Opened {
    if let refusal = member.refusal { return .unread(name: "\(file.name):\(member.name)", reason: refusal) }
    let source = try ArchivedSource(member, of: archive, in: file, options)
    source.isInterrupted = options.isInterrupted
    if let spreadsheet = try MemberSpreadsheet.copy(of: source, member) {
      return .spreadsheet(
        try ExportInputs(member: spreadsheet, only: sheet, skipsUnrecognised: skipsUnrecognised))
    }
    guard sheet == nil else { throw Failure(.missingInput, "\(source.name): not a spreadsheet") }
    // If no format reads the member, this call fails before the member is unpacked to its end.
    let reader = try InputReader(source: source, options: options)
    return .export(reader)
  }

  private func open(
    _ place: Int, of spreadsheet: Spreadsheet, _ options: ExportOptions
  ) throws -> Opened {
    let source = SheetSource(place, of: spreadsheet, in: file)
    let sheet = spreadsheet.sheets[place]
    if let refusal = sheet.refusal { throw UnrecognisedInput(name: source.name, reason: refusal) }
    if sheet.isHidden, skipsUnrecognised {
      throw UnrecognisedInput(
        name: source.name, reason: "the sheet is hidden; to import it, add its name to that of the file")
    }
    return try .export(InputReader(source: source, options: options))
  }

  /// The indexes of the sheets to import: those with the name that a person gave, or all sheets without a
  /// name.
  ///
  /// - Throws: `Failure` if there is no sheet, or none with the name that a person gave.
  private static func sheets(
    of spreadsheet: Spreadsheet, only name: String?, name file: String
  ) throws -> [Int] {
    let places = spreadsheet.sheets.indices.filter { name == nil || spreadsheet.sheets[$0].name == name }
    if let name, places.isEmpty {
      throw Failure(.missingInput, "\(file): the spreadsheet has no sheet \(PathText.shown(name))")
    }
    guard !places.isEmpty else { throw Failure(.badInput, "\(file): the spreadsheet has no sheet") }
    return Array(places)
  }

  /// The reason why a document of an old office program or an encrypted document is refused; nil for any
  /// other file.
  private static func compoundFile(_ source: FileSource) throws -> String? {
    guard source.isRegularFile else { return nil }
    let head = try source.peek(512)
    let directory = try CompoundFile.directoryOffset(head).map { try source.peek(4096, at: $0) }
    return CompoundFile.refusal(head, directory: directory ?? [])
  }

  /// Splits a path such as `archive.zip:member.csv` or `file.xlsx:Sheet` at its colon; nil for the path of a
  /// file.
  private static func memberPath(_ path: String) -> (archive: String, member: String)? {
    let colons = [".zip:", ".xlsx:", ".xlsm:", ".xls:", ".ods:"].compactMap { path.firstRange(of: $0) }
    guard let colon = colons.min(by: { $0.lowerBound < $1.lowerBound }) else { return nil }
    return (path[..<colon.upperBound].dropLast().description, path[colon.upperBound...].description)
  }
}

/// Orders names as people list them: with numbers ordered by size.
enum NaturalOrder {
  static func isBefore(_ one: String, _ other: String) -> Bool {
    var (left, right) = (Array(one.utf8)[...], Array(other.utf8)[...])
    while let a = left.first, let b = right.first {
      if isDigit(a), isDigit(b) {
        let (first, second) = (readNumber(&left), readNumber(&right))
        if first.count != second.count { return first.count < second.count }
        if first != second { return first.lexicographicallyPrecedes(second) }
      } else {
        if a != b { return a < b }
        (left, right) = (left.dropFirst(), right.dropFirst())
      }
    }
    if left.isEmpty != right.isEmpty { return left.isEmpty }
    // Names that differ only in zeros, such as `a01` and `a1`, are compared as text.
    return one < other
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 <= 9 }

  private static func readNumber(_ text: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let digits = text.prefix(while: isDigit)
    text = text.dropFirst(digits.count)
    return digits.drop { $0 == 0x30 }
  }
}
