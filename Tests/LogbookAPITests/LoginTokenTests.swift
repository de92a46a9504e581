// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import Testing

/// Tests tokens, and the ids by which the log names logins.
@Suite struct LoginTokenTests {
  /// A generator that returns the same words repeatedly.
  private struct Words: RandomNumberGenerator {
    var words: [UInt64]
    var index = 0

    mutating func next() -> UInt64 {
      defer { index += 1 }
      return words[index % words.count]
    }
  }

  private func token(_ words: UInt64...) -> String {
    var generator = Words(words: words)
    return LoginToken(using: &generator).text
  }

  @Test func aLoginTokenContains256RandomBits() {
    #expect(token(0) == "gp_" + String(repeating: "A", count: 43))
    #expect(token(.max) == "gp_" + String(repeating: "_", count: 42) + "8")
    // A token has 4 words of 8 bytes, the lowest byte first. Each bit of each word must change the token.
    #expect(token(1, 0, 0, 0) == "gp_AQ" + String(repeating: "A", count: 41))
    #expect(token(0, 0, 0, 1 << 56) == "gp_" + String(repeating: "A", count: 41) + "AE")
    var seen: Set<String> = [token(0)]
    for word in 0..<4 {
      for bit in 0..<64 {
        var words = [UInt64](repeating: 0, count: 4)
        words[word] = 1 << UInt64(bit)
        #expect(seen.insert(token(words[0], words[1], words[2], words[3])).inserted, "\(word) \(bit)")
      }
    }
  }

  @Test func aLoginTokenHasOnlyCharactersThatNeedNoEscape() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<100 {
      let text = LoginToken(using: &generator).text
      #expect(text.utf8.count == 46 && text.hasPrefix("gp_"))
      #expect(text.utf8.allSatisfy { $0 == 0x2D || $0 == 0x5F || $0 >= 0x30 && $0 <= 0x7A }, "\(text)")
      #expect(!text.contains { "+/=:;<>?@[]^`\\".contains($0) }, "\(text)")
    }
  }

  /// The expected values are the SHA-256 digests of the empty text and of "abc" (FIPS 180-4).
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
  ])
  func aLoginTokenIsStoredAsItsSHA256(_ text: String, _ hash: String) {
    let found = LoginToken(text).hash.map { $0 < 16 ? "0\(String($0, radix: 16))" : String($0, radix: 16) }
    #expect(found.joined() == hash)
  }

  @Test func similarLoginTokensHaveDifferentHashes() {
    let texts = ["gp_a", "gp_A", "GP_a", "gp_a ", " gp_a", "gp_á", "gp_a\u{301}", ""]
    #expect(Set(texts.map { LoginToken($0).hash }).count == texts.count)
  }

  @Test func theLogNamesALoginByAHashNotByItsName() {
    #expect(Login.logID("abc") == "ba7816bf" && Login.logID("") == "e3b0c442")
    for name in ["anna", "Anna", "Anna Müller", "<x>"] {
      let id = Login.logID(name)
      #expect(id.utf8.count == 8 && id.allSatisfy { $0.isHexDigit })
    }
    #expect(Login.logID("anna") != Login.logID("Anna"))
  }

  @Test func theOnlyLoginRolesAreReadAndWrite() {
    #expect(LoginRole.allCases.map(\.rawValue) == ["read", "write"])
    for text in ["Read", "admin", "", "readwrite"] { #expect(LoginRole(rawValue: text) == nil) }
  }
}
