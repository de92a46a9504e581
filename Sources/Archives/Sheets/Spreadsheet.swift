// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The sheets of a spreadsheet file: XLSX or ODS. A sheet is read as CSV text with commas. This class writes
/// nothing to disk.
///
/// Dates and times become ISO 8601 text, numbers become the text that a person typed, and errors become empty
/// cells that are counted. Line N of the text is row N of the sheet.
package final class Spreadsheet {
  static let maxSheets = 1024
  /// The maximum number of bytes read for all sheets: to reach a sheet of an ODS file, all sheets before it
  /// are read.
  private static let maxWork: UInt64 = 32 << 30

  package struct Sheet {
    package let name: String
    /// Whether the sheet is hidden in office programs, and may be outdated.
    package let isHidden: Bool
    /// The reason why the sheet cannot be read; nil if it can be read.
    package let refusal: String?
    /// The sheet's file in the archive; nil if one file holds all sheets.
    let part: String?
  }

  /// The kind of document that an archive is.
  package enum DocumentKind {
    case spreadsheet(Spreadsheet)
    /// A document that is not read. The text states why, and what to do instead.
    case refused(String)
  }

  /// The sheets in the order of the file.
  package private(set) var sheets: [Sheet] = []
  private var parts: SpreadsheetParts
  private var isOpenDocument = false
  private var is1904 = false
  private var stringsPath: String?
  private var stylesPath: String?
  private var loaded: (strings: SharedStrings?, forms: [CellForm])?

  private init(_ parts: SpreadsheetParts) { self.parts = parts }

  /// The kind of an archive by the names of its members; nil for an archive of separate files.
  ///
  /// - Throws: `Failure` of category `badInput` for a damaged or malicious spreadsheet.
  package static func kind(
    of archive: ZipArchive, isInterrupted: @escaping () -> Bool
  ) throws -> DocumentKind? {
    let parts = SpreadsheetParts(archive, isInterrupted)
    let sheet = Spreadsheet(parts)
    if parts.has("[content_types].xml") { return try sheet.openXLSX() }
    if parts.has("mimetype"), parts.has("content.xml") { return try sheet.openODS() }
    return nil
  }

  private func openXLSX() throws -> DocumentKind? {
    if parts.has("xl/workbook.bin") { return .refused("a binary spreadsheet (XLSB); save it as XLSX or CSV") }
    var path = "xl/workbook.xml"
    if parts.has("_rels/.rels") {
      let reader = RelationshipReader(name: parts.label("_rels/.rels"))
      try parts.read("_rels/.rels", with: reader)
      path = reader.target(ofType: "officeDocument").map { RelationshipReader.path($0, from: "") } ?? path
    }
    guard parts.has(path) else { return nil }
    let workbook = WorkbookReader(name: parts.label(path))
    try parts.read(path, with: workbook)
    guard workbook.isWorkbook else { return .refused("a document of an office program, not a spreadsheet") }
    is1904 = workbook.is1904
    let folder = path.split(separator: "/").dropLast().joined(separator: "/")
    let file = path.split(separator: "/").last ?? ""
    let relationsPath = (folder.isEmpty ? "" : "\(folder)/") + "_rels/\(file).rels"
    let relations = RelationshipReader(name: parts.label(relationsPath))
    try parts.read(relationsPath, with: relations)
    func resolved(_ target: String?) -> String? { target.map { RelationshipReader.path($0, from: folder) } }
    stringsPath = resolved(relations.target(ofType: "sharedStrings"))
    stylesPath = resolved(relations.target(ofType: "styles"))
    sheets = workbook.entries.map { entry in
      let relation = relations.relations[entry.relation]
      let isTable = relation?.type.hasSuffix("/worksheet") == true
      return Sheet(
        name: entry.name, isHidden: entry.isHidden,
        refusal: isTable ? nil : "the sheet is a chart, not a table",
        part: isTable ? resolved(relation?.target) : nil)
    }
    return .spreadsheet(self)
  }

  private func openODS() throws -> DocumentKind? {
    let type = String(decoding: try parts.bytes("mimetype", atMost: 256), as: UTF8.self)
    guard type.hasPrefix("application/vnd.oasis.opendocument.") else { return nil }
    guard type.hasPrefix("application/vnd.oasis.opendocument.spreadsheet") else {
      return .refused("a document of an office program, not a spreadsheet")
    }
    if parts.has("meta-inf/manifest.xml") {
      let manifest = try parts.bytes("meta-inf/manifest.xml", atMost: 1 << 20)
      if manifest.firstRange(of: Array("encryption-data".utf8)) != nil {
        return .refused("an encrypted spreadsheet; save it without a password")
      }
    }
    isOpenDocument = true
    let names = OpenDocumentReader(namesOf: parts.label("content.xml"))
    try parts.read("content.xml", with: names)
    let size = parts.size("content.xml")
    guard UInt64(names.sheets.count).multipliedReportingOverflow(by: size).partialValue <= Self.maxWork else {
      throw Failure(.badInput, "\(parts.label("content.xml")): too many large sheets; save each as CSV")
    }
    sheets = names.sheets.map { Sheet(name: $0.name, isHidden: $0.isHidden, refusal: nil, part: nil) }
    return .spreadsheet(self)
  }

  /// Writes a sheet as CSV text, in pieces, until the sink returns false.
  ///
  /// - Returns: the findings in the part of the sheet that was written.
  /// - Throws: `Failure` of category `badInput` for a damaged sheet, and errors of the sink.
  package func write(
    _ place: Int, isInterrupted: @escaping () -> Bool = { false },
    to sink: @escaping (UnsafeRawBufferPointer) throws -> Bool
  ) throws -> SheetFindings {
    parts.isInterrupted = isInterrupted
    let label = parts.label(sheets[place].name)
    if isOpenDocument {
      let reader = OpenDocumentReader(sheet: place, name: label, sink: sink)
      try parts.read("content.xml", with: reader)
      try reader.complete()
      return reader.findings
    }
    guard let part = sheets[place].part, parts.has(part) else {
      throw Failure(.badInput, "\(label): the sheet is missing in the file; save the file again")
    }
    let shared = try loadShared()
    let reader = WorksheetReader(
      name: label, strings: shared.strings, forms: shared.forms, is1904: is1904, sink: sink)
    try parts.read(part, with: reader)
    try reader.complete()
    return reader.findings
  }

  /// Reads the texts and number formats that all sheets share; later calls return the same result.
  private func loadShared() throws -> (strings: SharedStrings?, forms: [CellForm]) {
    if let loaded { return loaded }
    var strings: SharedStrings?
    if let stringsPath, parts.has(stringsPath) {
      let reader = SharedStrings(name: parts.label(stringsPath))
      try parts.read(stringsPath, with: reader)
      strings = reader
    }
    var forms: [CellForm] = []
    if let stylesPath, parts.has(stylesPath) {
      let reader = NumberFormats(name: parts.label(stylesPath))
      try parts.read(stylesPath, with: reader)
      forms = reader.forms
    }
    loaded = (strings, forms)
    return (strings, forms)
  }
}

