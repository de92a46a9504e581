// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Logbook
import LogbookAPI

extension HTTPFields {
  /// The headers that say how much is held of a content.
  static func holding(_ held: HeldContent) -> HTTPFields {
    var headers: HTTPFields = [:]
    headers.set(held)
    return headers
  }

  /// Reports how much is held of a content.
  mutating func set(_ held: HeldContent) {
    self[wire: Wire.heldHeader] = String(held.bytes)
    if let size = held.size { self[wire: Wire.sizeHeader] = String(size) }
  }

  /// A header of the protocol by its name.
  subscript(wire name: String) -> String? {
    get { HTTPField.Name(name).flatMap { self[$0] } }
    set { if let field = HTTPField.Name(name) { self[field] = newValue } }
  }
}
