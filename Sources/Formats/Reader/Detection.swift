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
      let layout = try namedColumns(of: input, options: options)
      return (try GenericFormat(layout: layout, head: head, options: options), layout)
    }
    if let wanted = options.format { return try parser(wanted, for: input, options: options, among: formats) }
    var missing: HeaderMissing?
    for type in formats {
      guard let layout = layout(of: head, as: type, options: options) else { continue }
      do {
        let parser = try type.init(layout: layout, head: head, options: options)
        try refuseRows(of: type, options: options)
        return (parser, layout)
      } catch let error as HeaderMissing {
        missing = missing ?? error
      }
    }
    let advice = "of no format that glucoport knows; 'glucoport formats' lists those that it does"
    let reason = GenericFormat.explain(head, options: options) ?? missing?.message ?? advice
    throw Failure(.badInput, "\(input.source.name): \(reason)")
  }

  /// The format that a person named.
  private static func parser(
    _ wanted: String, for input: Input, options: ExportOptions, among formats: [any ExportFormat.Type]
  ) throws -> Found {
    let (head, name) = (input.head, input.source.name)
    guard let type = formats.first(where: { $0.id == wanted }) else {
      throw Failure(.usage, "there is no format '\(wanted)'; 'glucoport formats' lists them")
    }
    if type.readsJSON, GenericFormat.isEmptyList(head) {
      let layout = Layout.objects(columns: [])
      return (try type.init(layout: layout, head: head, options: options), layout)
    }
    try refuseRows(of: type, options: options)
    guard let layout = layout(of: head, as: type, options: options) else {
      let reason = wanted == GenericFormat.id ? GenericFormat.explain(head, options: options) : nil
      throw Failure(.badInput, "\(name): \(reason ?? "this is no \(type.title)")")
    }
    do {
      return (try type.init(layout: layout, head: head, options: options), layout)
    } catch let error as HeaderMissing {
      throw Failure(.badInput, "\(name): \(error.message)")
    }
  }

  /// Only the generic format asks the options what its rows are.
  private static func layout(
    of head: InputHead, as type: any ExportFormat.Type, options: ExportOptions
  ) -> Layout? {
    type == GenericFormat.self ? GenericFormat.recognise(head, rows: options.rows) : type.recognise(head)
  }

  /// - Throws: `Failure` of category `usage` for `--where` with a format that cannot leave rows out.
  private static func refuseRows(of type: any ExportFormat.Type, options: ExportOptions) throws {
    guard type != GenericFormat.self, !options.rows.isEmpty else { return }
    throw Failure(
      .usage, "--where is for tables that the format \(GenericFormat.id) reads, and this is: \(type.title)")
  }

  /// The layout of an input whose columns `--map` names, which only the generic format reads.
  private static func namedColumns(of input: Input, options: ExportOptions) throws -> Layout {
    if let wanted = options.format, wanted != GenericFormat.id {
      throw Failure(.usage, "--map is for the format \(GenericFormat.id), not for '\(wanted)'")
    }
    do {
      return try GenericFormat.layout(of: input.head, options: options)
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
