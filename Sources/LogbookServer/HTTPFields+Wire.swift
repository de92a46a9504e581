// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Logbook
import LogbookAPI

extension HTTPFields {
  /// The headers that state how much of a content the server holds.
  static func holding(_ held: HeldContent) -> HTTPFields {
    var headers: HTTPFields = [:]
    headers.set(held)
    return headers
  }

  /// Sets the headers that state how much of a content the server holds.
  mutating func set(_ held: HeldContent) {
    self[wire: WireProtocol.heldHeader] = String(held.bytes)
    if let size = held.size { self[wire: WireProtocol.sizeHeader] = String(size) }
  }

  /// A header of the protocol by its name.
  subscript(wire name: String) -> String? {
    get { HTTPField.Name(name).flatMap { self[$0] } }
    set { if let field = HTTPField.Name(name) { self[field] = newValue } }
  }
}
