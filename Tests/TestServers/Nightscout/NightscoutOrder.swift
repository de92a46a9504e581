// SPDX-License-Identifier: Apache-2.0

/// The order of search results in the database: it compares the fields one after the other, with missing
/// values first.
struct NightscoutOrder {
  let fields: [String]
  var isDescending = false

  /// Documents that are equal in all fields keep their order of insertion.
  func sorted(_ documents: [NightscoutDocument]) -> [NightscoutDocument] {
    let keyed = documents.enumerated().map { place, document in
      (place: place, keys: fields.map { document[$0] }, document: document)
    }
    return keyed.sorted { left, right in
      for (one, other) in zip(left.keys, right.keys) {
        let order = NightscoutCondition.order(one, other)
        if order != 0 { return (order < 0) != isDescending }
      }
      return left.place < right.place
    }.map(\.document)
  }
}
