// SPDX-License-Identifier: Apache-2.0

import LogbookStore

/// Opens connections to one store. Each role has a separate connection, as it would in a separate process. A
/// connection is opened at its first use.
final class Connections {
  let path: String
  private var stores: [StoreRole: Store] = [:]

  init(path: String) { self.path = path }

  func store(_ role: StoreRole) throws -> Store {
    if let open = stores[role] { return open }
    let store = try Store(path: path, role: role)
    stores[role] = store
    return store
  }

  func close(_ role: StoreRole) { stores[role] = nil }
}
