// SPDX-License-Identifier: Apache-2.0

import Archives
import Logbook

/// Chooses the format of an input by its content only.
enum Detection {
  /// A format that reads the input, and the layout of the input.
  typealias Found = (parser: any ExportFormat, layout: Layout)

  /// The first format that recognises the input and finds its header.
  ///
  /// - Parameter formats: the formats in the order of detection.
  /// - Throws: `UnrecognisedInput` that describes what was seen, and what a person can do.
  static func parser(
    for input: Input, options: ExportOptions, among formats: [any ExportFormat.Type] = FormatRegister.formats
  ) throws -> Found {
    let head = input.head
    if let refusal = ServerAnswer.refusal(of: head) {
      let reason = options.isFetched ? ServerAnswer.fetchedReason : refusal
      throw UnrecognisedInput(name: input.source.name, reason: reason)
    }
    if !options.columns.isEmpty {
      return try reader(GenericFormat.self, try namedColumns(of: input, options: options), input, options)
    }
    if let wanted = options.format { return try parser(wanted, for: input, options: options, among: formats) }
    if let refusal = Signature.refusal(of: head) {
      throw UnrecognisedInput(name: input.source.name, reason: refusal)
    }
    for type in formats {
      if let found = try recognised(by: type, input, options) { return found }
    }
    let advice = "unknown format; 'glucoport formats' lists the formats"
    let reason = GenericFormat.explain(head, options: options) ?? advice
    throw UnrecognisedInput(name: input.source.name, reason: reason)
  }

  /// The parser of the format that a person named.
  private static func parser(
    _ wanted: String, for input: Input, options: ExportOptions, among formats: [any ExportFormat.Type]
  ) throws -> Found {
    guard let type = formats.first(where: { $0.id == wanted }) else {
      throw Failure(.usage, "unknown format '\(wanted)'; 'glucoport formats' lists the formats")
    }
    if GenericFormat.isEmptyList(input.head), let found = try emptyList(of: type, input, options) {
      return found
    }
    if let found = try recognised(by: type, input, options) { return found }
    let reason = wanted == GenericFormat.id ? GenericFormat.explain(input.head, options: options) : nil
    throw UnrecognisedInput(name: input.source.name, reason: reason ?? "the input is not \(type.title)")
  }

  private static func recognised<Format: ExportFormat>(
    by type: Format.Type, _ input: Input, _ options: ExportOptions
  ) throws -> Found? {
    guard let found = type.recognise(input.head, options: options) else { return nil }
    return try reader(type, found, input, options)
  }

  private static func emptyList<Format: ExportFormat>(
    of type: Format.Type, _ input: Input, _ options: ExportOptions
  ) throws -> Found? {
    guard let header = type.emptyList else { return nil }
    return try reader(type, Recognition(layout: .objects(columns: []), header: header), input, options)
  }

  private static func reader<Format: ExportFormat>(
    _ type: Format.Type, _ found: Recognition<Format.Header>, _ input: Input, _ options: ExportOptions
  ) throws -> Found {
    (try naming(input) { try type.init(found, head: input.head, options: options) }, found.layout)
  }

  /// Runs `work`. If it fails because of a bad input, the input's name is added to the message.
  private static func naming<Value>(_ input: Input, _ work: () throws -> Value) throws -> Value {
    do {
      return try work()
    } catch let failure as Failure where failure.category == .badInput {
      throw Failure(failure.category, "\(input.source.name): \(failure.message)")
    }
  }

  /// Recognises an input by the columns that `--map` names. Only the generic format reads such an input.
  private static func namedColumns(
    of input: Input, options: ExportOptions
  ) throws -> Recognition<GenericFinding> {
    if let wanted = options.format, wanted != GenericFormat.id {
      throw Failure(.usage, "--map is only for the format \(GenericFormat.id), not for '\(wanted)'")
    }
    return try naming(input) { try GenericFormat.recogniseNamed(input.head, options: options) }
  }
}

/// An input that no format reads. It ends an import only if it is the only input. Among the members of an
/// archive or the files of a folder it is listed and skipped.
struct UnrecognisedInput: Error {
  let name: String
  let reason: String

  var failure: Failure { Failure(.badInput, "\(name): \(reason)") }
}

/// Recognises by their first bytes inputs that are not text, and texts that are not exports.
enum Signature {
  private static let binaries: [(bytes: [UInt8], what: String)] = [
    ([0x50, 0x4B, 0x03, 0x04], nestedArchive),
    (Array("SQLite format 3\0".utf8), "a compressed SQLite database; unpack it first"),
    (Array("%PDF".utf8), "a PDF report; export CSV instead"),
  ]

  /// The reason for which a ZIP archive inside another ZIP archive is refused.
  static let nestedArchive = "a ZIP archive inside of another; unpack the outer one"

  /// The reason why a table is refused although its values look like readings; nil for any other table. With
  /// `--map` a person can still choose the columns.
  ///
  /// AAPS (AndroidAPS) exports a log of what its user did. A glucose value in it is a target as often as a
  /// measurement. Its columns of numbers are named by their units, in every language (`userEntriesToCsv` of
  /// AAPS), so that the log is recognised by these names.
  static func refusal(of head: InputHead) -> String? {
    if head.firstRow(where: isFoodTable) != nil {
      return "this is a table of food: its glucose is sugar in what was eaten; "
        + "export the biometrics for blood glucose"
    }
    if isDiaguardExport(head.rows(UInt8(ascii: ";"))) {
      return "this is an export of Diaguard, whose dates and words are those of the phone; "
        + "make a backup in the app (Settings > Backup > Create backup), and import that"
    }
    return refusalOfUserEntries(head)
  }

