// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@Suite struct DigestTests {
  @Test func theDigestOfDataHashedInPiecesEqualsTheDigestOfTheWhole() {
    var pieces = Digest()
    pieces.update("a")
    pieces.update("bc")
    // This is the digest of `abc`, an example in FIPS 180-4.
    #expect(
      pieces.hexadecimal() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }

  @Test func aUUIDFromADigestHasVersionEightAndTheStandardVariant() {
    for number in 0..<200 {
      let uuid = Array(Digest.uuid(of: ["record", String(number)]))
      #expect(uuid.count == 36)
      #expect([8, 13, 18, 23].allSatisfy { uuid[$0] == "-" })
      #expect(uuid[14] == "8")
      #expect("89ab".contains(uuid[19]))
    }
  }

  @Test func listsThatSplitTheSameTextDifferentlyHaveDifferentUUIDs() {
    let lists = [
      ["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], ["", "abc"], ["ab", "c", ""], ["1:a"], ["a", ""],
      ["1", "a"],
      [], [""], ["", ""], ["1:a1:b"], ["a", "b"], ["é"], ["e\u{301}x"],
    ]
    #expect(Set(lists.map(Digest.uuid(of:))).count == lists.count)
  }

  @Test func equalListsOfTextsAlwaysGiveTheSameUUID() {
    #expect(Digest.uuid(of: ["record", "mysugr", "1"]) == Digest.uuid(of: ["record", "mysugr", "1"]))
  }
}
