// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import Testing

/// Rules that every storage must obey for changes of records.
enum RecordRules {
  private static let guid = Client.uuid()

  @RuleBuilder<StorageRule> static var rules: [StorageRule] {
    StorageRule("aMissingRecordIsStoredWhateverItsBaseVersion") { stand in
      let client = Client(stand)
      let first = try await client.revision(Sample.change(guid, 1, on: nil, Sample.note("one")))
      let second = try await client.revision(
        Sample.change(Client.uuid(), 7, on: "12.abcdef01", Sample.note("two")))
      #expect(first != second)
      var other = Client(stand)
      let records = try await other.pullAll().flatMap(\.records)
      #expect(records.map(\.state) == [Sample.note("one"), Sample.note("two")])
      #expect(records.map(\.revision) == [first, second])
    }

    StorageRule("everyRecordKindIsStored") { stand in
      for (number, word) in ["sleep", "-", String(repeating: "z", count: 32)].enumerated() {
        let state = Sample.note("one", kind: try #require(RecordKind(rawValue: word)))
        let guid = "0f0e0d0c-0b0a-4908-8706-05040302010\(number)"
        _ = try await Client(stand).revision(Sample.change(guid, 1, on: nil, state))
        var other = Client(stand)
        #expect(try await other.pullAll().flatMap(\.records).first { $0.guid == guid }?.state == state)
      }
    }

    StorageRule("aChangeOfTheCurrentVersionIsStored") { stand in
      let (here, there) = (Client(stand), Client(stand))
      let first = try await here.revision(Sample.change(guid, 1, on: nil, Sample.note("one")))
      let second = try await there.revision(Sample.change(guid, 1, on: first, Sample.note("two")))
      #expect(second != first)
    }

    StorageRule("aChangeOfAnOlderVersionConflictsAndReturnsTheCurrentState") { stand in
      let (here, there) = (Client(stand), Client(stand))
      let first = try await here.revision(Sample.change(guid, 1, on: nil, Sample.note("one")))
      let second = try await there.revision(Sample.change(guid, 1, on: first, Sample.note("two")))
      let late = Sample.change(guid, 2, on: first, Sample.note("three"))
      let conflict = RecordVerdict.conflict(revision: second, state: Sample.note("two"), isBaseKnown: true)
      #expect(try await here.push(late) == [conflict])
      #expect(try await here.push(late) == [conflict], "a conflict changes nothing")
      let without = Sample.change(guid, 2, on: nil, Sample.note("three"))
      #expect(
        try await here.push(without)
          == [.conflict(revision: second, state: Sample.note("two"), isBaseKnown: false)])
    }

    /// The changes are an edit, new entries, and new records of an entry. Each change depends only on its own
    /// base, so their order must not matter.
    StorageRule(restarting: "changesOfDifferentRecordsInAnyOrderGiveTheSameState") { place in
      let guids = (0..<5).map { _ in Client.uuid() }
      var states: Set<[String: RecordState]> = []
      for shift in 0..<guids.count {
        let stand = try await StoragePlace(bench: place.bench, folder: ScratchFolder()).start()
        var client = Client(stand)
        let base = try await client.revision(Sample.change(guids[0], 1, on: nil, Sample.note("before")))
        let changes = guids.enumerated().map { place, guid in
          var state = Sample.note("\(place)")
          if place > 2 { state.entryGuid = guids[1] }
          return Sample.change(guid, 2, on: place == 0 ? base : nil, state)
        }
        for change in changes[shift...] + changes[..<shift] { _ = try await client.revision(change) }
        client = Client(stand)
        let records = try await client.pullAll().flatMap(\.records)
        states.insert(Dictionary(uniqueKeysWithValues: records.map { ($0.guid, $0.state) }))
        try await stand.stop()
      }
      #expect(states.count == 1 && states.first?.count == guids.count)
    }

    StorageRule("aConflictDoesNotStopOtherChangesOfItsRequest") { stand in
      let client = Client(stand)
      _ = try await Client(stand).revision(Sample.change(guid, 1, on: nil, Sample.note("theirs")))
      let changes = [
        Sample.change(Client.uuid(), 1, on: nil, Sample.note("before")),
        Sample.change(guid, 1, on: nil, Sample.note("mine")),
        Sample.change(Client.uuid(), 1, on: nil, Sample.note("behind")),
      ]
      let verdicts = try await client.service.apply(changes, client.run).verdicts
      let accepted = verdicts.map { if case .accepted = $0 { true } else { false } }
      #expect(accepted == [true, false, true])
    }

    StorageRule("aRepeatedChangeGetsItsFirstAnswerDespiteLaterWrites") { stand in
      let (here, there) = (Client(stand), Client(stand))
      let mine = Sample.change(guid, 1, on: nil, Sample.note("mine"))
      let first = try await here.revision(mine)
      let second = try await there.revision(Sample.change(guid, 1, on: first, Sample.note("theirs")))
      #expect(try await here.push(mine) == [.accepted(revision: first)])
      var reader = Client(stand)
      #expect(try await reader.pullAll().flatMap(\.records).map(\.revision) == [second])
    }

    StorageRule("otherContentUnderAnAcceptedVersionIsANewChange") { stand in
      let client = Client(stand)
      let first = try await client.revision(Sample.change(guid, 1, on: nil, Sample.note("one")))
      let merged = Sample.change(guid, 1, on: first, Sample.note("merged"))
      let second = try await client.revision(merged)
      #expect(second != first)
      #expect(try await client.push(merged) == [.accepted(revision: second)])
    }

    StorageRule("aLateCopyOfAnOlderChangeChangesNothing") { stand in
      let (here, there) = (Client(stand), Client(stand))
      let first = Sample.change(guid, 1, on: nil, Sample.note("one"))
      let second = Sample.change(guid, 2, on: try await here.revision(first), Sample.note("two"))
      let revision = try await here.revision(second)
      #expect(
        try await here.push(first)
          == [.conflict(revision: revision, state: Sample.note("two"), isBaseKnown: false)])
      let third = Sample.change(guid, 3, on: revision, Sample.note("one"))
      let last = try await here.revision(third)
      // The content of this older change equals the record's current content, so it is accepted. The server
      // still knows that it accepted version 3.
      #expect(try await here.push(first) == [.accepted(revision: last)])
      _ = try await there.revision(Sample.change(guid, 1, on: last, Sample.note("theirs")))
      #expect(try await here.push(third) == [.accepted(revision: last)])
    }

