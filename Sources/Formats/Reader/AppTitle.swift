// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The title above the table of an app: the name of the app, and the name of the person in the next cell.
enum AppTitle {
  /// What a row states about the person: the title begins another export.
  static func personRow(_ row: Row, of app: StaticString) -> PersonRow {
    guard row.count > 1, row[0].trimmed.equals(app) else { return .other }
    return .title([row[1].trimmed.text])
  }

  /// The person in the rows above the header; empty without a title or a name.
  static func persons(_ rows: [[String]], of app: StaticString) -> [StatedPerson] {
    let names = rows.filter { $0.count > 1 && $0[0] == app.description }.map { $0[1] }
    return names.compactMap { StatedPerson(name: $0) }
  }
}
