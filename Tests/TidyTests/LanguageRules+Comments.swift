// SPDX-License-Identifier: Apache-2.0

/// Finds words that plain English avoids in comments of Swift files, of SQL in their literals and of scripts,
/// and in names of tests.
extension LanguageRules {
  /// Each word with the words to use instead.
  static let commentWords: [(word: String, better: String)] = [
    ("behind", "after, past"), ("in front of", "before"), ("nobody", "nothing, no caller"),
    ("whoever", "the caller, callers"), ("so many", "N, at most N"), ("has to", "must"), ("have to", "must"),
    ("is to be", "is, must"), ("are to be", "are, must"), ("stands", "is, is stored"), ("alone", "only"),
    ("beside", "next to, with"), ("tells", "states, reports"), ("of its own", "separate, its"),
    ("says", "states, names, means"), ("gives", "returns, has, states, produces"),
    ("of which", "a sentence with the subject first"), ("as many as", "N, at most N, the same number"),
  ]

  /// The longest sentence in words, where code in backticks counts as one word.
  static let maxSentenceWords = 25

  /// The avoided words in the comments and names of tests of a file, and its long sentences.
  static func hardWords(_ file: SourceFile) -> [String] {
    let comments = comments(of: file)
    let words = (comments + testNames(of: file)).flatMap { line, text in
      let words = spaced(text)
      let found = commentWords.filter { words.holds(spaced($0.word)) } + (deniesWithNo(words) ? [noNoun] : [])
      return found.map {
        "\(file.path):\(line): '\($0.word)'; write \($0.better)"
      }
    }
    let sentences = comments.flatMap { line, text in
      sentenceLengths(text).filter { $0 > maxSentenceWords }.map {
        "\(file.path):\(line): a sentence of \($0) words"
      }
    }
    return words + sentences
  }

  /// The paragraphs of comments, without code in backticks. List items are separate paragraphs.
  private static func comments(of file: SourceFile) -> [(line: Int, text: String)] {
    let paragraphs =
      file.isPython
      ? pythonComments(of: file) : file.isScript ? scriptComments(of: file) : swiftComments(of: file)
    return paragraphs.all.map { ($0.line, withoutCode($0.text)) }
  }

  private static func swiftComments(of file: SourceFile) -> Paragraphs {
    var paragraphs = Paragraphs()
    var isInString = false
    for (number, line) in file.numbered {
      let text = line.drop { $0 == " " }
      if isInString, isFreeSQLComment(number, in: file) {
        paragraphs.add(text.drop { $0 == "-" }.drop { $0 == " " }, at: number)
        continue
      }
      guard !isInString, text.hasPrefix("//") else {
        paragraphs.end()
        if text.replacing("#\"\"\"#", with: "").contains("\"\"\"") { isInString.toggle() }
        if !isInString, let comment = trailingComment(line) { paragraphs.addSeparate(comment, at: number) }
        continue
      }
      paragraphs.add(text.drop { $0 == "/" }.drop { $0 == " " }, at: number)
    }
    return paragraphs
  }

  /// Whether a line in a string literal is a comment of SQL that precedes a statement. Comments within a
  /// statement are not checked, since SQLite stores the text of a statement. It is part of the checksum of a
  /// schema, so such a comment can only change with the next version of the schema.
  private static func isFreeSQLComment(_ number: Int, in file: SourceFile) -> Bool {
    func isComment(_ line: String) -> Bool { line.drop { $0 == " " }.hasPrefix("-- ") }
    guard isComment(file.lines[number - 1]),
      let next = file.lines[number...].first(where: { !isComment($0) })?.drop(while: { $0 == " " })
    else { return false }
    return ["CREATE ", "INSERT ", "DELETE ", "UPDATE "].contains(where: next.hasPrefix)
  }

