// SPDX-License-Identifier: Apache-2.0

/// Where a record came from: which format or driver brought it, and which program wrote it there. It is learned once, with
/// the record, and never changes; edits, merges and conflicts keep it.
///
/// Records that state something about others, such as time zones, have none: each store may make the same one.
public struct Provenance: Hashable, Sendable {
  /// The id of the format, the driver or the kind of remote; that of `typed` for what a person typed into glucoport.
  public let format: String
  /// The program or device within it, as the source names it: Apple Health's `sourceName`, Nightscout's `enteredBy`,
  /// Tidepool's `deviceId`. Empty where the source names none.
  public let source: String

  /// The longest id of a format, in bytes.
  public static let maxFormatBytes = 64
  /// The longest name of a source, in bytes.
  public static let maxSourceBytes = 128
  /// That of what a person typed into glucoport.
  public static let typed = Provenance(format: "glucoport")

  /// A provenance of these texts, without control characters and cut where they are too long.
  public init(format: String, source: String = "") {
    self.format = Self.bounded(format, maxBytes: Self.maxFormatBytes)
    self.source = Self.bounded(source, maxBytes: Self.maxSourceBytes)
  }

  /// The text without control characters and without blanks at its ends, cut between two characters.
  private static func bounded(_ text: String, maxBytes: Int) -> String {
    // Most texts are such; nothing of them is copied.
    let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } && text.first != " " && text.last != " "
    if isPlain, text.utf8.count <= maxBytes { return text }
    let scalars = text.unicodeScalars.lazy.filter { $0.properties.generalCategory != .control }
    var (bytes, kept) = (0, String.UnicodeScalarView())
    for scalar in scalars.drop(while: { $0.properties.isWhitespace }) {
      bytes += String(scalar).utf8.count
      guard bytes <= maxBytes else { break }
      kept.append(scalar)
    }
    while kept.last?.properties.isWhitespace == true { kept.removeLast() }
    return String(kept)
  }
}

// MARK: - Canonical JSON

extension Provenance {
  /// The most bytes of `json`: each byte of a text takes at most two.
  static let maxJSONBytes = 2 * (maxFormatBytes + maxSourceBytes) + 32

  /// Canonical JSON: equal values are equal text.
  package var json: String { "{\"format\":\(jsonText(format)),\"source\":\(jsonText(source))}" }

  /// The value in a JSON text.
  package init(json text: String) throws(JSONError) {
    self = try JSONScanner.read(Array(text.utf8)) { (scanner) throws(JSONError) in try Provenance(&scanner) }
  }

  /// Reads the object of a provenance. Texts that the initialiser would change are refused: a value is the same everywhere.
  package init(_ scanner: inout JSONScanner) throws(JSONError) {
    var (format, source): (String?, String) = (nil, "")
    try scanner.object { (name, scanner) throws(JSONError) in
      switch name {
      case "format": format = try scanner.string()
      case "source": source = try scanner.string()
      default: return false
      }
      return true
    }
    guard let format, !format.isEmpty else { throw scanner.error("a provenance with its format is expected") }
    let provenance = Provenance(format: format, source: source)
    guard provenance.format.utf8.elementsEqual(format.utf8), provenance.source.utf8.elementsEqual(source.utf8)
    else { throw scanner.error("a provenance with control characters, or longer than allowed") }
    self = provenance
  }
}
