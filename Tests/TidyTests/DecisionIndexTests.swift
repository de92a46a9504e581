// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A reference in the documentation for developers to a file and a symbol that it declares:
/// `Sync/Merge.swift#Merge`.
private struct DecisionReference: Hashable, CustomStringConvertible {
  /// The path below `Sources`.
  let path: String
  let symbol: String

  var description: String { "\(path)#\(symbol)" }

  /// The references of a page.
  static func all(in page: SourceFile) -> [DecisionReference] {
    page.text.matches(of: /`([\w\/+.]+\.swift)#(\w+)`/).map {
      DecisionReference(path: String($0.1), symbol: String($0.2))
    }
  }

  /// Why the reference leads nowhere; nil if the file declares the symbol.
  func fault(in sources: [String: SourceFile]) -> String? {
    guard let file = sources["Sources/\(path)"] else { return "\(self): no such file" }
    return Self.declares(symbol, file) ? nil : "\(self): the file does not declare it"
  }

  /// The corrected reference after the symbol has moved to another file. This file must be the only one of
  /// its module that declares the symbol, or else the only one of all modules; nil otherwise.
  func moved(in sources: [String: SourceFile]) -> DecisionReference? {
    let files = sources.values.filter { $0.isSwift && Self.declares(symbol, $0) }
    let near = files.filter { $0.room == path.prefix { $0 != "/" } }
    guard let file = near.count == 1 ? near.first : files.count == 1 ? files.first : nil else { return nil }
    return DecisionReference(path: String(file.path.dropFirst("Sources/".count)), symbol: symbol)
  }

  private static func declares(_ symbol: String, _ file: SourceFile) -> Bool {
    let keywords: Set<Substring> = [
      "actor", "case", "class", "enum", "func", "let", "protocol", "struct", "typealias", "var",
    ]
    return file.lines(holding: symbol).contains { _, line in
      let words = line.split { !($0.isLetter || $0.isNumber || "_/".contains($0)) }
      guard words.first?.hasPrefix("//") != true else { return false }
      return zip(words, words.dropFirst()).contains { keywords.contains($0) && $1 == symbol }
    }
  }
}

/// Tests that the references in the index of decisions and in the pages on large ideas lead to the code.
@Suite struct DecisionIndexTests {
  private static let index = "Documentation/decisions.md"

  private func pages() throws -> [SourceFile] {
    try SourceFile.all().filter { $0.path.hasPrefix("Documentation/") || $0.path == "CONTRIBUTING.md" }
  }

  private func sources() throws -> [String: SourceFile] {
    Dictionary(try SourceFile.all(in: "Sources").map { ($0.path, $0) }) { first, _ in first }
  }

  /// With `GLUCOPORT_REWRITE_GOLDEN=1`, the test corrects references to symbols that moved to another file.
  @Test func everyReferenceInTheDecisionIndexLeadsToADeclaration() throws {
    let sources = try sources()
    let isRewriting = ProcessInfo.processInfo.environment["GLUCOPORT_REWRITE_GOLDEN"] == "1"
    for page in try pages() {
      let lost = DecisionReference.all(in: page).filter { $0.fault(in: sources) != nil }
      var text = page.text
      for reference in isRewriting ? lost : [] {
        guard let moved = reference.moved(in: sources) else { continue }
        text = text.replacing("`\(reference)`", with: "`\(moved)`")
      }
      if text != page.text {
        try text.write(to: SourceFile.root.appending(path: page.path), atomically: true, encoding: .utf8)
      }
      let references = DecisionReference.all(in: SourceFile(page.path, text))
      #expect(references.compactMap { $0.fault(in: sources) } == [], "\(page.path)")
    }
  }

  @Test(arguments: [
    (["A/B.swift"], "A/B.swift"), (["A/B.swift", "C/D.swift"], "A/B.swift"), (["C/D.swift"], "C/D.swift"),
    (["A/B.swift", "A/C.swift"], nil), (["C/D.swift", "E/F.swift"], nil), ([], nil),
  ])
  func aMovedSymbolIsFoundInItsModuleOrInTheOnlyOtherModule(_ paths: [String], _ expected: String?) {
    let files = paths.map { SourceFile("Sources/\($0)", "struct Merge {}") }
    let sources = Dictionary(files.map { ($0.path, $0) }) { first, _ in first }
    let reference = DecisionReference.all(in: SourceFile("a.md", "`A/Old.swift#Merge`")).first
    #expect(reference?.moved(in: sources)?.path == expected)
  }

  @Test func everyRowOfTheDecisionIndexIsAQuestionWithOneAnswer() throws {
    let page = try #require(try pages().first { $0.path == Self.index })
    let rows = page.lines.filter {
      $0.hasPrefix("| ") && !$0.hasPrefix("| question |") && !$0.hasPrefix("| ---")
    }
    #expect(rows.count >= 80)
    for row in rows {
      #expect(row.firstMatch(of: /^\| [^|]+\?? \| `[^`]+\.swift#\w+` \|$/) != nil, "\(row)")
      #expect(row.contains("? | "), "\(row)")
    }
    #expect(Set(rows.map { $0.split(separator: "|").first }).count == rows.count)
  }

  @Test func contributingLinksToEveryDocumentationPage() throws {
    let contributing = try #require(try pages().first { $0.path == "CONTRIBUTING.md" })
    for page in try pages() where page.path != contributing.path {
      #expect(contributing.text.contains("](\(page.path))"), "\(page.path)")
    }
  }

  @Test func documentationPagesAreShortAndInPlainEnglish() throws {
    for page in try pages() {
      #expect(LanguageRules.oldWords(page) == [])
      let isShort = page.lines.count <= 60 || [Self.index, "CONTRIBUTING.md"].contains(page.path)
      #expect(isShort, "\(page.path) has \(page.lines.count) lines")
    }
  }

  @Test func everyModuleHasADecisionInTheIndex() throws {
    let page = try #require(try pages().first { $0.path == Self.index })
    let rooms = Set(DecisionReference.all(in: page).map { $0.path.prefix { $0 != "/" } })
    // Files that only wrap a library or start the program contain no decision.
    let others = SourceRules.rows.joined().filter { $0.hasPrefix("C") && !$0.hasPrefix("Command") }
    let silent = Set(others + ["LogbookAPI", "SQLiteRows", "TemporaryFiles", "USBTransport"])
    #expect(Set(SourceRules.rows.joined()).subtracting(silent).subtracting(rooms.map(String.init)) == [])
  }

  @Test(arguments: [
    ("`A/B.swift#Merge`", "struct Merge {}", true),
    ("`A/B.swift#merge`", "  static func merge(_ a: Int) {", true),
    ("`A/B.swift#done`", "  case done = 0", true), ("`A/B.swift#Merge`", "extension Merge {}", false),
    ("`A/B.swift#Merge`", "// A struct Merge", false), ("`A/B.swift#Merge`", "struct Merger {}", false),
    ("`A/C.swift#Merge`", "struct Merge {}", false),
  ])
  func aReferenceToAnUndeclaredSymbolIsReported(_ page: String, _ code: String, _ isFound: Bool) {
    let reference = DecisionReference.all(in: SourceFile("CONTRIBUTING.md", page))
    let fault = reference.first?.fault(in: ["Sources/A/B.swift": SourceFile("Sources/A/B.swift", code)])
    #expect(reference.count == 1 && (fault == nil) == isFound)
  }
}
