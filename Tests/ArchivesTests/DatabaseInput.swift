// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Testing

@testable import Archives

/// Reads a database as an import does: through the descriptor of an unlinked file.
enum DatabaseInput {
  /// The text of tables; nil if the database has none of them.
  ///
  /// - Parameters:
  ///   - size: the stated size of the file; nil for the real one.
  ///   - pieces: is called with the size of each piece of the text.
  static func text(
    _ bytes: [UInt8], _ tables: [InputDatabase.Table], first: String = "{}", size: Int64? = nil,
    isInterrupted: @escaping () -> Bool = { false }, pieces: (Int) throws -> Void = { _ in }
  ) throws -> String? {
    let url = FileManager.default.temporaryDirectory.appending(path: "glucoport-\(UUID().uuidString)")
    try Data(bytes).write(to: url)
    let descriptor = open(url.path, O_RDONLY)
    unlink(url.path)
    defer { close(descriptor) }
    let header = try #require(DatabaseHeader(bytes))
    let file = try InputDatabase(
      descriptor: descriptor, size: size ?? Int64(bytes.count), header: header, name: "a.sqlite",
      isInterrupted: isInterrupted)
    let found = try tables.map { InputDatabase.Table($0.name, try file.columns(of: $0)) }
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
