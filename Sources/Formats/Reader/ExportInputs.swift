// SPDX-License-Identifier: Apache-2.0

import Archives
import Logbook

/// The inputs that a path holds: a file is one, a ZIP archive has one for each of its members.
///
/// Members come in the order of their names, numbers in them by size: `cgm_data_2.csv` before `cgm_data_10.csv`. So what is
/// imported does not depend on who packed them.
package struct ExportInputs {
  /// An input, opened.
  package enum Opened {
    case export(ExportReader)
    /// A member of an archive that is no export, with the reason.
    case unread(name: String, reason: String)
  }

  private enum Content {
    case file
    /// An archive that is one document.
    case document(String)
    case members([ZipMember], ZipArchive)
  }

  private let file: FileSource
  private let content: Content
  private let passesOver: Bool

  /// Opens a file, or one member of an archive by a path such as `archive.zip:member.csv`.
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
      guard member == nil else {
        throw Failure(.missingInput, "\(source.name): not a ZIP archive")
      }
      (file, content, self.passesOver) = (source, .file, passesOver)
      return
    }
    file = source.isRegularFile ? source : try Spool.copy([], then: source, name: source.name)
    let archive = try ZipArchive(descriptor: file.descriptor, name: file.name)
    if let document = Self.document(archive.members) {
      (content, self.passesOver) = (.document(document), passesOver)
      return
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

  /// Whether the inputs are members of an archive.
  package var isArchive: Bool { if case .members = content { true } else { false } }

  /// How many inputs there are.
  package var count: Int { if case .members(let members, _) = content { members.count } else { 1 } }

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

  /// What the members of an archive are together; nil for files that somebody put into one.
  private static func document(_ members: [ZipMember]) -> String? {
    let names = Set(members.map(\.name))
    if names.contains("xl/workbook.xml") { return "a spreadsheet (XLSX); save each sheet as CSV" }
    if names.contains("mimetype"), names.contains("content.xml") {
      return "a spreadsheet or text of an office program; save each sheet as CSV"
    }
    return nil
  }

  /// The parts of `archive.zip:member.csv`; nil for the path of a file.
  private static func memberPath(_ path: String) -> (archive: String, member: String)? {
    guard let colon = path.firstRange(of: ".zip:") else { return nil }
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