    StorageRule("aNodeThatKnowsTheCurrentRevisionCanSendAnEarlierVersionAgain") { stand in
      let (here, there) = (Client(stand), Client(stand))
      let first = try await here.revision(Sample.change(guid, 1, on: nil, Sample.note("mine")))
      let second = try await there.revision(Sample.change(guid, 1, on: first, Sample.note("theirs")))
      let again = Sample.change(guid, 1, on: second, Sample.note("mine"))
      let third = try await here.revision(again)
      #expect(third != first && third != second)
      #expect(try await here.push(again) == [.accepted(revision: third)])
      var reader = Client(stand)
      #expect(try await reader.pullAll().flatMap(\.records).map(\.state) == [Sample.note("mine")])
    }

    StorageRule("equalContentIsAcceptedWithTheExistingRevision") { stand in
      let (here, there) = (Client(stand), Client(stand))
      let first = try await here.revision(Sample.change(guid, 1, on: nil, Sample.note("same")))
      var state = Sample.note("same")
      state.placement = Placement(utcOffset: 3600, source: .stated)
      #expect(try await there.push(Sample.change(guid, 4, on: nil, state)) == [.accepted(revision: first)])
      var reader = Client(stand)
      #expect(try await reader.pullAll().flatMap(\.records).map(\.state) == [Sample.note("same")])
    }

