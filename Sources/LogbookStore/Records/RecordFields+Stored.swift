// SPDX-License-Identifier: Apache-2.0

import Logbook

extension RecordFields {
  /// The fields in their stored form.
  ///
  /// - Throws: `Failure` of category `badInput` for content that another program wrote.
  init(stored text: String, of guid: String) throws(Failure) {
    do throws(JSONError) {
      self = try RecordFields(uncheckedJSON: text)
    } catch {
      throw Failure(
        .badInput,
        "\(guid): the fields of this record are not an object of numbers, texts, flags and lists of words: \(error.reason)"
      )
    }
  }
}
