// SPDX-License-Identifier: Apache-2.0

import Foundation

extension RecordFields {
  /// The fields from the text that `json` writes: an object of numbers, texts, flags and lists of words.
  ///
  /// - Throws: `Failure` of category `badInput` when the text is anything else.
  public init(json text: String) throws {
    do {
      self.init(try JSONDecoder().decode([String: FieldValue].self, from: Data(text.utf8)))
    } catch is DecodingError {
      throw Failure(
        .badInput, "the fields of a record are no object of numbers, texts, flags and lists of words")
    }
  }
}

extension FieldValue: Decodable {
  /// The value that JSON holds; of the four shapes none reads as another.
  public init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let flag = try? value.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let words = try? value.decode([String].self) {
      self = .words(Set(words).sorted())
    } else {
      self = .text(try value.decode(String.self))
    }
  }
}
