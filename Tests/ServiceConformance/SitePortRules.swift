// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

/// Rules for the ports of a logbook that other programs show, and for links to the pages of a logbook.
enum SitePortRules {
  private static let guid = "0b9f3c52-5a1e-4c83-9d5e-0f1f6f4a7c11"
  private static let maxPages = 50

  /// What a node downloads that has no store: the identities of readings, and the records.
  private static func contents(
    of service: any LogbookService, for node: Int
  ) async throws -> (readings: Set<ReadingIdentity>, records: [RemoteRecord]) {
    var (readings, records, cursor) = (Set<ReadingIdentity>(), [RemoteRecord](), String?.none)
    for _ in 0..<maxPages {
      guard let page = try await service.changes(after: cursor, limit: 100, Client.run(node)) else { break }
      readings.formUnion(page.readings.readings.map(page.readings.identity))
      records += page.records
      cursor = page.cursor
      if !page.hasMore { break }
    }
    return (readings, records)
  }

  /// Sends the first version of a record. Returns the record as it is on the service.
  private static func send(_ state: RecordState, to service: any LogbookService) async throws -> RecordChange
  {
    let node = Client.run(1).node
    let change = RecordChange(guid: guid, node: node, version: 1, base: nil, state: state)
    let verdict = try await service.apply([change], Client.run(1)).verdicts.first
    guard case .accepted(let revision)? = verdict else { throw Refused(verdict: verdict) }
    return RecordChange(guid: guid, node: node, version: 1, base: revision, state: state)
  }

  private struct Refused: Error {
    let verdict: RecordVerdict?
  }

  @RuleBuilder<ServiceRule> static var removal: [ServiceRule] {
    ServiceRule("removedReadingsAreGoneAndCanBeSentAgain") { service, _ in
      let removal = try service.neededRemoval
      let batch = Sample.numbered(5)
      var (removed, kept) = (batch, batch)
      removed.readings = Array(batch.readings[1...2])
      kept.readings.removeSubrange(1...2)
      _ = try await service.store(batch, Client.run(1))
      // The second removal finds nothing, as after a lost answer.
      for _ in 1...2 {
        #expect(try await removal.remove(removed, Client.run(1)))
        #expect(try await contents(of: service, for: 2).readings == Set(kept.readings.map(kept.identity)))
      }
      _ = try await service.store(removed, Client.run(1))
      #expect(try await contents(of: service, for: 3).readings == Set(batch.readings.map(batch.identity)))
    }

    ServiceRule("aRemovedRecordIsNotDeletedInOtherStoresAndCanBeSentAgain") { service, _ in
      let removal = try service.neededRemoval
      let sent = try await send(Sample.note("a"), to: service)
      for _ in 1...2 {
        try await removal.remove(sent, Client.run(1))
        #expect(try await contents(of: service, for: 2).records.isEmpty)
      }
      let edited = Sample.change(guid, 2, on: sent.base, Sample.note("b"), node: sent.node)
      let verdict = try await service.apply([edited], Client.run(1)).verdicts.first
      guard case .accepted? = verdict else {
        Issue.record("\(String(describing: verdict))")
        return
      }
      #expect(try await contents(of: service, for: 3).records.map(\.state.fields["text"]) == [.text("b")])
    }

    ServiceRule("aLoginThatMayNotRemoveRemovesNothing") { service, reader in
      let removal = try reader.neededRemoval
      let batch = Sample.numbered(3)
      _ = try await service.store(batch, Client.run(1))
      let sent = try await send(Sample.note("a"), to: service)
      do throws(ServiceError) {
        let mayRemove = try await removal.remove(batch, Client.run(1))
        #expect(!mayRemove)
      } catch {
        #expect(error == .readOnly)
      }
      await #expect(throws: ServiceError.readOnly) { try await removal.remove(sent, Client.run(1)) }
      let found = try await contents(of: service, for: 2)
      #expect(found.readings.count == 3 && found.records.map(\.state.isDeleted) == [false])
    }
  }

  @RuleBuilder<ServiceRule> static var moving: [ServiceRule] {
    ServiceRule("theInstantsOfReadingsAreThoseAtWhichTheyWereSent") { service, _ in
      let moving = try service.neededMoving
      let batch = Sample.numbered(3)
      var sent = batch
      sent.readings.removeLast()
      _ = try await service.store(sent, Client.run(1))
      let instants = sent.readings.map { [$0.deviceTime.seconds - Int64($0.placement.utcOffset)] }
      #expect(try await moving.instants(of: batch, Client.run(1)) == instants + [[]])
    }

    ServiceRule("aMovedRecordIsAtTheInstantOfItsState") { service, reader in
      var state = Sample.note("a")
      state.placement = Placement(utcOffset: 3600, source: .zone)
      let (berlin, tokyo) = (try LogbookZone(name: "Europe/Berlin"), try LogbookZone(name: "Asia/Tokyo"))
      var sent = try await send(state, to: service.convertingTimes(in: berlin))
      state.placement = Placement(utcOffset: 32400, source: .zone)
      let moved = service.convertingTimes(in: tokyo)
      // The second move finds the record at its instant, as after a lost answer.
      for _ in 1...2 {
        let change = Sample.change(guid, 1, on: sent.base, state, node: sent.node)
        let verdict = try await moved.neededMoving.move(change, Client.run(1))
        guard case .accepted(let revision) = verdict else {
          Issue.record("\(verdict)")
          return
        }
        sent = Sample.change(guid, 1, on: revision, state, node: sent.node)
      }
      let other = reader.convertingTimes(in: tokyo)
      let found = try await contents(of: other, for: 2).records
      #expect(found.map(\.state) == [state] && found.map(\.revision) == [sent.base])
      #expect(found.map(\.state.placement.utcOffset) == [32400])
    }

    ServiceRule("aRecordThatIsNotOnTheServiceIsNotMoved") { service, reader in
      let change = Sample.change(guid, 1, on: nil, Sample.note("a"), node: Client.run(1).node)
      let verdict = try await service.neededMoving.move(change, Client.run(1))
      guard case .conflict(_, let state, _) = verdict else {
        Issue.record("\(verdict)")
        return
      }
      #expect(state.isDeleted)
      let sent = try await send(Sample.note("a"), to: service)
      await #expect(throws: ServiceError.readOnly) {
        _ = try await reader.neededMoving.move(sent, Client.run(1))
      }
    }
  }

  @RuleBuilder<ServiceRule> static var pages: [ServiceRule] {
    ServiceRule("eachPageLinkHasItsOwnSecretAndTheRequestedTime") { service, reader in
      let (first, second) = (
        try #require(try await service.neededPages.makePageLink(seconds: 600)),
        try #require(try await service.neededPages.makePageLink(seconds: 1200))
      )
      #expect(first.path != second.path && first.path.hasPrefix("/") && second.path.hasPrefix("/"))
      #expect((590...610).contains(second.expiresAt - first.expiresAt))
      #expect(try await reader.neededPages.makePageLink(seconds: nil) != nil)
    }

    ServiceRule("aPageLinkForAnInvalidTimeIsRefused") { service, _ in
      for seconds in [0, -1, .max] {
        await #expect(throws: ServiceError.self, "\(seconds)") {
          _ = try await service.neededPages.makePageLink(seconds: seconds)
        }
      }
    }
  }
}
