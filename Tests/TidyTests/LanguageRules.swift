// SPDX-License-Identifier: Apache-2.0

/// Finds words that plain English avoids in the texts for users: string literals of `Sources`, manual pages,
/// `README.md`.
enum LanguageRules {
  /// Each word with the words to use instead.
  static let oldWords: [(word: String, better: String)] = [
    ("tell", "report, print, show"), ("tells", "reports, prints, shows"), ("told", "reported, printed"),
    ("talk", "session, exchange"), ("talks", "sessions, exchanges"), ("talked", "exchanged"),
    ("stand", "be stored, be in"), ("stands", "is stored, is in"), ("anew", "again, recalculated"),
    ("for good", "permanently"), ("for ever", "permanently"),
    ("broke off", "was interrupted, connection lost"),
    ("what waits", "pending, queued"), ("waits for a decision", "needs a decision"),
    ("wait for a decision", "need a decision"), ("takes back", "rolls back"), ("take back", "roll back"),
    ("so many", "a number"), ("say nothing", "print nothing"), ("says nothing", "prints nothing"),
    ("cut off", "truncated"), ("of its own", "its own"), ("of one's own", "your own"),
    ("no calendar has", "invalid"), ("bereft", "orphaned"),
    ("sort of", "kind of"),
    ("nobody", "nothing, no program"), ("whoever", "anyone who"), ("this is no", "not a"),
    // The plural "withdrawn readings" is allowed, since it is a name in JSON.
    ("withdrawn reading", "hidden reading"), ("list withdrawn", "list --hidden"),
  ]

  /// The words of `oldWords` that a file's texts for users contain.
  static func oldWords(_ file: SourceFile) -> [String] {
    let texts = file.isSwift ? literals(of: file) : file.numbered.map { (line: $0.number, text: $0.line) }
    // A word in a schema cannot be changed, since files of released versions contain it.
    let isSchema = file.name.hasSuffix("Schema.swift")
    return texts.flatMap { line, text in
      let words = spaced(text)
      let found = zip(oldWords, spacedWords).filter { words.holds($1) }.map(\.0)
      let isDuty = words.holds(" has to ") || words.holds(" have to ")
      let others = [(behind, misusesBehind(words)), (noNoun, deniesWithNo(words)), (duty, isDuty)]
        .filter(\.1).map(\.0)
      return (found + (isSchema ? [] : others)).map {
        "\(file.path):\(line): '\($0.word)'; write \($0.better)"
      }
    }
  }

  static let noNoun = (word: "is no", better: "is not a")

  /// Whether a text has `is no store` where plain English has `is not a store`.
  static func deniesWithNo(_ words: String) -> Bool {
    let usual = [
      "there is no ", "there are no ", "is no longer ", "are no longer ", "is no more ", "are no more ",
    ]
    let rest = usual.reduce(words) { $0.replacing($1, with: "") }
    return rest.holds(" is no ") || rest.holds(" are no ")
  }

  private static let duty = (word: "has to, have to", better: "must")

  private static let behind = (word: "behind", better: "after, past")

  /// Whether a text has `behind` for something that follows or remains. A server may be `behind` a proxy or a
  /// balancer, and a clock `behind` another one. Messages about clocks have a literal with only this word.
  private static func misusesBehind(_ words: String) -> Bool {
    let rest = [" behind a proxy ", " behind a balancer "].reduce(words) { $0.replacing($1, with: " ") }
    return rest.holds(" behind ") && rest != " behind "
  }

  private static let spacedWords = oldWords.map { spaced($0.word) }

  /// The words of a text in lower case, each between blanks, so that whole words can be found.
  static func spaced(_ text: String) -> String {
    let letters = text.lowercased().map { $0.isLetter || $0.isNumber || $0 == "'" ? $0 : " " }
    return " " + String(letters).split(separator: " ").joined(separator: " ") + " "
  }

  /// The string literals of a Swift file by line, without interpolations.
  private static func literals(of file: SourceFile) -> [(line: Int, text: String)] {
    var isInside = false
    return file.numbered.flatMap { number, line -> [(line: Int, text: String)] in
      let text = line.drop { $0 == " " }
      if text.contains("\"\"\"") {
        isInside.toggle()
        return []
      }
      if isInside { return [(number, withoutInterpolations(text))] }
      if text.hasPrefix("//") { return [] }
      return pieces(text).map { (number, $0) }
    }
  }

  /// The texts between the quotation marks of a line.
  private static func pieces(_ line: Substring) -> [String] {
    var found: [String] = []
    var piece: String?
    var depth = 0
    var isEscaped = false
    for character in line {
      if depth > 0 {
        depth += character == "(" ? 1 : character == ")" ? -1 : 0
      } else if isEscaped {
        isEscaped = false
        if character == "(" { depth = 1 }
        piece? += " "
      } else if character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        if let text = piece { found.append(text) }
        piece = piece == nil ? "" : nil
      } else {
        piece?.append(character)
      }
    }
    return found
  }

  private static func withoutInterpolations(_ text: Substring) -> String {
    pieces("\"" + text.replacing("\"", with: " ") + "\"").joined()
  }
}
