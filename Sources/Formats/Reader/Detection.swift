// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Decides on the format of an input from its content alone.
enum Detection {
  /// A format that reads the input, and how its rows are found.
  typealias Found = (parser: any ExportFormat, layout: Layout)

  /// The first format that recognises the input and finds its header.
  ///
  /// - Parameter formats: the formats in the order of detection.
  /// - Throws: `Failure` of category `badInput` that says what was seen and what would settle it.
  static func parser(
    for input: Input, options: ExportOptions, among formats: [any ExportFormat.Type] = ExportRegister.formats
  ) throws -> Found {
    let head = input.head
    if !options.columns.isEmpty {
      return try reader(GenericFormat.self, try namedColumns(of: input, options: options), head, options)
    }
    if let wanted = options.format { return try parser(wanted, for: input, options: options, among: formats) }
    for type in formats {
      if let found = try recognised(by: type, head, options) { return found }
    }
    let advice = "unknown format; 'glucoport formats' lists the formats"
    let reason = GenericFormat.explain(head, options: options) ?? advice
    throw Failure(.badInput, "\(input.source.name): \(reason)")
  }

  /// The format that a person named.
  private static func parser(
    _ wanted: String, for input: Input, options: ExportOptions, among formats: [any ExportFormat.Type]
  ) throws -> Found {
    guard let type = formats.first(where: { $0.id == wanted }) else {
      throw Failure(.usage, "unknown format '\(wanted)'; 'glucoport formats' lists the formats")
    }
    if GenericFormat.isEmptyList(input.head), let found = try emptyList(of: type, input.head, options) {
      return found
    }
    try refuseRows(of: type, options: options)
    if let found = try recognised(by: type, input.head, options) { return found }
    let reason = wanted == GenericFormat.id ? GenericFormat.explain(input.head, options: options) : nil
    throw Failure(.badInput, "\(input.source.name): \(reason ?? "this is no \(type.title)")")
  }

  private static func recognised<Format: ExportFormat>(
    by type: Format.Type, _ head: InputHead, _ options: ExportOptions
  ) throws -> Found? {
    guard let found = type.recognise(head, options: options) else { return nil }
    let result = try reader(type, found, head, options)
    try refuseRows(of: type, options: options)
    return result
  }

  private static func emptyList<Format: ExportFormat>(
    of type: Format.Type, _ head: InputHead, _ options: ExportOptions
  ) throws -> Found? {
    guard let header = type.emptyList else { return nil }
    return try reader(type, Recognition(layout: .objects(columns: []), header: header), head, options)
  }

  private static func reader<Format: ExportFormat>(
    _ type: Format.Type, _ found: Recognition<Format.Header>, _ head: InputHead, _ options: ExportOptions
  ) throws -> Found {
    (try type.init(found, head: head, options: options), found.layout)
  }

  /// - Throws: `Failure` of category `usage` for `--where` with a format that cannot leave rows out.
  private static func refuseRows(of type: any ExportFormat.Type, options: ExportOptions) throws {
    guard type != GenericFormat.self, !options.rows.isEmpty else { return }
    throw Failure(
      .usage, "--where is only for the format \(GenericFormat.id); this input is: \(type.title)")
  }

  /// The columns that `--map` names, which only the generic format reads.
  private static func namedColumns(
    of input: Input, options: ExportOptions
  ) throws -> Recognition<GenericFinding> {
    if let wanted = options.format, wanted != GenericFormat.id {
      throw Failure(.usage, "--map is only for the format \(GenericFormat.id), not for '\(wanted)'")
    }
    do {
      return try GenericFormat.recogniseNamed(input.head, options: options)
    } catch let failure as Failure where failure.category == .badInput {
      throw Failure(failure.category, "\(input.source.name): \(failure.message)")
    }
  }
}

/// Inputs that are no text, or text of another kind, by their first bytes.
enum Signature {
  private static let binaries: [(bytes: [UInt8], what: String)] = [
    ([0x50, 0x4B, 0x03, 0x04], "a zip archive or spreadsheet (XLSX); unpack it, or save the sheet as CSV"),
    (Array("SQLite".utf8), "an SQLite database (an app's backup?), not an export"),
    ([0xD0, 0xCF, 0x11, 0xE0], "an old spreadsheet (XLS); save each sheet as CSV"),
    (Array("%PDF".utf8), "a PDF report; export CSV instead"),
    ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], "compressed with xz; use: xz -dc FILE | glucoport import -"),
    ([0x28, 0xB5, 0x2F, 0xFD], "compressed with zstd; use: zstd -dc FILE | glucoport import -"),
    (Array("BZh".utf8), "compressed with bzip2; use: bzip2 -dc FILE | glucoport import -"),
  ]

  /// - Throws: `Failure` of category `badInput` with advice.
  static func refuseUnreadable(_ bytes: [UInt8], name: String) throws {
    for binary in binaries where bytes.starts(with: binary.bytes) {
      throw Failure(.badInput, "\(name): this is \(binary.what)")
    }
    let start = String(decoding: bytes.prefix(512), as: UTF8.self).lowercased()
      .drop { $0.isWhitespace || $0 == "\u{FEFF}" || $0 == "\0" }
    if start.isEmpty, bytes.count < 512 {
      throw Failure(.badInput, "\(name): the input is empty")
    }
    if start.hasPrefix("<!doctype html") || start.hasPrefix("<html") {
      throw Failure(.badInput, "\(name): this is a web page (a login page?), not an export")
    }
    if start.hasPrefix("<") {
      throw Failure(.badInput, "\(name): this is XML, which glucoport does not read")
    }
  }
}
