// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite struct LanguageRulesTests {
  @Test func whatUsersReadIsPlainEnglish() throws {
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
  ])
  func anOldWordIsFound(_ path: String, _ text: String) {
    #expect(LanguageRules.oldWords(SourceFile(path, text)).count == 1)
  }

  @Test(arguments: [
    ("Sources/Commands/A.swift", "/// What a remote tells.\nlet told = \"\\(tells(it)) is reported\""),
    ("Sources/Commands/A.swift", "case tell(\"standard input\")"),
    ("man/glucoport.1", "The standard output, and a stable name."),
  ])
  func anotherWordIsNot(_ path: String, _ text: String) {
    #expect(LanguageRules.oldWords(SourceFile(path, text)) == [])
  }
}
