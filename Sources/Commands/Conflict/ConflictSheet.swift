// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// The file in which a person edits the fields of a record. Below them it has the fields of both sides.
struct ConflictSheet {
  private let conflict: RecordConflict

  init(_ conflict: RecordConflict) { self.conflict = conflict }

  /// The file as JSON; a deleted side is null.
  var text: String {
    let start = conflict.mine.isDeleted ? conflict.theirs.fields : conflict.mine.fields
    let members = start.values.sorted { $0.key < $1.key }.map {
      "    " + RecordFields([$0.key: $0.value]).json.dropFirst().dropLast()
    }
    return """
      {
        "fields": {
      \(members.joined(separator: ",\n"))
        },
        "mine": \(side(conflict.mine)),
        "theirs": \(side(conflict.theirs))
      }

      """
  }

  /// The fields from the edited file; nil if the file is unchanged or empty.
  ///
  /// - Throws: `Failure`: `badInput` unless it is JSON with such fields, `usage` if no fields are left.
  func fields(from text: String) throws -> RecordFields? {
    if text == self.text || text.allSatisfy(\.isWhitespace) { return nil }
    let fields: RecordFields?
    do {
      fields = try JSONScanner.read(Array(text.utf8)) { (reader) throws(JSONError) in
        var fields: RecordFields?
        try reader.object { (name, reader) throws(JSONError) in
          guard name == "fields" else { return false }
          fields = try RecordFields(&reader)
          return true
        }
        return fields
      }
    } catch {
      throw Failure(
        .badInput,
        "\(conflict.guid): the edited file is not valid (byte \(error.offset): \(error.reason)); the conflict is not resolved"
      )
    }
    guard let fields, !fields.values.isEmpty else {
      throw Failure(
        .usage,
        "\(conflict.guid): the record would be empty; the conflict is not resolved. To delete the record: 'glucoport record delete'"
      )
    }
    return fields
  }

  private func side(_ state: RecordState) -> String { state.isDeleted ? "null" : state.fields.json }
}
