// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import Testing

/// Rules for requesting parts of a logbook, such as its records, from any storage.
enum PartRules {
  private static let start: Int64 = 1_700_000_000

  /// Pulls all pages of a part, as a node that has written none of its items.
  private static func pages(_ part: ChangePart, limit: Int, _ client: Client) async throws -> [ChangePage] {
    var pages: [ChangePage] = []
    repeat {
      pages.append(
        try await client.service.neededParts.changes(
          of: part, after: pages.last?.cursor, limit: limit, client.run))
    } while pages.last?.hasMore == true && pages.count < 100
    return pages
  }

  @RuleBuilder<StorageRule> static var rules: [StorageRule] {
    StorageRule("aTimeRangeReturnsExactlyItsReadings") { stand in
      try await Client(stand).push(Sample.history(20))
      try await Client(stand).push(Sample.everyShape)
      let reader = Client(stand, as: stand.reader)
      let range = ChangePart.readings(from: start + 300, until: start + 300 * 10)
      let found = try await pages(range, limit: 4, reader)
      #expect(found.map(\.readings.readings.count) == [4, 4, 1])
      let times = found.flatMap(\.readings.readings).map(\.deviceTime.seconds)
      #expect(times == (1..<10).map { start + 300 * $0 })
      #expect(found.allSatisfy { $0.records.isEmpty })
      let all = try await pages(.readings(from: .min, until: .max), limit: 1000, reader)
      #expect(all.flatMap(\.readings.readings).count == 24)
    }

    StorageRule("aPartialDownloadOmitsWritesOfTheSameStore") { stand in
      let writer = Client(stand)
      try await writer.push(Sample.history(3))
      let own = try await pages(.readings(from: .min, until: .max), limit: 10, writer)
      #expect(own.map(\.readings.readings.count) == [0])
    }

    StorageRule("allRecordsAreReturnedInPagesWithoutReadings") { stand in
      let writer = Client(stand)
      try await writer.push(Sample.history(3))
      let guids = (0..<5).map { _ in Client.uuid() }
      for guid in guids { try await writer.push(Sample.change(guid, 1, on: nil, Sample.note(guid))) }
      let found = try await pages(.records, limit: 2, Client(stand, as: stand.reader))
      #expect(found.map(\.records.count) == [2, 2, 1])
      #expect(found.flatMap(\.records).map(\.guid) == guids)
      #expect(found.allSatisfy { $0.readings.readings.isEmpty })
      #expect(try await pages(.records, limit: 9, writer).map(\.records.count) == [0])
    }

    StorageRule("aRequestedRecordIsReturnedAndAnUnknownOneIsNot") { stand in
      let (writer, guid) = (Client(stand), Client.uuid())
      try await writer.push(Sample.change(guid, 1, on: nil, Sample.note("text")))
      let reader = Client(stand, as: stand.reader)
      #expect(
        try await pages(.record(guid), limit: 9, reader).map(\.records.first?.state) == [Sample.note("text")])
      #expect(try await pages(.record(Client.uuid()), limit: 9, reader).map(\.records.count) == [0])
    }

    StorageRule("changesDuringAPartialDownloadFollowOnALaterPageOrPull") { stand in
      try await Client(stand).push(Sample.history(6))
      var reader = Client(stand, as: stand.reader)
      let mark = try await stand.logbook(stand.reader).logbook().position
      let part = ChangePart.readings(from: .min, until: .max)
      let first = try await reader.service.neededParts.changes(of: part, after: nil, limit: 4, reader.run)
      try await Client(stand).push(Sample.history(2, from: 100))
      let second = try await reader.service.neededParts.changes(
        of: part, after: first.cursor, limit: 100, reader.run)
      #expect(second.readings.readings.count == 4 && !second.hasMore)
      reader.cursor = mark
      #expect(try await reader.pull()?.readings.readings.count == 2)
    }

    StorageRule("aCursorThatTheServerNeverIssuedIsRefused") { stand in
      let reader = Client(stand, as: stand.reader)
      await #expect(throws: ServiceError.positionUnknown) {
        _ = try await reader.service.neededParts.changes(
          of: .records, after: "9.00000000", limit: 1, reader.run)
      }
    }
  }
}
