// SPDX-License-Identifier: Apache-2.0

/// The limits of a record's size. They apply in the protocol and to every import, so that every stored record
/// can be sent.
package enum RecordLimits {
  /// The maximum number of fields of one record.
  package static let maxFields = 256
  /// The maximum number of bytes of a field's name.
  package static let maxNameBytes = 128
  /// The maximum number of words in a field that holds a set of words.
  package static let maxWords = 1024
  /// The maximum number of bytes of one text.
  package static let maxTextBytes = 1 << 20
  /// The maximum number of bytes of a `RecordState` in canonical JSON.
  package static let maxStateBytes = RecordState.maxBytes
  /// The maximum number of JSON bytes for one byte of a text, as in `\u0001`.
  fileprivate static let maxEscapedBytes = 6
  /// The maximum size of a state's JSON without the fields, in bytes.
  fileprivate static let maxFrameBytes = 512 + Provenance.maxJSONBytes + ExportAge.maxJSONBytes
}

extension RecordFields {
  /// Why a record cannot have these fields; nil if it can. The reason contains no values of the fields.
  package var fault: String? {
    if let fault = partFault { return fault }
    // Few records are close to the limit, so the JSON text is only made for those.
    let most = RecordLimits.maxStateBytes - RecordLimits.maxFrameBytes
    guard estimatedBytes > most, json.utf8.count > most else { return nil }
    return "the record is larger than \(RecordLimits.maxStateBytes >> 20) MiB"
  }

  /// Why a single field or the number of fields is invalid. The size of the whole record is not checked here,
  /// but when it is sent.
  var partFault: String? {
    typealias Limits = RecordLimits
    guard values.count <= Limits.maxFields else {
      return "the record has more than \(Limits.maxFields) fields"
    }
    for (name, value) in values {
      guard name.utf8.count <= Limits.maxNameBytes else {
        return "the name of a field is longer than \(Limits.maxNameBytes) bytes"
      }
      switch value {
      case .text(let text): if let fault = Self.fault(of: text) { return fault }
      case .words(let words):
        guard words.count <= Limits.maxWords else { return "a field has more than \(Limits.maxWords) words" }
        for word in words { if let fault = Self.fault(of: word) { return fault } }
      case .number(let number) where !number.isFinite: return "a number of the record is not finite"
      case .number, .flag: break
      }
    }
    return nil
  }

  /// An upper estimate of the size of the JSON in bytes.
  private var estimatedBytes: Int {
    values.reduce(2) { sum, field in
      let texts: [String] =
        switch field.value {
        case .text(let text): [text]
        case .words(let words): words
        case .number, .flag: []
        }
      return texts.reduce(sum + field.key.utf8.count * RecordLimits.maxEscapedBytes + 64) {
        $0 + $1.utf8.count * RecordLimits.maxEscapedBytes + 3
      }
    }
  }

  private static func fault(of text: String) -> String? {
    if text.utf8.contains(0) { return "a text of the record contains the character U+0000" }
    guard text.utf8.count <= RecordLimits.maxTextBytes else {
      let most = RecordLimits.maxTextBytes >> 20
      return "a text of the record is longer than \(most) MiB: \(text.utf8.count) bytes"
    }
    return nil
  }
}
