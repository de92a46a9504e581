// SPDX-License-Identifier: Apache-2.0

/// Doses and meals that a person edited, and that their app states with another amount in another export. Only the edit
/// counts.
///
/// The ids of such an app contain amounts, so a corrected amount makes another record; see
/// `CountingSource.idsContainAmounts(_:)`. At the end of an import, the store finds out that an export shows a record of
/// the same second as corrected. It states this in a withdrawal, which stays in the store after an undo of the import.
/// The records of one second are one dose or meal if all of them except one were corrected so.
package struct EditedItems: Hashable, Sendable {
  /// A record of one second.
  package struct State: Sendable {
    /// The record as an item; nil for a hidden or deleted record, and for one without an amount.
    let item: CountableItem?
    /// When a person edited the record; nil if it has the content that an export states.
    let editedAt: Int64?
    /// Whether an export shows that the record was corrected.
    let wasCorrected: Bool

    package init(_ item: CountableItem?, editedAt: Int64?, wasCorrected: Bool) {
      (self.item, self.editedAt, self.wasCorrected) = (item, editedAt, wasCorrected)
    }
  }

  /// The id of the item that counts, by the id of the item that is left out.
  private var kept: [String: String] = [:]

  /// An empty value: no item is left out.
  package init() {}

  /// Finds the states that are left out.
  ///
  /// - Parameters:
  ///   - seconds: for each second of an app, all of its records of one kind, also the hidden and the deleted ones.
  ///   - rules: people's decisions. A source that a person declared to be separate from itself counts whole.
  package init(_ seconds: some Sequence<[State]>, _ rules: CountingRules) {
    for states in seconds where states.count(where: { !$0.wasCorrected }) <= 1 {
      let edited = states.filter { $0.item != nil && $0.editedAt != nil }
      if edited.isEmpty { continue }
      // An edit of another field, such as a note, is not a statement about the amount.
      let amounts = edited.filter { $0.item?.amountEditedAt != nil }
      let present = states.first { $0.item != nil && !$0.wasCorrected }
      guard let last = Self.last(amounts)?.item ?? present?.item ?? Self.last(edited)?.item else { continue }
      for item in states.compactMap(\.item) where item.id != last.id && !rules.separates(item, last) {
        kept[item.id] = last.id
      }
    }
  }

  /// The state that was edited last. Every store must choose the same one, so equal times are ordered by ids.
  private static func last(_ edited: [State]) -> State? {
    edited.max { ($0.editedAt ?? 0, $0.item?.id ?? "") < ($1.editedAt ?? 0, $1.item?.id ?? "") }
  }

  /// Whether an item is another state of an edited one.
  package func leavesOut(_ item: CountableItem) -> Bool { kept[item.id] != nil }

  /// The verdict on an item; nil for an item that is not left out.
  func verdict(on item: CountableItem) -> CountVerdict? {
    kept[item.id].map { .edited($0, item.source) }
  }
}