  /// The comments and the docstrings of a Python script, without its first line and the licence. Lines of a
  /// docstring that are indented more than the first line show how to call the script, and are left out.
  private static func pythonComments(of file: SourceFile) -> Paragraphs {
    var paragraphs = Paragraphs()
    var (isInString, docIndent): (Bool, Int?) = (false, nil)
    for (number, line) in file.numbered {
      let text = line.drop { $0 == " " }
      let indent = line.count - text.count
      let marks = text.ranges(of: "\"\"\"").count
      let words = text.replacing("\"\"\"", with: "")
      if let first = docIndent {
        if indent > first { paragraphs.end() } else { paragraphs.add(words[...], at: number) }
        if marks > 0 { docIndent = nil }
      } else if !isInString, text.hasPrefix("\"\"\"") {
        paragraphs.end()
        paragraphs.add(words[...], at: number)
        if marks == 1 { docIndent = indent }
      } else if !isInString, text.hasPrefix("# "), !text.hasPrefix("# SPDX-") {
        paragraphs.add(text.dropFirst(2), at: number)
      } else {
        paragraphs.end()
        if !marks.isMultiple(of: 2) { isInString.toggle() }
      }
    }
    return paragraphs
  }

  /// The comments of a shell script, without its first line, directives of shellcheck, the licence, and
  /// indented lines that show how to call the script.
  private static func scriptComments(of file: SourceFile) -> Paragraphs {
    var paragraphs = Paragraphs()
    for (number, line) in file.numbered {
      let text = line.drop { $0 == " " || $0 == "\t" }
      let words = text.drop { $0 == "#" }.drop { $0 == " " }
      let isUsage = text.hasPrefix("#  ") && !paragraphs.endsInListItem
      let isDirective = words.hasPrefix("shellcheck ") || words.hasPrefix("SPDX-")
      if text == "#" || text.hasPrefix("# "), !isUsage, !isDirective {
        paragraphs.add(words, at: number)
      } else {
        paragraphs.end()
      }
    }
    return paragraphs
  }

  /// The comment at the end of a line of code; nil without one, or within a string literal.
  private static func trailingComment(_ line: String) -> String? {
    guard let range = line.firstRange(of: "  // "),
      line[..<range.lowerBound].count(where: { $0 == "\"" }).isMultiple(of: 2)
    else { return nil }
    return String(line[range.upperBound...])
  }

  private static func withoutCode(_ text: String) -> String {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .map { $0.offset.isMultiple(of: 2) ? String($0.element) : "x" }.joined()
  }

  /// The number of words in each sentence. A colon does not end a sentence. What it introduces counts as
  /// well, unless that is a list or a line of code, which is not part of the paragraph.
  private static func sentenceLengths(_ text: String) -> [Int] {
    var (lengths, count): ([Int], Int) = ([], 0)
    for word in text.split(separator: " ") {
      if word.contains(where: { $0.isLetter || $0.isNumber }) { count += 1 }
      if let last = word.last(where: { !")]\"'".contains($0) }), ".!?".contains(last) {
        lengths.append(count)
        count = 0
      }
    }
    return lengths + [count]
  }

  /// The names of tests as words.
  private static func testNames(of file: SourceFile) -> [(line: Int, text: String)] {
    guard file.path.hasPrefix("Tests/") else { return [] }
    return file.lines(holding: "func ").compactMap { number, line in
      guard file.isTest(at: number), let match = line.firstMatch(of: /func (\w+)/) else { return nil }
      return (number, match.1.map { $0.isUppercase ? " \($0)" : String($0) }.joined())
    }
  }
}

/// The paragraphs of comments with the numbers of their first lines.
private struct Paragraphs {
  private(set) var all: [(line: Int, text: String)] = []
  private var isOpen = false

  /// Whether the last line was part of a list item, which an indented line continues.
  var endsInListItem: Bool { isOpen && all.last?.text.hasPrefix("- ") == true }

  /// Adds a line of a comment. It continues a paragraph, unless it is empty or begins a list item.
  mutating func add(_ words: Substring, at line: Int) {
    if words.isEmpty || words.hasPrefix("- ") { isOpen = false }
    if words.isEmpty { return }
    if isOpen {
      all[all.count - 1].text += " \(words)"
    } else {
      all.append((line, String(words)))
    }
    isOpen = true
  }

  mutating func addSeparate(_ words: String, at line: Int) { all.append((line, words)) }

  mutating func end() { isOpen = false }
}
