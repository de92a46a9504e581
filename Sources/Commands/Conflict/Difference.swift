// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// One part of a record in which the sides of a conflict differ, with its text on each side. Nil if a side
/// does not have it.
struct Difference {
  /// The name of a field, or of a member of the record in glucoport-json(5).
  let name: String
  let base: String?
  let mine: String?
  let theirs: String?

  /// The different parts: those of the record first, then its fields by name.
  static func of(_ conflict: RecordConflict) -> [Difference] {
    let (base, mine, theirs) = (conflict.base, conflict.mine, conflict.theirs)
    let parts = ["deleted", "device_time", "entry_guid"].map { name in
      Difference(
        name: name, base: base.flatMap { part(name, $0) }, mine: part(name, mine), theirs: part(name, theirs))
    }
    let names = Set(mine.fields.values.keys).union(theirs.fields.values.keys).sorted()
    let fields = names.map { name in
      Difference(
        name: name, base: base?.fields[name].map(text), mine: mine.fields[name].map(text),
        theirs: theirs.fields[name].map(text))
    }
    return (parts + fields).filter { $0.mine != $0.theirs }
  }

  private static func part(_ name: String, _ state: RecordState) -> String? {
    switch name {
    case "deleted": state.isDeleted ? "yes" : "no"
    case "device_time": state.deviceTime.text + (state.statedOffset.map(DeviceTime.offsetText) ?? "")
    default: state.entryGuid
    }
  }

  private static func text(_ value: FieldValue) -> String {
    switch value {
    case .number(let number): plainNumber(number)
    case .text(let text): text
    case .flag(let isSet): isSet ? "yes" : "no"
    case .words(let words): words.joined(separator: ", ")
    }
  }
}
