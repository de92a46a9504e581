// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Sync

@Suite struct MergeTests {
  private let base = note(["text": .text("run"), "minutes": .number(30)])

  @Test func timesOfEditsDoNotDecideAMergeAndTheLaterTimeIsKept() {
    var (local, remote) = (note(["text": .text("a"), "n": .number(1)]), note(["text": .text("b")]))
    let base = note(["text": .text("a")])
    for (mine, theirs) in [(5, 9), (9, 5)] as [(Int64, Int64)] {
      (local.editedAt, remote.editedAt) = (mine, theirs)
      var merged = note(["text": .text("b"), "n": .number(1)])
      merged.editedAt = 9
      #expect(Merge.of(local: local, remote: remote, base: base) == .yields(merged))
      #expect(Merge.of(local: local, remote: remote, base: note([:])) == .conflict)
      #expect(
        Merge.of(
          local: local,
          remote: {
            var same = local; same.editedAt = 1; return same
          }(), base: nil) == .takesRemote)
    }
  }

  @Test func equalVersionsOnBothSidesAreSyncedSilently() {
    let side = note(["text": .text("walk"), "minutes": .number(30)])
    #expect(Merge.of(local: side, remote: side, base: base) == .takesRemote)
    #expect(Merge.of(local: side, remote: side, base: nil) == .takesRemote)
  }

  @Test func onlyAStatedUTCOffsetMakesTwoVersionsDiffer() {
    var remote = base
    remote.placement = Placement(utcOffset: -18000, source: .zoneOverlap)
    #expect(Merge.of(local: base, remote: remote, base: nil) == .takesRemote)
    remote.placement = Placement(utcOffset: 3600, source: .stated)
    #expect(Merge.of(local: base, remote: remote, base: nil) == .conflict)
  }

  @Test func editsOfDifferentFieldsOfARecordAreMerged() {
    let local = note(["text": .text("walk"), "minutes": .number(30)])
    let remote = note(["text": .text("run"), "minutes": .number(45)])
    let both = note(["text": .text("walk"), "minutes": .number(45)])
    #expect(Merge.of(local: local, remote: remote, base: base) == .yields(both))
    #expect(Merge.of(local: remote, remote: local, base: base) == .yields(both))
  }

  @Test func differentEditsOfOneFieldAreAConflict() {
    let local = note(["text": .text("walk"), "minutes": .number(30)])
    let remote = note(["text": .text("swim"), "minutes": .number(30)])
    #expect(Merge.of(local: local, remote: remote, base: base) == .conflict)
  }

  @Test func theSameEditOnBothSidesIsNotAConflict() {
    let local = note(["text": .text("walk"), "minutes": .number(30)])
    let remote = note(["text": .text("walk"), "minutes": .number(45)])
    #expect(Merge.of(local: local, remote: remote, base: base) == .takesRemote)
  }

  @Test func removingAFieldOfARecordIsAnEditOfTheField() {
    let local = note(["text": .text("run")])
    let remote = note(["text": .text("swim"), "minutes": .number(30)])
    #expect(Merge.of(local: local, remote: remote, base: base) == .yields(note(["text": .text("swim")])))
    let changed = note(["text": .text("run"), "minutes": .number(45)])
    #expect(Merge.of(local: local, remote: changed, base: base) == .conflict)
  }

  @Test func timeAndEntryOfARecordAreMergedLikeFields() {
    var local = base
    local.deviceTime = DeviceTime(seconds: 2000)
    var remote = base
    remote.entryGuid = "e"
    var both = local
    both.entryGuid = "e"
    #expect(Merge.of(local: local, remote: remote, base: base) == .yields(both))
    remote.deviceTime = DeviceTime(seconds: 3000)
    #expect(Merge.of(local: local, remote: remote, base: base) == .conflict)
  }

  @Test func anEditOnOneSideCountsWithoutAConflict() {
    let edited = note(["text": .text("walk"), "minutes": .number(30)])
    #expect(Merge.of(local: base, remote: edited, base: base) == .takesRemote)
    #expect(Merge.of(local: edited, remote: base, base: base) == .yields(edited))
  }

  @Test func aDeletionAndAnEditOfARecordConflictInEitherOrder() {
    let edited = note(["text": .text("walk"), "minutes": .number(30)])
    #expect(Merge.of(local: tombstone, remote: edited, base: base) == .conflict)
    #expect(Merge.of(local: edited, remote: tombstone, base: base) == .conflict)
  }

  @Test func aRecordDeletedOnBothSidesIsSynced() {
    #expect(Merge.of(local: tombstone, remote: tombstone, base: base) == .takesRemote)
  }

  @Test func aDeletionOnOneSideWithoutAnotherChangeIsAdopted() {
    #expect(Merge.of(local: tombstone, remote: base, base: base) == .yields(tombstone))
    #expect(Merge.of(local: base, remote: tombstone, base: base) == .takesRemote)
  }

  @Test func withoutACommonBaseDifferentVersionsConflictUnlessImported() {
    let other = note(["text": .text("swim")])
    #expect(Merge.of(local: base, remote: other, base: nil) == .conflict)
    #expect(Merge.of(local: base, remote: other, base: nil, isImportedOnly: true) == .conflict)
    #expect(Merge.of(local: base, remote: tombstone, base: nil) == .conflict)
    #expect(Merge.of(local: base, remote: tombstone, base: nil, isImportedOnly: true) == .takesRemote)
    #expect(Merge.of(local: tombstone, remote: other, base: nil) == .conflict)
  }
}
