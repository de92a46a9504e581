// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Logbook

struct CountedOnceTests {
  typealias Sample = CountingSample

  // MARK: - Items that two sources report

  @Test func aDoseReportedByTwoSourcesCountsOnce() {
    #expect(count(Sample.dose(4.5, at: 0, Sample.diary), Sample.dose(4.5, at: 0, Sample.phone)) == 1)
    #expect(count(Sample.meal(45, at: 20, Sample.diary), Sample.meal(45.4, at: 0, Sample.phone)) == 1)
  }

  @Test(arguments: [0, 1, 30, 59] as [Int64])
  func dosesWhoseSecondsWereTruncatedOrRoundedCountOnce(seconds: Int64) {
    #expect(count(Sample.dose(2, at: seconds, Sample.diary), Sample.dose(2, at: 0, Sample.phone)) == 1)
  }

  @Test(arguments: [60, 61, 300] as [Int64])
  func dosesAMinuteApartAreTwoDoses(seconds: Int64) {
    #expect(count(Sample.dose(2, at: seconds, Sample.diary), Sample.dose(2, at: 0, Sample.phone)) == 2)
  }

  @Test func dosesWithEqualShownTimesCountOnceIfAnOffsetIsWrong() {
    let winter = Sample.dose(2, at: 0, Sample.diary, offset: 3600)
    let phone = Sample.dose(2, at: 30, Sample.phone, offset: 7200)
    #expect(count(winter, phone) == 1)
    // Both doses are shown at 08:00, at instants more than a day apart. No offset of a phone is that wrong,
    // so both count.
    let far = Sample.dose(2, at: 0, Sample.phone, offset: -86_000)
    #expect(count(Sample.dose(2, at: 0, Sample.diary, offset: 14 * 3600), far) == 2)
  }

  @Test func twoEqualDosesOfOneSourceBothCount() {
    let twins = [
      Sample.dose(2, at: 0, Sample.diary, id: "a"), Sample.dose(2, at: 0, Sample.diary, id: "b"),
    ]
    #expect(counted(twins).kept.count == 2)
    let once = Sample.dose(2, at: 5, Sample.phone)
    #expect(counted(twins + [once]).kept.count == 2)
    let parts = Sample.dose(
      2, at: 0, Sample.diary, fields: ["text": .text("extended"), "minutes": .number(60)])
    #expect(count(twins[0], parts) == 2)
  }

  @Test func equalDosesCountAsOftenAsTheSourceWithTheMostOfThemStates() {
    func doses(_ number: Int, _ source: CountingSource) -> [CountableItem?] {
      (0..<number).map { Sample.dose(2, at: Int64($0), source, id: "\(source.text) \($0)") }
    }
    #expect(counted(doses(1, Sample.diary) + doses(1, Sample.phone) + doses(1, Sample.site)).kept.count == 1)
    #expect(counted(doses(2, Sample.diary) + doses(1, Sample.phone)).kept.count == 2)
    #expect(counted(doses(2, Sample.diary) + doses(3, Sample.phone) + doses(1, Sample.site)).kept.count == 3)
  }

  @Test func twoAppsOnOnePhoneAreTwoSources() {
    let other = CountingSource(format: "apple-health", part: "mySugr")
    #expect(count(Sample.dose(2, at: 0, Sample.phone), Sample.dose(2, at: 0, other)) == 1)
  }

  // MARK: - Amounts and kinds

  @Test func dosesAndMealsWithDifferentAmountsAllCount() {
    #expect(count(Sample.dose(5.5, at: 0, Sample.diary), Sample.dose(5, at: 0, Sample.phone)) == 2)
    #expect(count(Sample.dose(5.51, at: 0, Sample.diary), Sample.dose(5.5, at: 0, Sample.phone)) == 2)
    #expect(count(Sample.dose(5.503, at: 0, Sample.diary), Sample.dose(5.5, at: 0, Sample.phone)) == 1)
    #expect(count(Sample.meal(63, at: 0, Sample.diary), Sample.meal(65, at: 0, Sample.phone)) == 2)
    #expect(count(Sample.meal(45.5, at: 0, Sample.diary), Sample.meal(46, at: 0, Sample.phone)) == 1)
  }

