// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import Testing

/// Rules that every storage must obey for readings.
enum ReadingRules {
  @RuleBuilder<StorageRule> static var rules: [StorageRule] {
    StorageRule("readingsAreStoredOnceAndThenReportedAsKnown") { stand in
      let client = Client(stand)
      let first = try await client.push(Sample.history(257))
      #expect(first.stored == 257 && first.known == 0 && first.differing == [] && first.refused == [])
      let second = try await client.push(Sample.history(300))
      #expect(second.stored == 43 && second.known == 257 && second.differing == [])
      let third = try await client.push(Sample.history(300))
      #expect(third.stored == 0 && third.known == 300)
      #expect(second.position == third.position && first.position != second.position)
    }

    StorageRule("aKnownReadingWithAnotherValueIsListedAndTheFirstKept") { stand in
      let client = Client(stand)
      let batch = Sample.history(150)
      try await client.push(batch)
      var revised = batch
      for place in [3, 120, 149] {
        revised.readings[place].measurement = .low(below: nil, .millimolesPerLitre)
      }
      // A value that is converted to the other unit is still the same measurement.
      let same = Quantity(revised.readings[5].measurement.quantity?.number ?? 0, .milligramsPerDecilitre)
      revised.readings[5].measurement = .value(same.converted(to: .millimolesPerLitre))
      let answer = try await client.push(revised)
      #expect(answer.stored == 0 && answer.known == 150 && answer.differing == [3, 120, 149])
      var other = Client(stand)
      #expect(try await other.pullAll().flatMap(\.readings.texts) == batch.texts)
    }

    StorageRule("aReadingRepeatedInABatchIsStoredOnce") { stand in
      let first = Sample.reading(at: 1_700_000_000, 100)
      let other = Sample.reading(at: 1_700_000_000, 101)
      let batch = ReadingBatch(devices: [Sample.sensor], readings: [first, first, other])
      let answer = try await Client(stand).push(batch)
      #expect(answer.stored == 1 && answer.known == 2 && answer.differing == [2])
    }

    StorageRule("aReadingIsReturnedWithAllItsParts") { stand in
      try await Client(stand).push(Sample.everyShape)
      var other = Client(stand)
      let page = try #require(try await other.pull())
      #expect(page.readings.texts == Sample.everyShape.texts)
      #expect(page.readings.readings.allSatisfy { $0.occurrenceIsStated })
    }

    StorageRule("aDeviceIsIdentifiedBySerialNumberOrByModelAndFormat") { stand in
      let client = Client(stand)
      try await client.push(Sample.history(1))
      let renamed = Device(vendor: "Abbott", model: "FreeStyle Libre 3", serial: "S-1", format: "clarity")
      #expect(try await client.push(Sample.history(1, device: renamed)).known == 1)
      #expect(try await client.push(Sample.history(1, device: Sample.meter)).stored == 1)
      let relabelled = Device(vendor: "Roche", model: "Meter", format: "generic")
      #expect(try await client.push(Sample.history(1, device: relabelled)).known == 1)
    }

    StorageRule("readingDigestsAreComputedFromIdentities") { stand in
      let client = Client(stand)
      var expected = IdentityDigests()
      #expect(try await stand.logbook(stand.reader).readingDigests(client.run) == expected)
      for batch in [Sample.history(1000), Sample.everyShape] {
        try await client.push(batch)
        for reading in batch.readings { expected.insert(batch.identity(reading).key) }
      }
      #expect(try await stand.logbook(stand.reader).readingDigests(client.run) == expected)
    }

    StorageRule("logbooksDoNotShareItems") { stand in
      try await Client(stand).push(Sample.history(5))
      var stranger = Client(stand, as: stand.stranger)
      #expect(try await stranger.pull() == nil)
      #expect(try await stranger.push(Sample.history(5)).stored == 5)
      let mine = try await stand.logbook(stand.writer).logbook()
      let other = try await stand.logbook(stand.stranger).logbook()
      #expect(mine.id != other.id && mine.name == "first" && other.name == "second")
    }

    StorageRule("aLogbookReportsItsNameRoleLimitsAndLastPosition") { stand in
      let before = try await stand.logbook(stand.writer).logbook()
      #expect(before.isWritable && before.id == stand.writer.logbook)
      #expect(before.maxReadings == WireProtocol.maxReadings && before.maxRecords == WireProtocol.maxRecords)
      let answer = try await Client(stand).push(Sample.history(1))
      let after = try await stand.logbook(stand.reader).logbook()
      #expect(!after.isWritable && after.position == answer.position && after.position != before.position)
    }
  }
}
