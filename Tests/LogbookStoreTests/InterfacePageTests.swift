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
      Self.sources().flatMap { text in
        text.matches(of: /package (?:static )?func (\w+)/).map { match in
          "\(match.1)(\(Self.labels(text[match.range.upperBound...])))"
        }
      })
    let page = try String(
      contentsOf: Self.room.appending(path: "LogbookStore.docc/LogbookStore.md"), encoding: .utf8)
    let named = Set(
      page.matches(of: /``\w+\/(\w+\([^)]*\))``/).map { String($0.1) }.filter { !$0.hasPrefix("init(") })
    #expect(declared.subtracting(named).sorted() == [])
    #expect(named.subtracting(declared).sorted() == [])
  }

  @Test func theLabelsOfAFunctionAreReadFromItsDeclaration() {
    #expect(Self.labels("()") == "")
    #expect(Self.labels("(_ a: Int, of b: [Int: (c: Int, d: Int)] = [:], e: Int) {") == "_:of:e:")
    #expect(Self.labels("<Value>(\n    _ body: (A, B) throws -> Value, at now: Set<C<D, E>>\n  )") == "_:at:")
  }

  /// The argument labels of a function, such as `_:at:`, from the text after its name.
  private static func labels(_ text: Substring) -> String {
    var (depth, parameters) = (0, [""])
    var last: Character = " "
    for character in text.drop(while: { $0 != "(" }) {
      if "([<".contains(character) { depth += 1 }
      if ")]".contains(character) || character == ">" && last != "-" { depth -= 1 }
      last = character
      if depth == 0 { break }
      if depth > 1 { continue }
      if character == "," {
        parameters.append("")
      } else if character != "(" {
        parameters[parameters.count - 1].append(character)
      }
    }
    return parameters.compactMap { parameter in
      parameter.split { $0.isWhitespace || $0 == ":" }.first.map { "\($0):" }
    }.joined()
  }
}
