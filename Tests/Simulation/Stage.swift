// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Where one world after the other plays: a folder in which each begins with the files of the template.
struct Stage {
  let template: Template
  let worldFolder: String

  /// Makes room for the next world.
  func clear() throws {
    if FileManager.default.fileExists(atPath: worldFolder) {
      try FileManager.default.removeItem(atPath: worldFolder)
    }
    try FileManager.default.createDirectory(atPath: worldFolder, withIntermediateDirectories: true)
  }

  /// A server that holds nothing.
  func server(_ number: Int) throws -> SimulatedServer {
    try SimulatedServer(template, number: number, folder: "\(worldFolder)/server\(number)")
  }

  /// The connections to a store that holds nothing, by its place in the world.
  func connections(_ place: Int) throws -> Connections {
    let path = "\(worldFolder)/node\(place).db"
    try template.writeStore(to: path)
    return Connections(path: path)
  }
}
