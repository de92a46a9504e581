// SPDX-License-Identifier: Apache-2.0

import Logbook

extension RecordFields {
  /// The fields of the JSON object that a field of an export holds; nil for anything else.
  init?(json field: Field) {
    do throws(JSONError) {
      self = try JSONScanner.read(Array(field.bytes)) { (scanner) throws(JSONError) in
        try RecordFields(&scanner)
      }
    } catch {
      return nil
    }
  }
}
