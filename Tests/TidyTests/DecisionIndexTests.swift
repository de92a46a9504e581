// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A reference in the documentation for developers to a file and a symbol that it declares:
/// `Sync/Merge.swift#Merge`. A name that a file declares several times has its type as well:
/// `Sync/UploadPlan.swift#UploadPlan.state`.
private struct DecisionReference: Hashable, CustomStringConvertible {
  /// The path below `Sources`.
  let path: String
  /// The type with the symbol as a member; nil if the reference has no type.
  let type: String?
  let symbol: String

  var description: String { "\(path)#\(type.map { $0 + "." } ?? "")\(symbol)" }

  /// The references of a page.
  static func all(in page: SourceFile) -> [DecisionReference] {
    page.text.matches(of: /`([\w\/+.]+\.swift)#(?:(\w+)\.)?(\w+)`/).map { match in
      let type = match.2.map { String($0) }
      return DecisionReference(path: String(match.1), type: type, symbol: String(match.3))
    }
  }

  /// Why the reference leads nowhere, or to several symbols; nil if the file declares the symbol.
  func fault(in sources: [String: SourceFile]) -> String? {
    guard let file = sources["Sources/\(path)"] else { return "\(self): no such file" }
    let count = declarations(in: file)
    if count == 0 { return "\(self): the file does not declare it" }
    return count == 1 || type != nil ? nil : "\(self): \(count) declarations; write Type.\(symbol)"
  }

  /// The corrected reference after the symbol has moved to another file. This file must be the only one of
  /// its module that declares the symbol, or else the only one of all modules; nil otherwise.
  func moved(in sources: [String: SourceFile]) -> DecisionReference? {
    let files = sources.values.filter { $0.isSwift && declarations(in: $0) > 0 }
    let near = files.filter { $0.room == path.prefix { $0 != "/" } }
    guard let file = near.count == 1 ? near.first : files.count == 1 ? files.first : nil else { return nil }
    return DecisionReference(
      path: String(file.path.dropFirst("Sources/".count)), type: type, symbol: symbol)
  }

  /// The number of declarations in a file that the reference can mean. Those inside functions do not count.
  private func declarations(in file: SourceFile) -> Int {
    let lines = file.lines(holding: symbol).filter { declaresSymbol($0.line) }
    let owners = lines.compactMap { Self.owner(ofLine: $0.number, in: file) }
    return owners.count { type == nil || $0 == type }
  }

  /// Whether a line declares the symbol. Bodies and values are not searched, since they may have patterns
  /// such as `if case .symbol`.
  private func declaresSymbol(_ line: String) -> Bool {
    let keywords: Set<Substring> = [
      "actor", "case", "class", "enum", "func", "let", "protocol", "struct", "typealias", "var",
    ]
    let head = line.prefix { !"{=".contains($0) }
    let words = head.split { !($0.isLetter || $0.isNumber || "_/".contains($0)) }
    guard words.first?.hasPrefix("//") != true else { return false }
    return zip(words, words.dropFirst()).contains { keywords.contains($0) && $1 == symbol }
  }

  /// The type whose body or extension directly contains a line. It is empty outside of all types, and nil in
  /// a function. The formatter keeps the indentation that shows this.
  private static func owner(ofLine number: Int, in file: SourceFile) -> String? {
    let margin = indentation(file.lines[number - 1])
    if margin == 0 { return "" }
    let opening = file.lines[..<(number - 1)].last { line in
      let text = line.drop { $0 == " " }
      let endsHeader = ["{", "where "].contains(where: text.hasPrefix)
      return !text.isEmpty && !endsHeader && indentation(line) < margin
    }
    let declaration =
      /^ *(?:(?:package|public|private|fileprivate|final|indirect|@\w+(?:\(.*\))?) )*(?:actor|class|enum|extension|protocol|struct) (?:\w+\.)*(\w+)/
    return opening?.firstMatch(of: declaration).map { String($0.1) }
  }

