// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite struct LanguageRulesTests {
  @Test func textsForUsersArePlainEnglish() throws {
    let files = try SourceFile.all(in: "Sources").filter(\.isSwift) + SourceFile.all(in: "man")
    let readme = try #require(try SourceFile.all().first { $0.path == "README.md" })
    #expect((files + [readme]).flatMap(LanguageRules.oldWords) == [])
  }

  @Test(arguments: [
    ("Sources/Commands/A.swift", #"let a = "the meter tells its time""#),
    ("Sources/Commands/A.swift", #"  Failure(.usage, "\(name) is cut off")"#),
    ("Sources/Commands/A.swift", "let a = \"\"\"\n  What others Told.\n  \"\"\""),
    ("man/glucoport.1", "What the remote refused for good."),
    ("README.md", "a folder of its own"),
    ("Sources/Commands/A.swift", #"let a = "the time behind the row""#),
    ("Sources/Commands/A.swift", #"fix: "glucoport list --withdrawn""#),
    ("man/glucoport.1", "A withdrawn reading is left out."),
    ("Sources/Commands/A.swift", #"let a = "'\(word)' is no amount""#),
    ("man/glucoport.1", "Such rows are no readings."),
    ("man/glucoport.1", "Then it has to be repeated."), ("README.md", "while nobody is logged in"),
  ])
  func theLanguageCheckReportsAnOutdatedWordInATextForUsers(_ path: String, _ text: String) {
    #expect(LanguageRules.oldWords(SourceFile(path, text)).count == 1)
  }

  @Test(arguments: [
    ("Sources/Commands/A.swift", "/// What a remote tells.\nlet told = \"\\(tells(it)) is reported\""),
    ("Sources/Commands/A.swift", "case tell(\"standard input\")"),
    ("man/glucoport.1", "The standard output, and a stable name."),
    ("Sources/Commands/A.swift", #"let a = difference > 0 ? "ahead of" : "behind""#),
    ("man/glucoport.1", "A server behind a proxy, or behind a balancer."),
    ("Sources/Commands/A.swift", #"case "withdrawn": isWithdrawn = true"#),
    ("Sources/Commands/A.swift", #"let a = "there is no '\(word)', and it is no longer read""#),
    ("man/glucoport.1", "There are no readings."),
    ("Sources/ServerStore/LogbookSchema.swift", "\"\"\"\n-- It has to know.\n\"\"\""),
  ])
  func theLanguageCheckAcceptsAnAllowedWordInATextForUsers(_ path: String, _ text: String) {
    #expect(LanguageRules.oldWords(SourceFile(path, text)) == [])
  }

  @Test func commentsAndNamesOfTestsArePlainEnglish() throws {
    let files = try SourceFile.all().filter { file in
      file.isScript || file.isPython
        || file.isSwift && ["Sources/", "Tests/"].contains { file.path.hasPrefix($0) }
    }
    #expect(files.contains { $0.isScript } && files.contains { $0.isPython })
    #expect(files.flatMap(LanguageRules.hardWords) == [])
  }

  @Test(
    arguments: [
      ("# It has to run.", 1), ("  # It has\n  # to run.", 1),
      ("#!/bin/behind that", 0), ("a=1 # It has to run.", 0), ("# shellcheck disable=1 # behind it", 0),
      ("# Runs as `nobody`.\n#   run.sh alone", 0), ("# - One.\n#   It has to.\n#\n#   alone", 1),
      ("# " + Array(repeating: "word", count: 26).joined(separator: " ") + ".", 1),
    ])
  func theLanguageCheckReportsAvoidedWordsInCommentsOfScripts(_ text: String, _ count: Int) {
    #expect(LanguageRules.hardWords(SourceFile("Tests/a.sh", text)).count == count, "\(text)")
  }

  @Test(
    arguments: [
      ("\"\"\"It has to run.\"\"\"", 1), ("  \"\"\"It has\n  to run.\"\"\"\n# beside", 2),
      ("# It\n# has to run.", 1),
      ("a = \"\"\"\nbeside\n\"\"\"\nb = 'behind'\n", 0), ("\"\"\"Runs.\n\n  run.py alone\n\"\"\"", 0),
      ("#!/bin/behind that", 0), ("\"\"\"One.\"\"\"\nbehind = 1", 0),
      ("\"\"\"" + Array(repeating: "word", count: 26).joined(separator: " ") + ".\"\"\"", 1),
    ])
  func theLanguageCheckReportsAvoidedWordsInCommentsOfPython(_ text: String, _ count: Int) {
    #expect(LanguageRules.hardWords(SourceFile("Tests/a.py", text)).count == count, "\(text)")
  }

  @Test(
    arguments: [
      ("-- It has to be.\nCREATE TABLE a (", 1), ("-- It has\n-- to be.\nCREATE TRIGGER a", 1),
      ("-- It stands.\nINSERT INTO a", 1), ("CREATE TABLE a (\n  -- It stands.\n  b TEXT", 0),
      ("-- It is.\nCREATE TABLE stands (", 0), ("--stands\nCREATE TABLE a (", 0),
    ])
  func theLanguageCheckReportsAvoidedWordsInSQLCommentsOutsideOfStatements(_ text: String, _ count: Int) {
    func found(_ text: String) -> Int {
      LanguageRules.hardWords(SourceFile("Sources/A/B.swift", text)).count
    }
    #expect(found("let a = \"\"\"\n\(text)\n\"\"\"") == count, "\(text)")
    #expect(found(text) == 0, "\(text)")
  }

  @Test(arguments: LanguageRules.commentWords.map(\.word))
  func theLanguageCheckReportsAvoidedWordsOnlyInCommentsAndTestNames(_ word: String) {
    func count(_ text: String) -> Int { LanguageRules.hardWords(SourceFile("Tests/A/B.swift", text)).count }
    let name = word.split(separator: " ").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    for comment in [
      "/// It \(word) that.", "  // \(word.uppercased()) it.", "let a = \"b\"  // It \(word) that.",
      "// It\n// \(word.replacing(" ", with: "\n// ")) that.", "let a = \"\"\"\n  b\n  \"\"\"\n// \(word)",
    ] {
      #expect(count(comment) == 1, "\(comment)")
    }
    #expect(count("  @Test func it\(name)That() {\n  }") == 1)
    #expect(count("@Test(arguments: [1])\nfunc it\(name)That(_ a: Int) {\n}") == 1)
    for code in [
      "let it\(name) = 1", "let a = \"\(word)\"", "let a = \"b  // \(word)\"", "/// The `\(word)` of it.",
      "let a = \"\"\"\n  // \(word)\n  \"\"\"", "  func it\(name)That() {\n  }", "// \(word)s",
    ] {
      #expect(count(code) == 0, "\(code)")
    }
  }

  @Test(
    arguments: [
      ("/// A file that is no store.", 1), ("/// Such times are no gaps.", 1),
      ("/// A file that is not a store.", 0),
      ("/// There is no store, and the file is no longer read.", 0), ("let a = b // is no c", 0),
      ("@Test func aFile" + "IsNoStore() {\n  }", 1), ("@Test func withoutAFileThereIsNoStore() {\n  }", 0),
    ])
  func aSentenceThatDeniesANounWithNoIsFound(_ text: String, _ count: Int) {
    #expect(LanguageRules.hardWords(SourceFile("Tests/A/B.swift", text)).count == count, "\(text)")
  }

  @Test func theLanguageCheckReportsOnlyCommentSentencesAboveTheWordLimit() {
    func count(_ sentences: Int...) -> Int {
      let lines = sentences.map {
        "/// " + Array(repeating: "word", count: $0).joined(separator: "\n/// ") + "."
      }
      return LanguageRules.hardWords(SourceFile("Sources/A/B.swift", lines.joined(separator: "\n"))).count
    }
    #expect(count(25) == 0 && count(25, 25, 25) == 0)
    #expect(count(26) == 1 && count(3, 26, 25, 27) == 2)
  }

  @Test(
    arguments: [
      (" ", 26, 1), (" ", 25, 0), ("\n/// ", 26, 1), ("\n///\n/// ", 40, 0), ("\n/// - ", 40, 0),
      ("\n/// - a:\n/// - ", 40, 0),
    ])
  func aColonEndsASentenceOnlyBeforeAList(_ separator: String, _ total: Int, _ count: Int) {
    let words = Array(repeating: "word", count: total / 2).joined(separator: " ")
    let rest = Array(repeating: "word", count: total - total / 2).joined(separator: " ")
    let text = "/// \(words):\(separator)\(rest)."
    #expect(LanguageRules.hardWords(SourceFile("Sources/A/B.swift", text)).count == count, "\(text)")
  }
}