  @Test func equalDosesWithDifferentUsesOfInsulinBothCount() {
    func pair(_ first: String, _ second: String) -> Int {
      count(
        Sample.dose(5, at: 0, Sample.diary, subtype: first),
        Sample.dose(5, at: 0, Sample.phone, subtype: second))
    }
    #expect(pair("rapid", "long") == 2 && pair("mix", "rapid") == 2 && pair("long", "mix") == 2)
    #expect(pair("", "long") == 1 && pair("rapid", "") == 1 && pair("long", "basal") == 1)
  }

  @Test func aDoseOfUnknownUseMatchesADoseOfUnknownUseFirst() {
    let known = [
      Sample.dose(5, at: 0, Sample.diary, id: "bolus"),
      Sample.dose(5, at: 0, Sample.diary, subtype: "", id: "unknown"),
    ]
    let copies = [
      Sample.dose(5, at: 9, Sample.phone, subtype: "", id: "copy"),
      Sample.dose(5, at: 10, Sample.phone, id: "b"),
    ]
    let result = counted(known + copies)
    #expect(result.leftOut == ["copy": "unknown", "b": "bolus"])
  }

  @Test func basalRatesAndRecordsWithoutAnAmountAreNotComparedForRepetition() {
    let rate = RecordFields(["subtype": .text("basal"), "rate": .number(0.8), "minutes": .number(30)])
    #expect(Sample.record(.insulin, rate, at: 0, Sample.pump) == nil)
    let temporary = RecordFields(["subtype": .text("basal"), "units": .number(1), "minutes": .number(30)])
    #expect(Sample.record(.insulin, temporary, at: 0, Sample.pump) == nil)
    #expect(Sample.record(.insulin, RecordFields(), at: 0, Sample.pump) == nil)
    #expect(Sample.dose(0, at: 0, Sample.pump) == nil && Sample.meal(0, at: 0, Sample.pump) == nil)
    let walk = RecordFields(["minutes": .number(30)])
    #expect(Sample.record(.exercise, walk, at: 0, Sample.pump) == nil)
    #expect(Sample.record(.note, RecordFields(["text": .text("5 U")]), at: 0, Sample.pump) == nil)
  }

  @Test func combinationBolusesCountOnceOnlyIfBothPartsAgree() {
    let whole = Sample.dose(3, at: 0, Sample.pump, fields: ["extended": .number(2)])
    #expect(count(whole, Sample.dose(3, at: 0, Sample.site)) == 2)
    #expect(count(whole, Sample.dose(2, at: 0, Sample.site, fields: ["extended": .number(3)])) == 2)
    #expect(count(whole, Sample.dose(3, at: 0, Sample.site, fields: ["extended": .number(2)])) == 1)
  }

  @Test func aCombinationBolusAndADoseOfItsSumCountOnce() {
    let whole = Sample.dose(3, at: 0, Sample.pump, fields: ["extended": .number(2)])
    #expect(count(whole, Sample.dose(5, at: 0, Sample.site)) == 1)
    #expect(count(whole, Sample.dose(6, at: 0, Sample.site)) == 2)
  }

  // MARK: - Finger sticks and ketones

  @Test func aFingerStickReportedInBothUnitsCountsOnce() {
    func pair(_ milligrams: Double, _ millimoles: Double) -> Int {
      count(
        Sample.stick(milligrams, at: 12, Sample.meter),
        Sample.stick(millimoles, .millimolesPerLitre, at: 0, Sample.app))
    }
    #expect(pair(100, 5.6) == 1 && pair(101, 5.6) == 1)
    #expect(pair(99, 5.6) == 2 && pair(102, 5.6) == 2)
    // Programs convert by 18, 18.0182 or 18.01559, and the result is 9.1 or 9.0.
    #expect(pair(163, 9.1) == 1 && pair(163, 9.0) == 1)
    #expect(pair(163, 8.9) == 2 && pair(163, 9.2) == 2 && pair(160, 8.8) == 2)
    #expect(count(Sample.stick(100, at: 0, Sample.meter), Sample.stick(101, at: 0, Sample.app)) == 2)
  }

