// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

/// Rules that every service must obey, even if it offers only the core functions.
enum CoreRules {
  private static let guid = "0b9f3c52-5a1e-4c83-9d5e-0f1f6f4a7c11"

  /// Pulls all changes from the first one on, in pages of seven items.
  private static func pull(
    _ service: any LogbookService, _ run: RunStamp
  ) async throws -> (readings: [ReadingIdentity], records: [RemoteRecord], cursor: String?) {
    var found: (readings: [ReadingIdentity], records: [RemoteRecord], cursor: String?) = ([], [], nil)
    while let page = try await service.changes(after: found.cursor, limit: 7, run) {
      found.readings += page.readings.readings.map(page.readings.identity)
      found.records += page.records
      try #require(page.cursor != found.cursor, "a page moves the cursor")
      found.cursor = page.cursor
      if !page.hasMore { break }
    }
    return found
  }

  @RuleBuilder<ServiceRule> static var rules: [ServiceRule] {
    ServiceRule("aLoginReportsItsLogbookAndLimits") { service, _ in
      let logbook = try await service.logbook()
      #expect(!logbook.id.isEmpty && logbook.isWritable)
      #expect(logbook.maxReadings > 0 && logbook.maxRecords > 0)
      #expect(try await service.logbook().id == logbook.id)
    }

    ServiceRule("readingsSentAgainAreReportedAsKnown") { service, _ in
      let first = try await service.store(Sample.numbered(20), Client.run(1))
      #expect(first.stored == 20 && first.known == 0 && first.refused.isEmpty)
      let second = try await service.store(Sample.numbered(25), Client.run(1))
      #expect(second.stored == 5 && second.known == 20 && second.differing.isEmpty)
    }

    ServiceRule("aReadingSentWithAnotherValueIsReported") { service, _ in
      var batch = Sample.numbered(3)
      _ = try await service.store(batch, Client.run(1))
      batch.readings[1].measurement = .value(Quantity(250, .milligramsPerDecilitre))
      #expect(try await service.store(batch, Client.run(1)).differing == [1])
    }

    ServiceRule("itemsOfOneStoreReachAnotherOnceAndAreNotSentBack") { service, _ in
      let batch = Sample.numbered(30)
      _ = try await service.store(batch, Client.run(1))
      let change = RecordChange(
        guid: guid, node: Client.run(1).node, version: 1, base: nil, state: Sample.note("a"))
      _ = try await service.apply([change], Client.run(1))
      let own = try await pull(service, Client.run(1))
      #expect(own.readings.isEmpty && own.records.isEmpty)
      let other = try await pull(service, Client.run(2))
      #expect(other.readings.count == 30 && Set(other.readings).count == 30)
      #expect(other.records.map(\.state) == [change.state])
      #expect(try await service.changes(after: other.cursor, limit: 10, Client.run(2)) == nil)
    }

    ServiceRule("aRecordChangeSentAgainGetsTheSameAnswer") { service, _ in
      let change = RecordChange(
        guid: guid, node: Client.run(1).node, version: 1, base: nil, state: Sample.note("a"))
      let first = try await service.apply([change], Client.run(1))
      guard case .accepted = first.verdicts.first else {
        Issue.record("\(first)")
        return
      }
      #expect(try await service.apply([change], Client.run(1)).verdicts == first.verdicts)
    }

    ServiceRule("aChangeOfAnOlderVersionIsAConflictWithTheCurrentState") { service, _ in
      let first = RecordChange(
        guid: guid, node: Client.run(1).node, version: 1, base: nil, state: Sample.note("a"))
      guard case .accepted(let base) = try await service.apply([first], Client.run(1)).verdicts.first else {
        Issue.record("not accepted")
        return
      }
      let theirs = RecordChange(
        guid: guid, node: Client.run(2).node, version: 1, base: base, state: Sample.note("b"))
      _ = try await service.apply([theirs], Client.run(2))
      let mine = RecordChange(
        guid: guid, node: Client.run(1).node, version: 2, base: base, state: Sample.note("c"))
      let answer = try await service.apply([mine], Client.run(1))
      guard case .conflict(let revision, let state, true) = answer.verdicts.first else {
        Issue.record("\(answer)")
        return
      }
      #expect(revision != base && state == theirs.state)
    }

    ServiceRule("readingDigestsAreComputedFromTheSentIdentities") { service, _ in
      let batch = Sample.numbered(50)
      var expected = IdentityDigests()
      for reading in batch.readings { expected.insert(batch.identity(reading).key) }
      _ = try await service.store(batch, Client.run(1))
      #expect(try await service.readingDigests(Client.run(1)) == expected)
    }

    ServiceRule("implausibleItemsDoNotStopAPullAndAreCounted") { service, _ in
      var batch = Sample.numbered(4)
      batch.readings[1].measurement = .value(Quantity(0, .milligramsPerDecilitre))
      let stored = try await service.store(batch, Client.run(1))
      var accepted = 0
      for (number, (kind, field, amount)) in [
        (RecordKind.insulin, "units", 9_999.9), (.food, "carbs", 99_999), (.food, "carbs", 45),
      ].enumerated() {
        var state = Sample.note("x", kind: kind)
        state.fields[field] = .number(amount)
        let change = RecordChange(
          guid: "0b9f3c52-5a1e-4c83-9d5e-0f1f6f4a7c2\(number)", node: Client.run(1).node, version: 1,
          base: nil,
          state: state)
        if case .accepted? = try await service.apply([change], Client.run(1)).verdicts.first { accepted += 1 }
      }
      var (cursor, readings, records, notTaken): (String?, [Reading], [RemoteRecord], Int) = (nil, [], [], 0)
      while var page = try await service.changes(after: cursor, limit: 7, Client.run(2)) {
        PullGate.filter(&page) { _ in nil }
        readings += page.readings.readings
        records += page.records
        notTaken += page.notTaken.values.reduce(0, +)
        cursor = page.cursor
        if !page.hasMore { break }
      }
      #expect(readings.count == 3 && readings.allSatisfy { PullGate.fault(of: $0) == nil })
      #expect(records.map { $0.state.fields["carbs"] } == [.number(45)])
      #expect(notTaken == stored.stored + accepted - 4)
    }

    ServiceRule("aReadOnlyLoginCannotWrite") { _, service in
      let logbook = try await service.logbook()
      #expect(!logbook.isWritable)
      let pulled = try await pull(service, Client.run(1))
      #expect(pulled.readings.isEmpty)
      await #expect(throws: ServiceError.readOnly) {
        try await service.store(Sample.numbered(1), Client.run(1))
      }
    }
  }
}
