// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The JSON that the store keeps of a record for sync. A text that cannot be read counts as missing. Without
/// the sent change, the record is sent as it is. Without a base, nothing is merged and nothing is
/// overwritten.
struct SyncTexts {
  /// A column whose text cannot be read.
  struct Damage {
    let column: String
    let error: JSONError
  }

  private(set) var sent: RecordChange?
  private(set) var base: RecordState?
  private(set) var conflict: RecordState?
  private(set) var damages: [Damage] = []

  init(sent: String?, base: String?, conflict: String? = nil) {
    self.sent = read(sent, "sent") { (text) throws(JSONError) in try RecordChange(json: text) }
    self.base = read(base, "base") { (text) throws(JSONError) in try RecordState(json: text) }
    self.conflict = read(conflict, "conflict") { (text) throws(JSONError) in try RecordState(json: text) }
  }

  private mutating func read<Value>(
    _ text: String?, _ column: String, _ parse: (String) throws(JSONError) -> Value
  ) -> Value? {
    guard let text else { return nil }
    do throws(JSONError) {
      return try parse(text)
    } catch {
      damages.append(Damage(column: column, error: error))
      return nil
    }
  }
}
