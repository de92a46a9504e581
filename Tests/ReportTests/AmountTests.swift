// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Report

struct AmountTests {
  private typealias Item = (kind: RecordKind, fields: [String: FieldValue], time: String)

  private func amounts(_ items: [Item], by grouping: Grouping? = nil) -> StatisticsResult {
    var options = Statistics.Options()
    options.grouping = grouping
    var statistics = Statistics(options)
    for item in items {
      statistics.add(
        item.kind, RecordFields(item.fields), deviceTime: DeviceTime(seconds: Time.at(item.time)),
        placement: Placement(utcOffset: 0, source: .stated))
    }
    return statistics.finish { _ in 0 }
  }

  @Test func meanAmountsAreTakenOverDaysWithAmounts() {
    let total = amounts([
      (.insulin, ["units": .number(4), "subtype": .text("rapid")], "2026-03-02T08:00"),
      (.insulin, ["units": .number(20), "subtype": .text("long")], "2026-03-02T22:00"),
      (.food, ["carbs": .number(60), "servings": .number(5)], "2026-03-02T23:00"),
      (.insulin, ["units": .number(2)], "2026-03-05T08:00"),
      (.insulin, ["units": .number(8), "subtype": .text("mix")], "2026-03-05T09:00"),
      (.food, ["fat": .number(10)], "2026-03-06T09:00"),
    ]).total.amounts
    #expect(total.insulin.total == 34 && total.insulin.daysWithAny == 2 && total.insulin.perDay.number == 17)
    #expect(total.basal.total == 20 && total.basal.perDay.number == 20)
    #expect(total.bolus.total == 6 && total.bolus.perDay.number == 3)
    #expect(total.mixed.total == 8)
    #expect(total.carbohydrates.total == 60 && total.carbohydrates.daysWithAny == 1)
    #expect(total.servings.total == 5)
  }

  /// A rate without an end has an unknown amount. A pause after it, which is a rate of 0, must not make the
  /// amount of the day 0.
  @Test func aDayWithOnlyZeroAmountsIsNotCountedForTheMean() {
    let total = amounts([
      (.insulin, ["units": .number(4)], "2026-03-02T08:00"),
      (.insulin, ["rate": .number(0.8), "subtype": .text("basal")], "2026-03-02T09:00"),
      (.insulin, ["rate": .number(0), "subtype": .text("basal")], "2026-03-03T08:00"),
      (.insulin, ["units": .number(0)], "2026-03-04T08:00"),
      (.food, ["carbs": .number(20), "servings": .number(0)], "2026-03-02T08:00"),
      (.food, ["carbs": .number(0)], "2026-03-05T08:00"),
    ]).total.amounts
    #expect(total.insulin.daysWithAny == 1 && total.bolus.perDay.number == 4)
    #expect(total.basal.records == 0 && total.basal.perDay == .absent(.unknownRates))
    #expect(total.insulinWithoutAmount == 1)
    #expect(total.carbohydrates.perDay.number == 20 && total.servings.records == 0)
  }

  @Test func dosesOfUnknownUseAreNamedTogetherWithTheBoluses() {
    func total(_ subtype: String?) -> DailyAmounts {
      var fields: [String: FieldValue] = ["units": .number(14)]
      if let subtype { fields["subtype"] = .text(subtype) }
      return amounts([
        (.insulin, fields, "2026-03-02T08:00"),
        (.insulin, ["units": .number(4), "subtype": .text("rapid")], "2026-03-02T12:00"),
      ]).total.amounts
    }
    let unknown = total(nil)
    #expect(unknown.bolus.sum == 18 && unknown.dosesOfUnknownUse == 1)
    #expect(unknown.bolusName == "bolus or unknown use")
    for subtype in ["rapid", "long", "basal", "mix"] {
      #expect(total(subtype).dosesOfUnknownUse == 0 && total(subtype).bolusName == "bolus", "\(subtype)")
    }
  }

  @Test func insulinWithoutAnyBasalInsulinIsOnlyBoluses() {
    func hasOnlyBoluses(_ doses: [String: FieldValue]...) -> Bool {
      let items = doses.map { (kind: RecordKind.insulin, fields: $0, time: "2026-03-02T08:00") }
      return amounts(items).total.amounts.hasOnlyBoluses
    }
    let bolus: [String: FieldValue] = ["units": .number(4), "subtype": .text("rapid")]
    let rate: [String: FieldValue] = ["rate": .number(0.8), "subtype": .text("basal")]
    #expect(hasOnlyBoluses(bolus) && hasOnlyBoluses(bolus, bolus))
    // A dose of unknown insulin can be basal insulin.
    #expect(!hasOnlyBoluses(bolus, ["units": .number(2)]))
    #expect(!hasOnlyBoluses(bolus, ["units": .number(20), "subtype": .text("long")]))
    #expect(!hasOnlyBoluses(bolus, ["units": .number(20), "subtype": .text("mix")]))
    #expect(!hasOnlyBoluses(bolus, rate.merging(["minutes": .number(60)]) { $1 }))
    // A rate without an amount is basal insulin, too.
    #expect(!hasOnlyBoluses(bolus, rate) && !hasOnlyBoluses())
  }

  @Test func aReportWithOnlyBolusesStatesThatItHasNoBasalInsulin() throws {
    func text(_ report: SampleReport) throws -> String {
      DrawingCheck.words(try #require(ReportPage(report.contents, .english).amountsBox)).joined(
        separator: " ")
    }
    var report = SampleReport.usual
    #expect(try text(report).contains("(bolus 4.5 U, no basal insulin in these data)"))
    report.records.append(
      (.insulin, RecordFields(["units": .number(12), "subtype": .text("long")]), "2026-03-02T22:00"))
    #expect(try !text(report).contains("no basal insulin"))
  }

