// SPDX-License-Identifier: Apache-2.0

/// The age of an export. If two exports contain the same item, their ages decide which content is newer. The
/// age is synced with the content that an import wrote. So every store knows it, even if another store made
/// the import.
///
/// An export from a pipe has no file, so it has the time of its import. If two ages are equal, the caller
/// decides: of two imports, the later one counts.
package struct ExportAge: Hashable, Sendable {
  /// The time of the newest item, in UTC seconds; 0 if unknown.
  package let generated: Int64
  /// The time of the file or, without a file, of the import, in UTC seconds.
  package let modified: Int64

  /// The age of an export with these times.
  package init(generated: Int64, modified: Int64) { (self.generated, self.modified) = (generated, modified) }

  /// The best known time at which the export was made, in UTC seconds: `generated`, or `modified` if it is
  /// unknown.
  package var instant: Int64 { generated == 0 ? modified : generated }
}

extension ExportAge: Comparable {
  package static func < (left: Self, right: Self) -> Bool {
    (left.generated, left.modified) < (right.generated, right.modified)
  }
}

// MARK: - Canonical JSON

extension ExportAge {
  /// The maximum number of bytes of `json`.
  static let maxJSONBytes = 96

  /// The value as canonical JSON: equal values have equal texts.
  package var json: String {
    let modified = "\"modified_at\":\"\(DeviceTime(seconds: modified).text)Z\"}"
    return generated == 0
      ? "{" + modified : "{\"generated_at\":\"\(DeviceTime(seconds: generated).text)Z\"," + modified
  }

  /// Reads an age from a JSON object.
  package init(_ scanner: inout JSONScanner) throws(JSONError) {
    var (generated, modified): (Int64, Int64?) = (0, nil)
    try scanner.object { (name, scanner) throws(JSONError) in
      switch name {
      case "generated_at": generated = scanner.consume(word: "null") ? 0 : try scanner.instant()
      case "modified_at": modified = try scanner.instant()
      default: return false
      }
      return true
    }
    guard let modified else { throw scanner.error("an export with its time is expected") }
    self.init(generated: generated, modified: modified)
  }
}