  /// Two apps that convert the values of a meter by different factors show different tenths of some values.
  @Test func aFingerStickConvertedByTwoFactorsCountsOnce() {
    let other = Device(vendor: "Other", model: "App", format: "sidiary")
    func pair(_ one: Double, _ two: Double) -> Int {
      count(
        Sample.stick(one, .millimolesPerLitre, at: 12, Sample.app),
        Sample.stick(two, .millimolesPerLitre, at: 0, other))
    }
    for milligrams in 20...600 {
      let tenths = [18, 18.0182, 18.01559].map { (Double(milligrams) / $0 * 10).rounded() / 10 }
      #expect(pair(tenths[0], tenths[1]) == 1 && pair(tenths[2], tenths[0]) == 1, "\(milligrams)")
      #expect(pair(tenths[0], tenths[0] + 0.2) == 2, "\(milligrams)")
    }
    #expect(pair(6.5, 6.6) == 1 && pair(6.6, 6.7) == 2 && pair(6.4, 6.5) == 2)
    // Apple Health states all decimals of a value that it converted.
    for milligrams in 20...600 {
      for (exact, shown) in [(18, 18.01559), (18.01559, 18), (18.0182, 18)] {
        let tenths = (Double(milligrams) / shown * 10).rounded() / 10
        #expect(pair(Double(milligrams) / exact, tenths) == 1, "\(milligrams) \(exact)")
      }
    }
    #expect(pair(118 / 18.01559, 6.7) == 2 && pair(119 / 18, 6.5) == 2)
  }

  /// Apple Health stores hundredths of mmol/L, but the meter and the app show tenths or whole mg/dL.
  @Test func aFingerStickReportedWithHundredthsCountsOnce() {
    func pair(_ number: Double, _ unit: GlucoseUnit, _ hundredths: Double) -> Int {
      count(
        Sample.stick(number, unit, at: 12, Sample.meter),
        Sample.stick(hundredths, .millimolesPerLitre, at: 0, Sample.app))
    }
    for milligrams in 20...600 {
      let exact = Double(milligrams) / Quantity.milligramsPerDecilitreInMillimole
      let hundredths = (exact * 100).rounded() / 100
      #expect(pair(Double(milligrams), .milligramsPerDecilitre, hundredths) == 1, "\(milligrams)")
      #expect(pair((exact * 10).rounded() / 10, .millimolesPerLitre, hundredths) == 1, "\(milligrams)")
    }
    #expect(pair(118, .milligramsPerDecilitre, 6.65) == 2 && pair(6.4, .millimolesPerLitre, 6.55) == 2)
  }

  @Test func equalFingerSticksOfTwoMetersBothCount() {
    #expect(count(Sample.stick(100, at: 0, Sample.meter), Sample.stick(100, at: 10, Sample.otherMeter)) == 2)
    let linked = Sample.stick(100, at: 10, Sample.otherMeter, marks: .linked)
    #expect(count(Sample.stick(100, at: 0, Sample.meter), linked) == 1)
  }

