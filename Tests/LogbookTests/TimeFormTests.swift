// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing

@testable import Logbook

/// Tests items that a source states again with times in another form, such as UTC instead of local times.
struct TimeFormTests {
  typealias Sample = CountingSample
  private static let table = CountingSource(format: "generic")

  private static func dose(
    _ form: OffsetSource, _ name: String = "", units: Double = 4, offset: Int32 = 7200,
    subtype: String = "rapid", from source: CountingSource = table
  ) -> CountableItem? {
    // The same instant with each offset.
    Sample.dose(
      units, at: 33 + Int64(offset), source, subtype: subtype, offset: offset, form: form,
      id: "\(form) \(offset) \(name)")
  }

  @Test func equalItemsOfATableWithTimesInOtherFormsCountOnce() {
    let doses = [Self.dose(.zone), Self.dose(.instant), Self.dose(.stated), Self.dose(.stated, offset: 3600)]
    #expect(countedWithCopies(Array(doses.prefix(2))).kept.map(\.id) == ["zone 7200 "])
    let three = countedWithCopies(Array(doses.prefix(3)))
    #expect(three.kept.map(\.id) == ["stated 7200 "])
    #expect(three.leftOut == ["zone 7200 ": "stated 7200 ", "instant 7200 ": "stated 7200 "])
    guard case .counts(let others)? = three.verdicts["stated 7200 "] else { return #expect(Bool(false)) }
    #expect(others.map(\.isOwnCopy) == [true, true])
    // The offset may be that of another zone, so that the shown times differ.
    #expect(countedWithCopies([doses[0], doses[3]]).kept.map(\.id) == ["stated 3600 "])
    let meals = [OffsetSource.zone, .instant].map {
      Sample.meal(45, at: 0, Self.table, form: $0, id: "\($0)")
    }
    #expect(countedWithCopies(meals).kept.map(\.id) == ["zone"])
  }

  @Test func equalFingerSticksOfOneDeviceWithTimesInOtherFormsCountOnce() {
    func sticks(_ forms: [OffsetSource], _ value: Double = 112, _ device: Device = Sample.app)
      -> [CountableItem?]
    {
      forms.map { Sample.stick(value, at: 0, device, form: $0) }
    }
    #expect(countedWithCopies(sticks([.zone, .instant])).kept.count == 1)
    #expect(countedWithCopies(sticks([.stated, .zoneOverlap, .instant], 98, Sample.meter)).kept.count == 1)
    #expect(countedWithCopies(sticks([.zone]) + sticks([.instant], 113)).kept.count == 2)
    #expect(
      countedWithCopies(sticks([.zone], 112, Sample.meter) + sticks([.instant], 112, Sample.otherMeter)).kept
        .count
        == 2)
    let later = Sample.stick(112, at: 1, Sample.app, form: .instant)
    #expect(countedWithCopies(sticks([.zone]) + [later]).kept.count == 2)
  }

  /// Two equal amounts may be in two columns of one row.
  @Test func equalItemsOfATableWithTimesInOneFormCountSeparately() {
    for form in [OffsetSource.zone, .instant, .stated] {
      #expect(countedWithCopies([Self.dose(form, "1"), Self.dose(form, "2")]).kept.count == 2)
    }
    #expect(countedWithCopies([Self.dose(.zone, "1"), Self.dose(.zoneOverlap, "2")]).kept.count == 2)
    let two = [Self.dose(.zone, "1"), Self.dose(.zone, "2")]
    #expect(
      countedWithCopies(two + [Self.dose(.instant, "1")]).kept.map(\.id) == ["zone 7200 1", "zone 7200 2"])
    let four = two + [Self.dose(.instant, "1"), Self.dose(.instant, "2")]
    #expect(countedWithCopies(four).kept.map(\.id) == ["zone 7200 1", "zone 7200 2"])
    #expect(countedWithCopies(four + [Self.dose(.stated, "1")]).kept.count == 2)
  }

  @Test func itemsWithOtherAmountsUsesInstantsOrSourcesAreNotTheSameInAnotherForm() {
    let own = Self.dose(.zone)
    #expect(countedWithCopies([own, Self.dose(.instant, units: 5)]).kept.count == 2)
    #expect(countedWithCopies([own, Self.dose(.instant, subtype: "long")]).kept.count == 2)
    let hour = Sample.dose(4, at: 33 + 7200, Self.table, offset: 3600, form: .instant, id: "an hour later")
    #expect(countedWithCopies([own, hour]).kept.count == 2)
    let second = Sample.dose(4, at: 34 + 7200, Self.table, offset: 7200, form: .instant, id: "a second later")
    #expect(countedWithCopies([own, second]).kept.count == 2)
    // Sources with ids have another rule, and the shown times of their copies are equal.
    let diary = [
      Self.dose(.zone, from: Sample.diary), Self.dose(.stated, offset: 3600, from: Sample.diary),
    ]
    #expect(countedWithCopies(diary).kept.count == 2)
    let both = CountDecision(.sources("generic", "generic"), .both)
    #expect(countedWithCopies([own, Self.dose(.instant)], CountingRules([both])).kept.count == 2)
  }

  @Test(arguments: Seeds.first(10)) func theNumberOfItemsIsThatOfTheFormWithTheMost(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let forms = [OffsetSource.stated, .zone, .instant]
    let counts = forms.map { _ in Int.random(in: 0...4, using: &random) }
    let items = zip(forms, counts).flatMap { form, count in
      (0..<count).map { Self.dose(form, "\($0)") }
    }
    #expect(countedWithCopies(items.shuffled(using: &random)).kept.count == counts.max())
  }
}
