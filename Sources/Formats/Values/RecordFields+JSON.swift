// SPDX-License-Identifier: Apache-2.0

import Logbook

extension RecordFields {
  /// The fields of the JSON object in a field of an export, of any size; nil for any other text.
  init?(json field: Field) {
    do throws(JSONError) {
      self = try RecordFields(uncheckedJSON: String(decoding: field.bytes, as: UTF8.self))
    } catch {
      return nil
    }
  }
}
