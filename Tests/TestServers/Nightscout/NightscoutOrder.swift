// SPDX-License-Identifier: Apache-2.0

/// The order of what the database finds: by fields, one after the other; missing values first.
struct NightscoutOrder {
  let fields: [String]
  var isDescending = false

  /// What agrees in all fields keeps the order in which it came in.
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
