// SPDX-License-Identifier: Apache-2.0

/// The origin of a record: the format or driver that imported the record, and the program or device that
/// wrote it. The provenance is stored once with the record and never changes; edits, merges and conflicts
/// keep it.
///
/// Records that state something about other items, such as time zones, have no provenance, since each store
/// may create the same record.
public struct Provenance: Hashable, Sendable {
  /// The id of the format, the driver or the kind of remote; for an entry typed into glucoport, the format of
  /// `typed`.
  public let format: String
  /// The program or device that wrote the record, by its name in the source: Apple Health's `sourceName`,
  /// Nightscout's `enteredBy`, Tidepool's `deviceId`. Empty if the source states none.
  public let source: String

  /// The maximum length of a format's id in bytes.
  public static let maxFormatBytes = 64
  /// The maximum length of a source's name in bytes.
  public static let maxSourceBytes = 128
  /// The provenance of entries typed into glucoport.
  public static let typed = Provenance(format: "glucoport")

  /// A provenance with these texts, without control characters, shortened if they are too long.
  public init(format: String, source: String = "") {
    self.format = Self.bounded(format, maxBytes: Self.maxFormatBytes)
    self.source = Self.bounded(source, maxBytes: Self.maxSourceBytes)
  }

  /// The text without control characters, and without blanks at its ends. A text that is too long is cut
  /// after a whole Unicode scalar.
  private static func bounded(_ text: String, maxBytes: Int) -> String {
    // Most texts need no change, and are returned without a copy.
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
  /// The maximum number of bytes of `json`. Each byte of the texts takes at most two bytes in JSON.
  static let maxJSONBytes = 2 * (maxFormatBytes + maxSourceBytes) + 32

  /// The value as canonical JSON: equal values have equal texts.
  package var json: String { "{\"format\":\(jsonText(format)),\"source\":\(jsonText(source))}" }

  /// Parses a provenance from a JSON text.
  package init(json text: String) throws(JSONError) {
    self = try JSONScanner.read(Array(text.utf8)) { (scanner) throws(JSONError) in try Provenance(&scanner) }
  }

  /// Reads a provenance from a JSON object. A text that `init(format:source:)` would shorten or change is
  /// refused, so that every store has the same value.
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