  @Test func theExtendedPartOfABolusIsCounted() {
    let fields: [String: FieldValue] = [
      "units": .number(2), "extended": .number(3), "minutes": .number(120), "subtype": .text("rapid"),
    ]
    #expect(amounts([(.insulin, fields, "2026-03-02T08:00")]).total.amounts.bolus.total == 5)
  }

  @Test func aBasalRateCountsUntilItsEndOrTheNextRate() {
    func rate(_ rate: Double, _ minutes: Double) -> [String: FieldValue] {
      ["rate": .number(rate), "minutes": .number(minutes), "subtype": .text("basal")]
    }
    let total = amounts([
      (.insulin, rate(1.2, 60), "2026-03-02T08:00"), (.insulin, rate(0.6, 60), "2026-03-02T08:30"),
      (.insulin, rate(0, 0), "2026-03-02T09:00"),
      (
        .insulin, ["minutes": .number(30), "subtype": .text("basal"), "text": .text("50 %")],
        "2026-03-02T10:00"
      ),
    ]).total.amounts
    #expect(agree(total.basal.total, 0.9) && total.insulin.daysWithAny == 1)
    #expect(total.insulinWithoutAmount == 1)
  }

  /// The arguments are a basal rate that lasts until the next rate, and a temporary rate in percent of the
  /// programmed rate. For both, the amount of insulin in units is unknown.
  @Test(arguments: [["rate": .number(0.8)], ["minutes": .number(30)]] as [[String: FieldValue]])
  func insulinHasNoSumIfABasalRateHasNoAmount(_ fields: [String: FieldValue]) {
    let rate = fields.merging(["subtype": .text("basal")]) { $1 }
    let result = amounts(
      [
        (.insulin, ["units": .number(4), "subtype": .text("rapid")], "2026-03-02T08:00"),
        (.insulin, ["units": .number(10), "subtype": .text("long")], "2026-03-02T22:00"),
        (.insulin, rate, "2026-03-03T08:00"),
        (.insulin, ["units": .number(2), "subtype": .text("rapid")], "2026-03-03T09:00"),
      ], by: .day)
    let total = result.total.amounts
    #expect(total.insulin.sum == nil && total.insulin.perDay == .absent(.unknownRates))
    #expect(total.basal.sum == nil && total.basal.perDay == .absent(.unknownRates))
    #expect(total.bolus.sum == 6)
    #expect(result.groups.map(\.amounts.insulin.sum) == [14, nil])
  }

  @Test func aBolusWithoutAnAmountDoesNotRemoveTheSum() {
    let total = amounts([
      (.insulin, ["units": .number(4), "subtype": .text("rapid")], "2026-03-02T08:00"),
      (.insulin, ["subtype": .text("rapid")], "2026-03-02T09:00"),
    ]).total.amounts
    #expect(total.insulin.sum == 4 && total.insulinWithoutAmount == 1)
  }

  @Test func aBasalRateOfZeroMinutesEndsTheRateBeforeIt() {
    func rate(_ minutes: Double) -> [String: FieldValue] {
      ["rate": .number(2), "minutes": .number(minutes), "subtype": .text("basal")]
    }
    let total = amounts([
      (.insulin, rate(120), "2026-03-02T08:00"), (.insulin, rate(0), "2026-03-02T08:30"),
    ]).total.amounts
    #expect(total.basal.sum == 1 && total.insulin.sum == 1 && total.insulinWithoutAmount == 0)
  }

  @Test(arguments: [-1e300, -1, 1_000_001, 1e19, 1e300, .infinity, .nan])
  func anImpossibleAmountIsNotCounted(_ number: Double) {
    let total = amounts([
      (.insulin, ["units": .number(number)], "2026-03-02T08:00"),
      (.insulin, ["extended": .number(number), "units": .number(3)], "2026-03-02T09:00"),
      (
        .insulin, ["rate": .number(number), "minutes": .number(60), "subtype": .text("basal")],
        "2026-03-02T10:00"
      ),
      (
        .insulin, ["rate": .number(2), "minutes": .number(number), "subtype": .text("basal")],
        "2026-03-02T11:00"
      ),
      (.food, ["carbs": .number(number), "servings": .number(number)], "2026-03-02T12:00"),
      (.food, ["carbs": .number(20)], "2026-03-02T13:00"),
    ]).total.amounts
    #expect(total.insulin.total == 3 && total.insulin.records == 1 && total.insulinWithoutAmount == 3)
    #expect(
      total.carbohydrates.total == 20 && total.carbohydrates.records == 1 && total.servings.records == 0)
  }

  @Test func theLargestPossibleAmountIsCounted() {
    let total = amounts([
      (.insulin, ["units": .number(1_000_000)], "2026-03-02T08:00"),
      (.insulin, ["rate": .number(1_000_000), "minutes": .number(1_000_000)], "2026-03-02T09:00"),
    ]).total.amounts
    #expect(total.bolus.total == 1_000_000 && agree(total.basal.total, 1e11 / 60, decimals: 2))
    #expect(GlucoseText(.milligramsPerDecilitre).plain(total.insulin.total) == "1667666666.67")
  }

  @Test func amountsAreCountedInTheGroupOfTheirTime() {
    let result = amounts(
      [
        (.insulin, ["units": .number(4)], "2026-03-02T08:00"),
        (.food, ["carbs": .number(10)], "2026-03-04T08:00"),
        (.note, ["text": .text("x")], "2026-03-09T08:00"),
      ], by: .day)
    #expect(result.groups.map(\.amounts.insulin.total) == [4, 0, 0])
    #expect(result.groups.map(\.amounts.carbohydrates.total) == [0, 0, 10])
  }
}
