// SPDX-License-Identifier: Apache-2.0

import Logbook

extension RecordFields {
  /// The fields as the store keeps them.
  ///
  /// - Throws: `Failure` of category `badInput` for what another program may have written there.
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