/// The files of an office document by name, ignoring case.
private struct SpreadsheetParts {
  private let archive: ZipArchive
  private let members: [String: ZipMember]
  /// Whether the program was asked to end.
  var isInterrupted: () -> Bool

  init(_ archive: ZipArchive, _ isInterrupted: @escaping () -> Bool) {
    self.archive = archive
    self.isInterrupted = isInterrupted
    members = Dictionary(archive.members.map { ($0.name.lowercased(), $0) }) { first, _ in first }
  }

  func has(_ path: String) -> Bool { members[path.lowercased()] != nil }

  func size(_ path: String) -> UInt64 { members[path.lowercased()]?.size ?? 0 }

  /// The names of the document and of a file inside it, for messages.
  func label(_ path: String) -> String { "\(archive.name):\(PathText.shown(path))" }

  private func source(_ path: String) throws -> ZipMemberSource {
    guard let member = members[path.lowercased()] else {
      throw Failure(.badInput, "\(label(path)): missing in the file; save the file again")
    }
    if let refusal = member.refusal { throw Failure(.badInput, "\(label(path)): \(refusal)") }
    return try ZipMemberSource(member, of: archive, name: label(path))
  }

  func read(_ path: String, with reader: XMLPart) throws {
    try reader.read(source(path), isInterrupted: isInterrupted)
  }

  /// The first bytes of a file in the document.
  func bytes(_ path: String, atMost limit: Int) throws -> [UInt8] {
    let source = try source(path)
    var bytes = [UInt8](repeating: 0, count: limit)
    var count = 0
    while count < limit {
      let outcome = try bytes.withUnsafeMutableBytes {
        try source.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[count...]))
      }
      guard case .bytes(let more) = outcome else { break }
      count += more
    }
    return Array(bytes[..<count])
  }
}

/// Files of old office programs, and current encrypted ones: "Compound File Binary", MS-CFB.
package enum CompoundFile {
  private static let signature: [UInt8] = [0xD0, 0xCF, 0x11, 0xE0]
  /// The name of the stream with an encrypted document (MS-OFFCRYPTO, 2.3.4.4), in UTF-16 like all names in
  /// the directory.
  private static let encrypted = "EncryptedPackage".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }

  /// The offset of the directory of streams, from the first bytes of a file; nil for any other file.
  package static func directoryOffset(_ head: [UInt8]) -> Int? {
    guard head.starts(with: signature), head.count >= 512 else { return nil }
    let shift = head.number(30, 2)
    let sector = head.number(48, 4)
    guard (9...12).contains(shift), sector < 0xFFFF_FFF0 else { return nil }
    return Int((sector + 1) << shift)
  }

  /// The reason why the file is refused, and what to do instead; nil for any other file. The names of the
  /// file's streams are searched in `head` and `directory`.
  package static func refusal(_ head: [UInt8], directory: [UInt8]) -> String? {
    guard head.starts(with: signature) else { return nil }
    let isEncrypted = [head, directory].contains { $0.firstRange(of: encrypted) != nil }
    return isEncrypted
      ? "an encrypted spreadsheet; save it without a password"
      : "an old spreadsheet (XLS); save it as XLSX or CSV"
  }
}
