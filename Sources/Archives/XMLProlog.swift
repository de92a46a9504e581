// SPDX-License-Identifier: Apache-2.0

/// The part of XML before the root element: declaration, comments, document type.
///
/// The document type is located but not read. It can only add entities and defaults, and no export needs
/// them. Some versions of Apple Health write a document type that is not well-formed.
package struct XMLProlog {
  /// The longest accepted prolog, in bytes.
  package static let maxLength = 1 << 20

  /// The range of the document type; nil if there is none.
  package private(set) var documentType: Range<Int>?
  /// The name of the root element, or the name in the document type; nil if both are missing.
  package private(set) var rootElement: String?
  /// Whether the root element begins in these bytes.
  package private(set) var isComplete = false
  /// Whether the document type declares entities. A hostile document can expand them without limit.
  package private(set) var declaresEntities = false

  private let bytes: UnsafeBufferPointer<UInt8>
  private var place = 0

  package init(_ bytes: [UInt8]) {
    self = bytes.withUnsafeBufferPointer { XMLProlog($0) }
  }

  /// - Parameter bytes: UTF-8; not used after this call.
  package init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
    if starts([0xEF, 0xBB, 0xBF]) { place = 3 }
    while skipBlanks() {
      if starts(Array("<?".utf8)) {
        guard skip(past: Array("?>".utf8)) else { return }
      } else if starts(Array("<!--".utf8)) {
        guard skip(past: Array("-->".utf8)) else { return }
      } else if starts(Array("<!DOCTYPE".utf8)), documentType == nil {
        guard skipDocumentType() else { return }
      } else {
        if bytes[place] == UInt8(ascii: "<") { readRoot() }
        return
      }
    }
  }

  private func starts(_ word: [UInt8]) -> Bool { bytes[place...].starts(with: word) }

  private mutating func skipBlanks() -> Bool {
    while place < bytes.count, bytes[place] <= 0x20 { place += 1 }
    return place < bytes.count
  }

  private mutating func skip(past word: [UInt8]) -> Bool {
    while place < bytes.count {
      if bytes[place] == word[0], starts(word) {
        place += word.count
        return true
      }
      place += 1
    }
    return false
  }

  private func name(at start: Int) -> String? {
    var end = start
    while end < bytes.count, bytes[end] > 0x20, !"<>/[".utf8.contains(bytes[end]) { end += 1 }
    return end > start && end < bytes.count ? String(decoding: bytes[start..<end], as: UTF8.self) : nil
  }

  private mutating func readRoot() {
    guard let name = name(at: place + 1) else { return }
    rootElement = name
    isComplete = true
  }

  /// Moves past `<!DOCTYPE name [ … ]>`. The content of the brackets ends at the first `]` before a `>`,
  /// outside of comments. Returns false if the document type is incomplete.
  private mutating func skipDocumentType() -> Bool {
    let start = place
    place += 9
    guard skipBlanks() else { return false }
    rootElement = name(at: place)
    var isInside = false
    while place < bytes.count {
      switch bytes[place] {
      case UInt8(ascii: "["): isInside = true
      case UInt8(ascii: "<") where starts(Array("<!--".utf8)):
        guard skip(past: Array("-->".utf8)) else { return false }
        continue
      case UInt8(ascii: "<") where starts(Array("<!ENTITY".utf8)): declaresEntities = true
      case UInt8(ascii: "]"):
        place += 1
        guard skipBlanks() else { return false }
        if bytes[place] == UInt8(ascii: ">") { isInside = false }
        continue
      case UInt8(ascii: ">") where !isInside:
        place += 1
        documentType = start..<place
        return true
      default: break
      }
      place += 1
    }
    return false
  }
}
