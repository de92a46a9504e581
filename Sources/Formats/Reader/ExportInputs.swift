// SPDX-License-Identifier: Apache-2.0

import Archives
import Logbook
import TemporaryFiles

/// The inputs that a path holds: a file is one, a ZIP archive has one for each of its members, a spreadsheet one for each of
/// its sheets.
///
/// Members come in the order of their names, numbers in them by size: `cgm_data_2.csv` before `cgm_data_10.csv`. So what is
/// imported does not depend on who packed them.
package struct ExportInputs {
  /// An input, opened.
  package enum Opened {
    case export(ExportReader)
    /// A member of an archive or a sheet that is no export, with the reason.
    case unread(name: String, reason: String)
  }

  private enum Content {
    case file
    /// A document of which nothing is read, with what to do instead.
    case document(String)
    case members([ZipMember], ZipArchive)
    /// The places of the sheets that are inputs.
    case sheets([Int], Spreadsheet)

    var isDocument: Bool { if case .document = self { true } else { false } }
  }

  private let file: FileSource
  private let content: Content
  private let passesOver: Bool

  /// Opens a file, or one member of an archive or one sheet by a path such as `archive.zip:member.csv` or `file.xlsx:Sheet`.
  ///
  /// - Parameter passesOver: whether a file that is no export is passed over, as a member of an archive is.
  /// - Throws: `Failure`: the file cannot be read, or is a damaged archive.
  package init(path: String, passesOver: Bool = false) throws {
    guard let (archive, member) = Self.memberPath(path) else {
      try self.init(FileSource(path: path), only: nil, passesOver: passesOver)
      return
    }
    try self.init(FileSource(path: archive), only: member, passesOver: false)
  }

  /// Takes over an open descriptor, such as standard input. An archive that comes through a pipe is kept in a file that
  /// nobody else can see.
  package init(descriptor: Int32, name: String, isInterrupted: @escaping @Sendable () -> Bool) throws {
    let source = try FileSource(descriptor: descriptor, name: name)
    source.isInterrupted = isInterrupted
    try self.init(source, only: nil, passesOver: false)
  }

  private init(_ source: FileSource, only member: String?, passesOver: Bool) throws {
    guard ZipArchive.isArchive(try source.peek(4)) else {
      (file, self.passesOver) = (source, passesOver)
      content = try Self.compoundFile(source).map { .document($0) } ?? .file
      guard member == nil || content.isDocument else {
        throw Failure(.missingInput, "\(source.name): not a ZIP archive or a spreadsheet")
      }
      return
    }
    let isInterrupted = source.isInterrupted
    file = source.isRegularFile ? source : try Spool.copy([], then: source, name: source.name)
    let archive = try ZipArchive(descriptor: file.descriptor, name: file.name)
    switch try Spreadsheet.kind(
      of: archive, isInterrupted: isInterrupted, makeOverflow: { try UnlinkedFile() })
    {
    case .refused(let document):
      (content, self.passesOver) = (.document(document), passesOver)
      return
    case .spreadsheet(let spreadsheet):
      let places = try Self.sheets(of: spreadsheet, only: member, name: file.name)
      content = .sheets(places, spreadsheet)
      // The sheet that a person named, or the only one, is an input like a file.
      self.passesOver = member == nil && (passesOver || places.count > 1)
      return
    case nil: break
    }
    var members = archive.members.filter { member == nil ? !$0.isHidden : $0.name == member }
    members.sort { NaturalOrder.isBefore($0.name, $1.name) }
    if let member, members.isEmpty {
      throw Failure(.missingInput, "\(file.name): the archive has no member \(PathText.shown(member))")
    }
    content = .members(members, archive)
    // A member that a person named has to be one.
    self.passesOver = member == nil
  }

  /// What a file with several inputs is, for messages.
  package enum Container: String {
    case archive
    case spreadsheet

    /// What one of its inputs is.
    package var part: String { self == .archive ? "member" : "sheet" }
  }

  /// What the file is where it can have several inputs; nil for one that is an input itself.
  package var container: Container? {
    switch content {
    case .members: .archive
    case .sheets(let places, _): places.count == 1 ? nil : .spreadsheet
    case .file, .document: nil
    }
  }

  /// How many inputs there are.
  package var count: Int {
    switch content {
    case .members(let members, _): members.count
    case .sheets(let places, _): places.count
    case .file, .document: 1
    }
  }

  /// Opens the input at a place, from 0. An input that is no archive can be opened once.
  ///
  /// - Throws: `Failure`: the input cannot be read, is of no known format and no member of an archive, or leaves something
  ///   open that an option settles.
  package func open(_ place: Int, options: ExportOptions) throws -> Opened {
    do {
      switch content {
      case .document(let kind): throw UnrecognisedInput(name: file.name, reason: "this is \(kind)")
      case .file: return try .export(ExportReader(source: file, options: options))
      case .members(let members, let archive):
        return try Self.open(members[place], of: archive, in: file, options)
      case .sheets(let places, let spreadsheet):
        return try open(places[place], of: spreadsheet, options)
      }
    } catch let unrecognised as UnrecognisedInput {
      guard passesOver else { throw unrecognised.failure }
      return .unread(name: unrecognised.name, reason: unrecognised.reason)
    }
  }

  private static func open(
    _ member: ZipMember, of archive: ZipArchive, in file: FileSource, _ options: ExportOptions
  ) throws -> Opened {
    if let refusal = member.refusal { return .unread(name: "\(file.name):\(member.name)", reason: refusal) }
    let source = try ArchivedSource(member, of: archive, in: file)
    source.isInterrupted = options.isInterrupted
    // A member that no format takes is not unpacked to its end.
    let reader = try ExportReader(source: source, options: options)
    return .export(reader)
  }

  private func open(
    _ place: Int, of spreadsheet: Spreadsheet, _ options: ExportOptions
  ) throws -> Opened {
    let source = SheetSource(place, of: spreadsheet, in: file)
    let sheet = spreadsheet.sheets[place]
    if let refusal = sheet.refusal { throw UnrecognisedInput(name: source.name, reason: refusal) }
    if sheet.isHidden, passesOver {
      throw UnrecognisedInput(
        name: source.name, reason: "the sheet is hidden; to import it, add its name to that of the file")
    }
    return try .export(ExportReader(source: source, options: options))
  }

  /// The sheets that are inputs.
  ///
  /// - Throws: `Failure` where there is none, or none of a name.
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

  /// What a document of an old office program or an encrypted one is; nil for any other file.
  private static func compoundFile(_ source: FileSource) throws -> String? {
    guard source.isRegularFile else { return nil }
    let head = try source.peek(512)
    let directory = try CompoundFile.directoryOffset(head).map { try source.peek(4096, at: $0) }
    return CompoundFile.refusal(head, directory: directory ?? [])
  }

  /// The parts of `archive.zip:member.csv` or `file.xlsx:Sheet`; nil for the path of a file.
  private static func memberPath(_ path: String) -> (archive: String, member: String)? {
    let colons = [".zip:", ".xlsx:", ".xlsm:", ".xls:", ".ods:"].compactMap { path.firstRange(of: $0) }
    guard let colon = colons.min(by: { $0.lowerBound < $1.lowerBound }) else { return nil }
    return (path[..<colon.upperBound].dropLast().description, path[colon.upperBound...].description)
  }
}

/// Names in the order in which people list them: numbers in them by size.
enum NaturalOrder {
  static func isBefore(_ one: String, _ other: String) -> Bool {
    var (left, right) = (Array(one.utf8)[...], Array(other.utf8)[...])
    while let a = left.first, let b = right.first {
      if isDigit(a), isDigit(b) {
        let (first, second) = (takeNumber(&left), takeNumber(&right))
        if first.count != second.count { return first.count < second.count }
        if first != second { return first.lexicographicallyPrecedes(second) }
      } else {
        if a != b { return a < b }
        (left, right) = (left.dropFirst(), right.dropFirst())
      }
    }
    if left.isEmpty != right.isEmpty { return left.isEmpty }
    // `a01` and `a1` differ only in zeros.
    return one < other
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 <= 9 }

  private static func takeNumber(_ text: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let digits = text.prefix(while: isDigit)
    text = text.dropFirst(digits.count)
    return digits.drop { $0 == 0x30 }
  }
}
