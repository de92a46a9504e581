// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Tests that no test uses XCTest, since `XCTMain.swift` does not start such tests.
struct StartTests {
  private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static func imports(_ module: String, _ text: String) -> Bool {
    text.split(separator: "\n").contains { line in
      line.split(separator: " ").suffix(2).elementsEqual(["import", Substring(module)])
    }
  }

  /// A test of XCTest would never be started.
  @Test func noTestIsATestOfXCTest() throws {
    let names = try #require(FileManager.default.enumerator(atPath: Self.tests.path))
    var files = 0
    for case let name as String in names where name.hasSuffix("Tests.swift") {
      let text = try String(contentsOf: Self.tests.appending(path: name), encoding: .utf8)
      #expect(!Self.imports("XCTest", text), "\(name)")
      if Self.imports("Testing", text) { files += 1 }
    }
    #expect(files > 300)
  }

  @Test(arguments: [
    ("import XCTest\n", true), ("@testable import XCTest\n", true), ("// import of XCTest\n", false),
    ("import Testing\n", false),
  ]) func anImportOfXCTestIsFound(text: String, isFound: Bool) {
    #expect(Self.imports("XCTest", text) == isFound)
  }
}