  /// The reason why the log of user entries of AAPS is refused; nil for any other table. The log also has
  /// boluses and carbohydrates that were removed later, at the time of the entry.
  static func refusalOfUserEntries(_ head: InputHead) -> String? {
    let isLog = head.rows(UInt8(ascii: ";")).prefix(1).contains { cells in
      let units = cells.map(foldedHeader)
      guard units.count == 17 else { return false }
      return ["mg/dl", "mmol/l"].contains(units[9]) && units[10] == "g" && units[13...14] == ["%", "h"]
    }
    return isLog
      ? "this is the log of user entries of AAPS, with targets among its glucose values, and boluses that were removed; "
        + "let AAPS upload to Nightscout, and import from there" : nil
  }

  /// Whether the header is that of Cronometer's `servings.csv` or `dailysummary.csv`: energy and many
  /// nutrients in grams, without a column of blood glucose.
  private static func isFoodTable(_ cells: [String]) -> Bool {
    cells.contains("energy (kcal)") && cells.contains("glucose (g)")
      && cells.count { $0.hasSuffix("(g)") } >= 4
      && !cells.contains { $0.contains("mg/dl") || $0.contains("mmol/l") }
  }

  /// Whether the rows are an export of an older version of Diaguard. Such an export has rows with a time and
  /// a note, each followed by its values. The order of day and month is that of the phone.
  private static func isDiaguardExport(_ rows: [[String]]) -> Bool {
    guard let first = rows.first, first.count == 2, first[0].contains(":"),
      first[0].contains(where: \.isNumber)
    else { return false }
    return rows.dropFirst().contains { $0.count >= 2 && $0[0] == "bloodsugar" }
  }

  /// Refuses bytes that are not text, and text that is not an export.
  ///
  /// - Throws: `UnrecognisedInput`, with advice.
  static func refuseUnreadable(_ bytes: [UInt8], name: String) throws {
    for binary in binaries where bytes.starts(with: binary.bytes) {
      throw UnrecognisedInput(name: name, reason: "this is \(binary.what)")
    }
    if let refusal = CompoundFile.refusal(bytes, directory: []) {
      throw UnrecognisedInput(name: name, reason: "this is \(refusal)")
    }
    let start = String(decoding: bytes.prefix(512), as: UTF8.self).lowercased()
      .drop { $0.isWhitespace || $0 == "\u{FEFF}" || $0 == "\0" }
    if start.isEmpty, bytes.count < 512 {
      throw UnrecognisedInput(name: name, reason: "the input is empty")
    }
    if start.hasPrefix("<!doctype html") || start.hasPrefix("<html") {
      throw UnrecognisedInput(name: name, reason: "this is a web page (a login page?), not an export")
    }
  }
}

/// Detects another table, with another delimiter, above the header that was found.
///
/// With the delimiter of the lower table, the whole upper table looks like a preamble and would be skipped.
enum JoinedTables {
  /// - Throws: `Failure` of category `badInput` for an input that begins with another table.
  static func refuse(_ found: Detection.Found, _ input: Input, _ options: ExportOptions) throws {
    guard case .table(let delimiter) = found.layout, input.head.declaredDelimiter == nil,
      hasTable(above: found.parser, delimiter, input.head, options)
    else { return }
    throw Failure(
      .badInput,
      "\(input.source.name): the input holds two tables with different delimiters, and the first would not be read; "
        + "write each of them to a separate file")
  }

  private static func hasTable<Format: ExportFormat>(
    above parser: Format, _ delimiter: UInt8, _ head: InputHead, _ options: ExportOptions
  ) -> Bool {
    var (probe, out) = (parser, BatchBuilder(format: Format.id, options: options))
    let count =
      head.rows(delimiter).firstIndex { cells in
        if case .header = cells.withRow({ probe.read($0, into: &out) }) { true } else { false }
      } ?? 0
    guard count > 1 else { return false }
    return InputHead.delimiters.contains { other in
      other != delimiter && isTable(head.rows(other).prefix(count))
    }
  }

  /// Whether one of the rows is a header with a name for times. A row of the same width below it must have a
  /// time in that column, and a value.
  private static func isTable(_ rows: ArraySlice<[String]>) -> Bool {
    rows.indices.contains { place in
      let names = rows[place]
      guard names.count > 1, names.allSatisfy({ [.text, .valueWord, .empty].contains(CellContent($0)) })
      else { return false }
      let times = names.indices.filter { HeaderWords(names[$0]).isTime }
      guard !times.isEmpty else { return false }
      return rows[(place + 1)...].contains { $0.count == names.count && isData($0, times) }
    }
  }

  private static func isData(_ row: [String], _ times: [Int]) -> Bool {
    let contents = row.map { CellContent($0) }
    return times.contains { [.time, .midnight, .date, .epoch].contains(contents[$0]) }
      && contents.contains { [.number, .valueWord].contains($0) }
  }
}