    StorageRule("equalContentOfAnotherExportIsANewRevisionForAClientThatKnowsTheRecord") { stand in
      let (here, there) = (Client(stand), Client(stand))
      var state = Sample.note("same")
      func aged(_ seconds: Int64) -> RecordState {
        state.export = ExportAge(generated: seconds, modified: seconds)
        return state
      }
      let first = try await here.revision(Sample.change(guid, 1, on: nil, aged(70)))
      // A client that does not know the record has no reason to change its age.
      #expect(try await there.push(Sample.change(guid, 1, on: nil, aged(50))) == [.accepted(revision: first)])
      // A client whose person edited the content back does not know of an export.
      #expect(
        try await here.push(Sample.change(guid, 2, on: first, Sample.note("same")))
          == [.accepted(revision: first)])
      let second = try await here.revision(Sample.change(guid, 3, on: first, aged(50)))
      #expect(second != first)
      var reader = Client(stand)
      #expect(try await reader.pullAll().flatMap(\.records).map(\.state.export) == [aged(50).export])
    }

    StorageRule("onlyAChangeBasedOnTheDeletionRestoresARecord") { stand in
      let (here, there) = (Client(stand), Client(stand))
      let first = try await here.revision(Sample.change(guid, 1, on: nil, Sample.note("one")))
      let tombstone = Sample.note("", isDeleted: true)
      let deleted = try await here.revision(Sample.change(guid, 2, on: first, tombstone))
      for base in [first, nil, "9.00000000"] {
        let verdict = try await there.push(Sample.change(guid, 1, on: base, Sample.note("back")))
        #expect(verdict == [.conflict(revision: deleted, state: tombstone, isBaseKnown: base == first)])
      }
      _ = try await there.revision(Sample.change(guid, 1, on: deleted, Sample.note("back")))
    }

    StorageRule("deletingADeletedRecordIsAccepted") { stand in
      let (here, there) = (Client(stand), Client(stand))
      let first = try await here.revision(Sample.change(guid, 1, on: nil, Sample.note("one")))
      let tombstone = Sample.note("", isDeleted: true)
      let deleted = try await here.revision(Sample.change(guid, 2, on: first, tombstone))
      #expect(
        try await there.push(Sample.change(guid, 1, on: first, tombstone)) == [.accepted(revision: deleted)])
    }

    StorageRule("aRepeatedDeletionConflictsWithARestorationOfTheSameVersion") { stand in
      let (here, there) = (Client(stand), Client(stand))
      let first = try await here.revision(Sample.change(guid, 1, on: nil, Sample.note("one")))
      let tombstone = Sample.note("", isDeleted: true)
      let deleted = try await here.revision(Sample.change(guid, 2, on: first, tombstone))
      let again = Sample.change(guid, 3, on: deleted, tombstone)
      let decided = try await here.revision(again)
      #expect(decided != deleted)
      #expect(try await here.push(again) == [.accepted(revision: decided)])
      #expect(
        try await there.push(Sample.change(guid, 1, on: deleted, Sample.note("back")))
          == [.conflict(revision: decided, state: tombstone, isBaseKnown: true)])
    }

    StorageRule("aChangeOfTheRecordKindIsRefused") { stand in
      let client = Client(stand)
      let first = try await client.revision(Sample.change(guid, 1, on: nil, Sample.note("one")))
      let verdict = try await client.push(Sample.change(guid, 2, on: first, Sample.note("one", kind: .food)))
      guard case .refused(let reason) = verdict.first else {
        Issue.record("\(verdict)")
        return
      }
      #expect(reason.contains("kind"))
    }

    StorageRule("aRecordChangedTwiceInABatchIsChangedInOrder") { stand in
      let client = Client(stand)
      let verdicts = try await client.push(
        Sample.change(guid, 1, on: nil, Sample.note("one")),
        Sample.change(guid, 2, on: nil, Sample.note("two"))
      )
      guard case .accepted(let revision) = verdicts[0] else {
        Issue.record("\(verdicts)")
        return
      }
      #expect(verdicts[1] == .conflict(revision: revision, state: Sample.note("one"), isBaseKnown: false))
    }

    StorageRule("conflictsTooLargeForOneAnswerApplyNothing") { stand in
      let (here, there) = (Client(stand), Client(stand))
      let large = String(repeating: "x", count: 1 << 20)
      let guids = (0..<6).map { _ in Client.uuid() }
      for guid in guids { _ = try await here.revision(Sample.change(guid, 1, on: nil, Sample.note(large))) }
      let new = Sample.change(guid, 1, on: nil, Sample.note("new"))
      let changes = [new] + guids.map { Sample.change($0, 1, on: nil, Sample.note("other")) }
      await #expect(throws: ServiceError.tooLarge) {
        try await there.service.apply(changes, there.run)
      }
      let half = try await there.service.apply(Array(changes.prefix(3)), there.run)
      guard case .accepted = half.verdicts[0] else {
        Issue.record("\(half.verdicts[0])")
        return
      }
    }
  }
}
