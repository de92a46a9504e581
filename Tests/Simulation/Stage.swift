// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Where one world after the other plays. Stores and servers stay, with their open connections, and are emptied; what
/// else a world leaves in its folder is removed.
final class Stage {
  let worldFolder: String
  private let template: Template
  private let keptFolder: String
  private var stores: [Int: (connections: Connections, file: EmptiedFile)] = [:]
  private var servers: [Int: SimulatedServer] = [:]

  init(template: Template, folder: String) throws {
    self.template = template
    worldFolder = folder + "/world"
    keptFolder = folder + "/kept"
    for path in [worldFolder, keptFolder] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
  }

  /// Makes room for the next world.
  func clear() throws {
    try FileManager.default.removeItem(atPath: worldFolder)
    try FileManager.default.createDirectory(atPath: worldFolder, withIntermediateDirectories: true)
  }

  /// A server that holds nothing.
  func server(_ number: Int) throws -> SimulatedServer {
    if let used = servers[number] {
      try used.empty()
      return used
    }
    let server = try SimulatedServer(template, number: number, folder: "\(keptFolder)/server\(number)")
    servers[number] = server
    return server
  }

  /// Whatever nodes can sync with, empty.
  func host(_ kind: HostKind, _ number: Int, seed: UInt64, isStormy: Bool) throws -> any SimulatedHost {
    switch kind {
    case .server: try server(number)
    case .site: try SimulatedSite(number: number, seed: seed, isStormy: isStormy)
    }
  }

  /// The connections to a store that holds nothing, by its place in the world.
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
