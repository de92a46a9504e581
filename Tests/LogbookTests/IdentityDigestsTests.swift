// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@Suite struct IdentityDigestsTests {
  private static let guid = "ab5c9b1e-6f0d-4c2b-8e7a-1d2f3c4b5a69"

  private func note(_ text: String) -> RecordState {
    RecordState(
      kind: .note, entryGuid: nil, deviceTime: DeviceTime(seconds: 1_700_000_000),
      placement: Placement(utcOffset: 3600, source: .zone), fields: RecordFields(["text": .text(text)]),
      isDeleted: false)
  }

  @Test func theOrderOfItemsDoesNotChangeTheirDigest() {
    let keys = (0..<300).map { Digest.uuidBytes(of: ["reading", "\($0)"]) }
    var (one, other) = (IdentityDigests(), IdentityDigests())
    for key in keys { one.insert(key) }
    for key in keys.reversed() { other.insert(key) }
    #expect(one == other && one.counts.reduce(0, +) == 300)
  }

  @Test func aMissingItemChangesOnlyTheDigestOfItsBucket() {
    let keys = (0..<300).map { Digest.uuidBytes(of: ["reading", "\($0)"]) }
    var (one, other) = (IdentityDigests(), IdentityDigests())
    for key in keys { one.insert(key) }
    for key in keys.dropFirst() { other.insert(key) }
    #expect(one.differing(from: other) == [IdentityDigests.bucket(of: keys[0])])
  }

  @Test func theIDOfARecordDeterminesItsBucket() {
    var digests = IdentityDigests()
    digests.insert(Self.guid, note("a"))
    #expect(IdentityDigests.bucket(ofRecord: Self.guid) == 0xAB0)
    #expect(digests.counts[0xAB0] == 1 && digests.differing(from: IdentityDigests()) == [0xAB0])
  }

  @Test func onlyEditableContentChangesTheDigestOfARecord() {
    func digests(_ change: (inout RecordState) -> Void) -> IdentityDigests {
      var (state, digests) = (note("a"), IdentityDigests())
      change(&state)
      digests.insert(Self.guid, state)
      return digests
    }
    let same = digests { _ in }
    #expect(digests { $0.editedAt = 5 } == same)
    // A derived offset is not content, so it does not change the digest.
    #expect(digests { $0.placement = Placement(utcOffset: 7200, source: .zoneGap) } == same)
    let changes: [(inout RecordState) -> Void] = [
      { $0.fields["text"] = .text("b") }, { $0.isDeleted = true }, { $0.entryGuid = Self.guid },
      { $0.deviceTime = DeviceTime(seconds: 1) },
      { $0.placement = Placement(utcOffset: 3600, source: .stated) }, { $0.kind = .food },
    ]
    for change in changes {
      var state = note("a")
      change(&state)
      #expect(!state.agrees(with: note("a")))
      #expect(digests(change).differing(from: same) == [0xAB0])
    }
  }
}
