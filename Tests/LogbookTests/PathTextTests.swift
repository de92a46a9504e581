// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@Suite struct PathTextTests {
  private func bytes(_ text: String) -> [UInt8] {
    PathText.bytes(text).dropLast().map { UInt8(bitPattern: $0) }
  }

  @Test(arguments: [
    Array("plain.csv".utf8), Array("Grüße 日本.csv".utf8), [],
    [0x4D, 0xE4, 0x72, 0x7A, 0x2E, 0x63, 0x73, 0x76],
    [0xFF], [0xC3], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF4, 0x8F, 0xBF, 0xBF],
    [0xF4, 0x8F, 0xBC, 0x80, 0xFE],
    [0xC3, 0xA4, 0xE4, 0xC3, 0xA4], [0xF0, 0x9F, 0x98, 0x80, 0x80],
  ])
  func aFileNameKeepsEveryByte(_ name: [UInt8]) {
    #expect(bytes(PathText.text(name)) == name)
    #expect(PathText.bytes(PathText.text(name)).last == 0)
  }

  @Test func fileNamesOfAnyOneOrTwoBytesAreKept() {
    for first in UInt8(1)...255 {
      for second in UInt8(1)...255 { #expect(bytes(PathText.text([first, second])) == [first, second]) }
    }
  }

  @Test func fileNamesThatDifferInOneByteStayDifferent() {
    #expect(PathText.text([0x61, 0xE4]) != PathText.text([0x61, 0xF6]))
  }

  @Test func aFileNameInUTF8IsShownUnchanged() {
    for text in ["plain.csv", "Grüße", "\u{10FE00}", "日本"] {
      #expect(PathText.text(Array(text.utf8)) == text)
      #expect(PathText.shown(text) == text && !PathText.isEscaped(text))
    }
  }

  @Test func bytesOfAFileNameThatAreNotUTF8AreShownAsNumbers() {
    #expect(PathText.shown(PathText.text([0x4D, 0xE4, 0x72, 0x05, 0xC3, 0xA4])) == "M\\xE4r\u{5}ä")
    #expect(PathText.isEscaped(PathText.text([0xE4])))
  }

  @Test(arguments: [
    ("plain-1.csv", "plain-1.csv"), ("é", "é"), ("", "''"), ("a b", "'a b'"), ("a'b", #"'a'\''b'"#),
    ("$HOME", "'$HOME'"),
  ])
  func aShellWordIsQuotedOnlyIfItsCharactersRequireQuotes(_ text: String, _ word: String) {
    #expect(text.shellWord == word)
    #expect(word.hasPrefix("'") ? text.shellQuoted == word : text.shellQuoted == "'\(word)'")
  }
}
