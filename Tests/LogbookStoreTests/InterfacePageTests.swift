// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Tests that the documentation page of the module `LogbookStore` lists every function that other modules
/// call, and only existing functions.
@Suite struct InterfacePageTests {
  private static let room = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Sources/LogbookStore").standardizedFileURL

  private static func sources() throws -> [String] {
    let files = try #require(FileManager.default.enumerator(at: room, includingPropertiesForKeys: nil))
    return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
      .map { try String(contentsOf: $0, encoding: .utf8) }
  }

  @Test func theLogbookStorePageListsEveryFunctionForOtherModules() throws {
    let declared = try Set(
      Self.sources().flatMap { $0.matches(of: /package (?:static )?func (\w+)/).map { String($0.1) } })
    let page = try String(
      contentsOf: Self.room.appending(path: "LogbookStore.docc/LogbookStore.md"), encoding: .utf8)
    let named = Set(page.matches(of: /``\w+\/(\w+)\(/).map { String($0.1) }).subtracting(["init"])
    #expect(declared.subtracting(named).sorted() == [])
    #expect(named.subtracting(declared).sorted() == [])
  }
}
