// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The stage for several worlds in sequence. Stores and servers stay with their open connections, and are
/// emptied. Other files of a world in its folder are removed.
final class Stage {
  let worldFolder: String
  private let template: Template
  private let keptFolder: String
  private var stores: [Int: (connections: Connections, file: EmptiedFile)] = [:]
  private var servers: [Int: any SimulatedStorageHost] = [:]

  init(template: Template, folder: String) throws {
    self.template = template
    worldFolder = folder + "/world"
    keptFolder = folder + "/kept"
    for path in [worldFolder, keptFolder] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
  }

  /// Prepares for the next world.
  func clear() throws {
    try FileManager.default.removeItem(atPath: worldFolder)
    try FileManager.default.createDirectory(atPath: worldFolder, withIntermediateDirectories: true)
  }

  /// An empty server.
  func server(_ number: Int) throws -> any SimulatedStorageHost {
    if let used = servers[number] {
      try used.empty()
      return used
    }
    let server: any SimulatedStorageHost
    if let databases = template.databases {
      server = try SimulatedDatabase(databases, number: number)
    } else {
      server = try SimulatedServer(template, number: number, folder: "\(keptFolder)/server\(number)")
    }
    servers[number] = server
    return server
  }

  /// An empty host of a kind.
  func host(_ kind: HostKind, _ number: Int, seed: UInt64, isUnreliable: Bool) throws -> any SimulatedHost {
    switch kind {
    case .server: try server(number)
    case .site: try SimulatedSite(number: number, seed: seed, isUnreliable: isUnreliable)
    }
  }

  /// The connections to an empty store, by its index in the world.
  func connections(_ place: Int) throws -> Connections {
    if let used = stores[place] {
      try used.file.empty()
      return used.connections
    }
    let path = "\(keptFolder)/node\(place).db"
    try template.writeStore(to: path)
    let connections = Connections(path: path)
    stores[place] = (connections, try EmptiedFile(path, keeping: ["setting": "1"]))
    return connections
  }
}