  private static func indentation(_ line: String) -> Int { line.prefix { $0 == " " }.count }
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
    let files = paths.map { SourceFile("Sources/\($0)", "struct Merge {\n  let a: Int\n}") }
    let sources = Dictionary(files.map { ($0.path, $0) }) { first, _ in first }
    for name in ["Merge", "a", "Merge.a"] {
      let reference = DecisionReference.all(in: SourceFile("a.md", "`A/Old.swift#\(name)`")).first
      let moved = reference?.moved(in: sources)
      #expect(moved?.description == expected.map { "\($0)#\(name)" }, "\(name)")
    }
  }

  @Test func everyRowOfTheDecisionIndexIsAQuestionWithOneAnswer() throws {
    let page = try #require(try pages().first { $0.path == Self.index })
    let rows = page.lines.filter {
      $0.hasPrefix("| ") && !$0.hasPrefix("| question |") && !$0.hasPrefix("| ---")
    }
    #expect(rows.count >= 80)
    for row in rows {
      #expect(row.firstMatch(of: /^\| [^|]+\?? \| `[^`]+\.swift#(?:\w+\.)?\w+` \|$/) != nil, "\(row)")
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
      // A reader looks for one row or section of these two pages.
      let isLookedUp = [Self.index, "Documentation/adding.md"].contains(page.path)
      let limit = page.path == "CONTRIBUTING.md" ? 90 : 60
      #expect(page.lines.count <= limit || isLookedUp, "\(page.path) has \(page.lines.count) lines")
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

  /// References with the code of `A/B.swift`, and whether they lead to a declaration in it.
  private static let references: [(String, String, Bool)] = [
    ("`A/B.swift#Merge`", "struct Merge {}", true),
    ("`A/B.swift#merge`", "enum Merge {\n  static func merge(_ a: Int) {\n  }\n}", true),
    ("`A/B.swift#done`", "enum Merge {\n  case done = 0\n}", true),
    ("`A/B.swift#Merge`", "extension Merge {}", false), ("`A/B.swift#Merge`", "// A struct Merge", false),
    ("`A/B.swift#Merge`", "struct Merger {}", false), ("`A/C.swift#Merge`", "struct Merge {}", false),
    ("`A/B.swift#a`", "struct A {\n  func b() {\n    let a = 1\n  }\n}", false),
    ("`A/B.swift#a`", "struct A {\n  var b: Bool { if case a = self { true } else { false } }\n}", false),
    ("`A/B.swift#A.a`", "struct A<B>: C\nwhere B: C {\n\n  @D var a: Int\n}", true),
    ("`A/B.swift#A.a`", "package struct A:\n  B, C\n{\n  let a: Int\n}", true),
    ("`A/B.swift#A.a`", "private extension B.A {\n  static let a = 1\n}", true),
    ("`A/B.swift#A.a`", "enum A {\n  struct B {\n    let a: Int\n  }\n}", false),
    ("`A/B.swift#B.a`", "enum A {\n  struct B {\n    let a: Int\n  }\n}", true),
    ("`A/B.swift#A.a`", "struct A {}\n\nfunc a() {}", false),
    ("`A/B.swift#A.a`", "struct A {\n  func b() {\n    let a = 1\n  }\n}", false),
    ("`A/B.swift#a`", "struct A {\n  let a: Int\n}\nfunc a() {}", false),
    ("`A/B.swift#A.a`", "struct A {\n  let a: Int\n}\nfunc a() {}", true),
    ("`A/B.swift#A.a`", "struct A {\n  func a() {}\n  func a(_ b: Int) {}\n}", true),
  ]

  @Test(arguments: references)
  func aReferenceToASymbolThatIsUndeclaredOrAmbiguousIsReported(
    _ page: String, _ code: String, _ isFound: Bool
  ) {
    let found = DecisionReference.all(in: SourceFile("CONTRIBUTING.md", page))
    #expect(found.map { "`\($0)`" } == [page])
    let fault = found.first?.fault(in: ["Sources/A/B.swift": SourceFile("Sources/A/B.swift", code)])
    #expect((fault == nil) == isFound, "\(page) in \(code)")
  }
}
