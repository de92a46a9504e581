// SPDX-License-Identifier: Apache-2.0

/// The identities of records, nodes and logbooks.
package enum Guid {
  /// Whether a text is a UUID in lower case.
  package static func isValid(_ text: String) -> Bool {
    text.utf8.count == 36
      && text.utf8.enumerated().allSatisfy { index, byte in
        switch index {
        case 8, 13, 18, 23: byte == UInt8(ascii: "-")
        default: (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66)
        }
      }
  }

  /// Whether an id is computed from content, as for imported records and readings. Computed ids of records
  /// are UUIDs of version 8. The id of a record that a person creates in glucoport is random.
  package static func isDerived(_ text: String) -> Bool {
    !isValid(text) || text.utf8.dropFirst(14).first == UInt8(ascii: "8")
  }
}

extension JSONScanner {
  private static let maxTokenBytes = 128

  /// Reads an identity: the 36 characters of a UUID in lower case.
  package mutating func guid() throws(JSONError) -> String {
    let text = try string()
    guard Guid.isValid(text) else { throw error("a UUID in lower case is expected") }
    return text
  }

  /// Reads a token, such as a cursor, that only the server understands: 1 to 128 visible ASCII characters.
  package mutating func token() throws(JSONError) -> String {
    let text = try string()
    guard !text.isEmpty, text.utf8.count <= Self.maxTokenBytes,
      text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else {
      throw error("a mark of 1 to \(Self.maxTokenBytes) visible ASCII characters is expected")
    }
    return text
  }

  /// Reads a token that only the server understands, or `null`.
  package mutating func optionalToken() throws(JSONError) -> String? {
    consume(word: "null") ? nil : try token()
  }
}
