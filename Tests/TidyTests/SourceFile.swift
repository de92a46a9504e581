// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// One text file of the repository.
struct SourceFile {
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The path below the root of the repository.
  let path: String
  /// The text with a blank for each byte 0.
  let text: String
  let lines: [String]

  init(_ path: String, _ text: String) {
    self.path = path
    self.text =
      text.utf8.contains(0) ? String(decoding: text.utf8.map { $0 == 0 ? 0x20 : $0 }, as: UTF8.self) : text
    lines = self.text.components(separatedBy: "\n")
  }

  var name: String { (path as NSString).lastPathComponent }

  var isSwift: Bool { path.hasSuffix(".swift") }

  /// Whether this is a shell script.
  var isScript: Bool { path.hasSuffix(".sh") }

  var isPython: Bool { path.hasSuffix(".py") }

  /// The room (the module) of a file in `Sources`; empty for others.
  var room: String {
    let parts = path.split(separator: "/")
    return parts.count > 2 && parts[0] == "Sources" ? String(parts[1]) : ""
  }

  /// The modules that the file imports, with the numbers of the lines.
  var imports: [(line: Int, module: String)] {
    numbered.compactMap { number, line in
      let words = line.split(separator: " ")
      guard let place = words.firstIndex(of: "import"), words.indices.contains(place + 1) else { return nil }
      let modifiers: Set<Substring> = ["public", "package", "internal", "fileprivate", "private"]
      guard words[..<place].allSatisfy({ modifiers.contains($0) || $0.hasPrefix("@") }) else { return nil }
      // `import struct Module.Name` names its module last.
      return (number, String(words[words.endIndex - 1].prefix { $0 != "." }))
    }
  }

  /// The lines with their numbers, from 1.
  var numbered: [(number: Int, line: String)] { lines.enumerated().map { ($0 + 1, $1) } }

  /// The lines that contain a word, in order.
  func lines(holding word: String) -> [(number: Int, line: String)] {
    text.holds(word) ? numbered.filter { $0.line.holds(word) } : []
  }

  /// The functions and initialisers with a body, and their lengths in lines.
  ///
  /// They are found by indentation, which the formatter keeps: a body ends at the first closing brace with
  /// the indentation of its declaration.
  var functions: [(line: Int, length: Int)] {
    lines.indices.compactMap { start in
      guard Self.isDeclaration(lines[start]), let open = bodyStart(from: start) else { return nil }
      if lines[open].hasSuffix("}") { return (start + 1, open - start + 1) }
      let margin = lines[start].prefix { $0 == " " }
      guard let end = lines[open...].dropFirst().firstIndex(where: { $0.hasPrefix(margin + "}") }) else {
        return nil
      }
      return (start + 1, end - start + 1)
    }
  }

  /// Whether the function on this line is marked as a test, on the line or on the lines above it up to an
  /// empty line.
  func isTest(at line: Int) -> Bool {
    lines[..<line].reversed().prefix { !$0.isEmpty }.contains { $0.drop { $0 == " " }.hasPrefix("@Test") }
  }

  private static func isDeclaration(_ line: String) -> Bool {
    let modifiers: Set<Substring> = [
      "public", "package", "internal", "fileprivate", "private", "static", "mutating", "override", "final",
      "convenience", "required", "nonmutating", "nonisolated", "class",
    ]
    let rest = line.split(separator: " ").drop { modifiers.contains($0) || $0.hasPrefix("@") }
    guard let word = rest.first else { return false }
    return word == "func" || word.hasPrefix("init(") || word.hasPrefix("init?(") || word.hasPrefix("init<")
  }

  /// The line on which the body opens; nil for a requirement without a body.
  private func bodyStart(from start: Int) -> Int? {
    var depth = 0
    for index in start..<lines.count {
      let line = lines[index]
      if index > start, depth == 0 {
        let text = line.drop { $0 == " " }
        guard ["{", "->", "throws", "async", "where"].contains(where: text.hasPrefix) else { return nil }
      }
      for character in line {
        if "([".contains(character) { depth += 1 }
        if ")]".contains(character) { depth -= 1 }
        if character == "{", depth == 0 { return index }
      }
    }
    return nil
  }
}

extension SourceFile {
  private static let everything = Result { try readAll() }

  /// Every text file below a folder of the repository, or below its root, without the products of builds.
  static func all(in folder: String = "") throws -> [SourceFile] {
    try everything.get().filter { folder.isEmpty || $0.path.hasPrefix("\(folder)/") }
  }

  private static func readAll() throws -> [SourceFile] {
    guard let paths = FileManager.default.enumerator(atPath: root.path) else {
      throw CocoaError(.fileReadNoSuchFile)
    }
    var files: [SourceFile] = []
    while let path = paths.nextObject() as? String {
      if [".build", ".git", ".swiftpm"].contains((path as NSString).lastPathComponent) {
        paths.skipDescendants()
        continue
      }
      let file = root.appending(path: path)
      guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true,
        let text = String(data: try Data(contentsOf: file), encoding: .utf8)
      else { continue }
      files.append(SourceFile(path, text))
    }
    return files.sorted { $0.path < $1.path }
  }
}

extension String {
  /// Whether this text, which has no byte 0, contains these bytes. The rules search each line for dozens of
  /// words, and a comparison by characters takes a hundred times as long.
  func holds(_ word: String) -> Bool { strstr(self, word) != nil }
}
