// SPDX-License-Identifier: Apache-2.0

import GRDB

extension Store {
  /// The identities, as canonical texts, of the readings that an annotation excludes.
  public func excludedReadings() throws -> Set<String> {
    try read { database in
      try String.fetchSet(
        database,
        sql: """
          SELECT fields ->> 'reading' FROM record
          WHERE kind = 'annotation' AND deleted = 0 AND fields ->> 'excluded' = 1
            AND json_type(fields, '$.reading') = 'text'
          """)
    }
  }
}
