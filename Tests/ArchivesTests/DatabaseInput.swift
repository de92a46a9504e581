// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Testing

@testable import Archives

/// The bytes of a database, read as an import reads them: by a descriptor of a file that has no name any more.
enum DatabaseInput {
  /// What is written of tables; nil where the database has none of them.
  ///
  /// - Parameters:
  ///   - size: what the file is said to have; nil for what it has.
  ///   - pieces: takes the size of each piece that is handed on.
  static func text(
    _ bytes: [UInt8], _ tables: [DatabaseFile.Table], first: String = "{}", size: Int64? = nil,
    isInterrupted: @escaping () -> Bool = { false }, pieces: (Int) throws -> Void = { _ in }
  ) throws -> String? {
    let url = FileManager.default.temporaryDirectory.appending(path: "glucoport-\(UUID().uuidString)")
    try Data(bytes).write(to: url)
    let descriptor = open(url.path, O_RDONLY)
    unlink(url.path)
    defer { close(descriptor) }
    let header = try #require(DatabaseHeader(bytes))
    let file = try DatabaseFile(
      descriptor: descriptor, size: size ?? Int64(bytes.count), header: header, name: "a.sqlite",
      isInterrupted: isInterrupted)
    let found = try tables.map { DatabaseFile.Table($0.name, try file.columns(of: $0)) }
    if found.allSatisfy(\.columns.isEmpty) { return nil }
    var (text, sizes): ([UInt8], [Int]) = ([], [])
    try file.write(found, first: first) {
      text += $0
      sizes.append($0.count)
    }
    for size in sizes { try pieces(size) }
    #expect(fcntl(descriptor, F_GETFD) >= 0, "the descriptor is the caller's")
    return String(decoding: text, as: UTF8.self)
  }
}