  @Test func readingsThatStatisticsLeaveOutAreNotComparedForRepetition() {
    let meter = Sample.meter
    #expect(
      Sample.stick(100, at: 0, meter, kind: .cbg) == nil
        && Sample.stick(100, at: 0, meter, kind: .scan) == nil)
    for mark in [ReadingMarks.controlSolution, .calibration, .doubtfulTime] {
      #expect(Sample.stick(100, at: 0, meter, marks: mark) == nil)
    }
    let ketone = Sample.stick(0.6, .millimolesPerLitre, at: 0, meter, kind: .ketone)
    #expect(count(ketone, Sample.stick(0.6, .millimolesPerLitre, at: 0, Sample.app)) == 2)
    #expect(count(ketone, Sample.stick(0.6, .millimolesPerLitre, at: 0, Sample.app, kind: .ketone)) == 1)
  }

  // MARK: - Which item is kept

  @Test func anItemOfADeviceHasPrecedenceOverItemsOfAppsCollectorsAndPersons() {
    let typed = CountingSource(format: "glucoport")
    let sources = [typed, Sample.site, Sample.diary, Sample.pump]
    let ids = counted(sources.map { Sample.dose(2, at: 0, $0, id: $0.format) }).leftOut
    #expect(ids == ["glucoport": "tandem", "nightscout": "tandem", "mysugr": "tandem"])
    let sticks = counted([Sample.stick(100, at: 0, Sample.app), Sample.stick(100, at: 40, Sample.meter)])
    #expect(sticks.kept.map(\.source.role) == [.memory])
  }

  @Test func fromEqualSourcesTheMostDetailedItemIsKeptThenTheEarliestThenTheSmallestID() {
    let other = CountingSource(format: "diabetes-m")
    let full = Sample.dose(2, at: 9, other, id: "z", fields: ["text": .text("pizza")])
    #expect(counted([Sample.dose(2, at: 0, Sample.diary, id: "a"), full]).leftOut == ["a": "z"])
    #expect(
      counted([Sample.dose(2, at: 0, Sample.diary, id: "z"), Sample.dose(2, at: 9, other, id: "a")]).leftOut
        == ["a": "z"])
    #expect(
      counted([Sample.dose(2, at: 0, Sample.diary, id: "z"), Sample.dose(2, at: 0, other, id: "a")]).leftOut
        == ["z": "a"])
  }

  @Test func theKeptDoseListsSourceAndNoteOfTheDoseLeftOut() {
    let result = counted([
      Sample.dose(2, at: 0, Sample.diary, id: "a", fields: ["minutes": .number(5), "x": .number(1)]),
      Sample.dose(2, at: 0, Sample.phone, id: "b", fields: ["text": .text("in the train")]),
    ])
    guard case .counts(let others)? = result.verdicts["a"] else { return #expect(Bool(false)) }
    #expect(others.map(\.source) == [Sample.phone] && others.map(\.note) == ["in the train"])
    #expect(result.verdicts["b"] == .repeats("a", Sample.diary))
  }

  @Test func theCountedFingerStickListsTheMarksOfTheOneLeftOut() {
    let meter = Sample.stick(100, at: 0, Sample.meter)
    let result = counted([meter, Sample.stick(100, at: 20, Sample.app, marks: .beforeMeal)])
    guard let meter, case .counts(let others)? = result.verdicts[meter.id] else {
      return #expect(Bool(false))
    }
    #expect(others.map(\.marks) == [.beforeMeal])
  }

  // MARK: - Doses of an algorithm

  /// A dose that is marked as given by an algorithm, or a dose without this mark, which a person may have
  /// typed.
  private func microBolus(
    _ source: CountingSource, at seconds: Int64 = 0, offset: Int32 = 0, isAutomatic: Bool = true
  ) -> CountableItem? {
    Sample.dose(
      0.15, at: seconds, source, offset: offset, fields: isAutomatic ? ["automatic": .flag(true)] : [:])
  }

  @Test func aMicroBolusReportedByTwoSourcesCountsOnce() {
    #expect(count(microBolus(Sample.pump), microBolus(Sample.site)) == 1)
    #expect(count(microBolus(Sample.pump, isAutomatic: false), microBolus(Sample.site, at: 2)) == 1)
    let loop = (0..<12).map { microBolus(Sample.pump, at: $0 * 300) }
    let cut = (0..<12).map { microBolus(Sample.site, at: $0 * 300 - 20) }
    #expect(counted(loop + cut).kept.count == 12)
  }

  @Test func equalMicroBolusesAtDifferentInstantsAreDifferentDoses() {
    #expect(count(microBolus(Sample.pump), microBolus(Sample.pump, at: 20)) == 2)
    #expect(count(microBolus(Sample.pump), microBolus(Sample.site, at: 300)) == 2)
    // If the doses are typed, equal shown times make them one dose, whose offset is wrong in one source.
    let shown = microBolus(Sample.site, offset: 3600)
    #expect(count(microBolus(Sample.pump), shown) == 2)
    let typed = microBolus(Sample.site, offset: 3600, isAutomatic: false)
    #expect(count(microBolus(Sample.pump, isAutomatic: false), typed) == 1)
  }

  // MARK: - Unknown origin

  @Test func aRecordOfUnknownOriginRepeatsOnlyARecordWithAnotherUUIDVersion() {
    let random = "0b8e5d0a-7c3b-4f43-9a53-2f6f7a1c9d10"
    let derived = "0b8e5d0a-7c3b-8f43-9a53-2f6f7a1c9d10"
    let imported = Sample.dose(2, at: 0, Sample.diary, id: "1b8e5d0a-7c3b-8f43-9a53-2f6f7a1c9d10")
    #expect(count(Sample.dose(2, at: 0, .unknown, id: random), imported) == 1)
    #expect(count(Sample.dose(2, at: 0, .unknown, id: derived), imported) == 2)
    #expect(
      count(Sample.dose(2, at: 0, .unknown, id: derived), Sample.dose(2, at: 0, .unknown, id: "x" + derived))
        == 2)
  }

  @Test func noneOfThousandsOfEqualDosesInAMinuteIsLost() {
    let items = (0..<3000).map { Sample.dose(2, at: 0, Sample.diary, id: "\($0)") }
    let copies = (0..<3000).map { Sample.dose(2, at: 0, Sample.phone, id: "copy \($0)") }
    // More equal doses in a minute than a person or a pump can give are not compared, so none of them is left
    // out.
    #expect(counted(items + copies).kept.count >= 3000)
  }
}
