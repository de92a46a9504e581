// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Lets several worlds use the same stores and servers one after the other. The connections to stores and
/// servers stay open, and their rows are deleted. The other files of a world are removed.
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

  /// Removes the files of the last world, so that the next one can start.
  func clear() throws {
    try FileManager.default.removeItem(atPath: worldFolder)
    try FileManager.default.createDirectory(atPath: worldFolder, withIntermediateDirectories: true)
  }

  /// The server with this number, without any data.
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

  /// A host of this kind, without any data.
  func host(_ kind: HostKind, _ number: Int, seed: UInt64, isUnreliable: Bool) throws -> any SimulatedHost {
    switch kind {
    case .server: try server(number)
    case .site: try SimulatedSite(number: number, seed: seed, isUnreliable: isUnreliable)
    }
  }

  /// The connections to the store with this number in a world. The store is empty.
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
