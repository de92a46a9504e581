// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// A conflict as `conflict list --json` prints it; glucoport-json(5) documents its members.
struct ConflictObject: Encodable {
  let guid: String
  let kind: String
  let time: String
  let cause: String
  let differs: [String]

  init(_ conflict: RecordConflict) {
    let mine = conflict.mine
    guid = conflict.guid
    kind = mine.kind.rawValue
    time = instant(mine.deviceTime.seconds - Int64(mine.placement.utcOffset))
    cause = conflict.cause.rawValue
    differs = Difference.of(conflict).map(\.name)
  }
}

/// A conflict with its sides, as `conflict show --json` prints it.
struct ConflictSidesObject: Encodable {
  private struct Sides: Encodable {
    let base: JSONFragment?
    let mine: JSONFragment
    let theirs: JSONFragment
  }

  private let conflict: ConflictObject
  private let sides: Sides

  init(_ conflict: RecordConflict) {
    self.conflict = ConflictObject(conflict)
    sides = Sides(
      base: conflict.base.map { JSONFragment($0.json) }, mine: JSONFragment(conflict.mine.json),
      theirs: JSONFragment(conflict.theirs.json))
  }

  func encode(to encoder: any Encoder) throws {
    try conflict.encode(to: encoder)
    try sides.encode(to: encoder)
  }
}
