// SPDX-License-Identifier: Apache-2.0

import SeededRandom
import Testing

@testable import Logbook

/// Tests values that every module uses: their limits and conversions.
@Suite struct SmallValuesTests {
  // MARK: Times

  @Test(
    arguments: [
      (0, 0, 0), (0, 7200, 7200), (0, -43_200, -43_200), (1_761_444_000, 3600, 1_761_447_600), (-1, 1, 0),
      (100, -86_399, -86_299),
    ] as [(Int64, Int32, Int64)])
  func anInstantIsWrittenWithItsUTCOffset(_ utc: Int64, _ offset: Int32, _ shown: Int64) {
    let time = ShownTime(utc: utc, offset: offset)
    #expect(time.deviceTime.seconds == shown && time.utcOffset == offset)
    #expect(time == ShownTime(DeviceTime(seconds: shown), utcOffset: offset))
  }

  @Test func aTimeWithoutAnOffsetDiffersFromOneInUTC() {
    let bare = ShownTime(DeviceTime(seconds: 5))
    #expect(bare.utcOffset == nil && bare != ShownTime(utc: 5, offset: 0))
    #expect(Set([bare, ShownTime(utc: 5, offset: 0), ShownTime(utc: 4, offset: 1), bare]).count == 3)
  }

  @Test(
    arguments: [
      (0, 0), (999, 0), (1000, 1), (-1, -1), (-999, -1), (-1000, -1), (-1001, -2),
      (1_761_447_599_999, 1_761_447_599),
    ] as [(Int64, Int64)])
  func millisecondsAreRoundedDownToSeconds(_ milliseconds: Int64, _ seconds: Int64) {
    #expect(Instant(milliseconds: milliseconds).seconds == seconds)
  }

  @Test func instantsWithAndWithoutAUTCOffsetDiffer() {
    #expect(Instant(milliseconds: 0) != Instant(milliseconds: 0, isWallClock: true))
    #expect(Instant(milliseconds: 0) != Instant(milliseconds: 0, utcOffset: 0))
  }

  @Test(
    arguments: [
      (nil, 631_151_999, false), (nil, 631_152_000, true), (nil, .max, true),
      (1_000_000_000, 1_000_093_600, true),
      (1_000_000_000, 1_000_093_601, false), (1_000_000_000, 631_151_999, false),
      (1_000_000_000, 1_000_000_000, true),
    ] as [(Int64?, Int64, Bool)])
  func timesBefore1990AndInTheFutureAreDoubtful(_ now: Int64?, _ utc: Int64, _ isPlausible: Bool) {
    #expect(PlausibleTimes(now: now).contains(utc) == isPlausible)
    for offset: Int32 in [0, 7200, -43_200] where utc < .max {
      var reading = Self.reading(at: utc + Int64(offset), offset)
      #expect(PlausibleTimes(now: now).judge(&reading) == (isPlausible ? utc : nil))
      #expect(reading.marks == (isPlausible ? [] : .doubtfulTime))
      #expect(reading.deviceTime.seconds == utc + Int64(offset))
    }
  }

  private static func reading(at seconds: Int64, _ offset: Int32) -> Reading {
    Reading(
      device: DeviceIndex(0), kind: .cbg, at: DeviceTime(seconds: seconds),
      placement: Placement(utcOffset: offset, source: .stated),
      .value(Quantity(100, .milligramsPerDecilitre)), line: 1)
  }

  // MARK: Amounts

  @Test(arguments: [
    (9.99, GlucoseUnit.milligramsPerDecilitre, false), (10, .milligramsPerDecilitre, true),
    (1000, .milligramsPerDecilitre, true), (1000.01, .milligramsPerDecilitre, false),
    (0.59, .millimolesPerLitre, false),
    (0.6, .millimolesPerLitre, true), (55, .millimolesPerLitre, true), (55.1, .millimolesPerLitre, false),
    (.nan, .milligramsPerDecilitre, false), (.infinity, .millimolesPerLitre, false),
    (-5, .millimolesPerLitre, false),
  ])
  func onlyAValueThatAMeterCanShowIsAGlucoseValue(_ number: Double, _ unit: GlucoseUnit, _ isTaken: Bool) {
    switch CellValue(glucose: number, unit) {
    case .measurement(let measurement): #expect(isTaken && measurement == .value(Quantity(number, unit)))
    case .rejected(let reason):
      let range = unit == .milligramsPerDecilitre ? "10–1000 mg/dL" : "0.6–55 mmol/L"
      #expect(!isTaken && reason == "a glucose value outside \(range)")
    case .empty: Issue.record("no value")
    }
  }

  @Test(arguments: [(0.0, true), (20, true), (20.1, false), (-0.1, false), (.nan, false)])
  func onlyAPlausibleNumberOfMillimolesIsAKetoneValue(_ number: Double, _ isTaken: Bool) {
    switch CellValue(ketone: number) {
    case .measurement(let measurement): #expect(isTaken && measurement.unit == .millimolesPerLitre)
    case .rejected(let reason): #expect(!isTaken && reason == "a ketone value outside 0–20 mmol/L")
    case .empty: Issue.record("no value")
    }
  }

  @Test(
    arguments: [
      ("mg/dL", GlucoseUnit.milligramsPerDecilitre), ("MG/DL", .milligramsPerDecilitre),
      ("mg", .milligramsPerDecilitre),
      ("mgdl", .milligramsPerDecilitre), ("mmol/L", .millimolesPerLitre), ("MMOL", .millimolesPerLitre),
      ("mmoll", .millimolesPerLitre), ("", nil), ("g/L", nil), ("mg /dL", nil), ("mmol/mol", nil),
      ("mol", nil), ("%", nil),
    ] as [(String, GlucoseUnit?)])
  func aGlucoseUnitIsRecognisedByEveryNameInExports(_ name: String, _ unit: GlucoseUnit?) {
    #expect(GlucoseUnit(name: name) == unit)
  }

  /// The expected number is calculated with integers, in thousandths of mg/dL: number × 10 / 18.01559,
  /// rounded half up.
  @Test func milligramsAreConvertedToTheTenthsOfTheExactQuotient() {
    for seed in UInt64(1)...20 {
      var random = SeededGenerator(seed: seed)
      for _ in 0..<500 {
        let thousandths = Int64(random.next() % 1_200_000)
        let (tenths, rest) = (thousandths * 1000).quotientAndRemainder(dividingBy: 1_801_559)
        let expected = rest * 2 >= 1_801_559 ? tenths + 1 : tenths
        let quantity = Quantity(Double(thousandths) / 1000, .milligramsPerDecilitre)
        #expect(quantity.tenthsOfMillimole == expected, "seed \(seed): \(thousandths)")
        #expect(quantity.displayed(in: .millimolesPerLitre) == "\(expected / 10).\(expected % 10)")
      }
    }
  }

  @Test func theLargerOfTwoValuesIsNeverDisplayedAsSmaller() {
    for unit in GlucoseUnit.allCases {
      let quantities = (0...10_000).map { Quantity(Double($0) / 10, unit) }
      for other in GlucoseUnit.allCases {
        let shown = quantities.map { Double($0.displayed(in: other)) ?? -1 }
        #expect(zip(shown, shown.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(quantities.allSatisfy { $0.converted(to: other).unit == other })
      }
      let tenths = quantities.map(\.tenthsOfMillimole)
      #expect(zip(tenths, tenths.dropFirst()).allSatisfy { $0 <= $1 } && tenths.first == 0)
    }
  }

  @Test func aMeasurementLOOrHIHasAUnitButNoNumber() {
    for unit in GlucoseUnit.allCases {
      #expect(
        Measurement.low(below: 2.2, unit).unit == unit && Measurement.high(above: nil, unit).unit == unit)
      #expect(
        Measurement.low(below: 2.2, unit).quantity == nil && Measurement.high(above: 30, unit).quantity == nil
      )
    }
    let value = Measurement.value(Quantity(0, .milligramsPerDecilitre))
    #expect(value.quantity?.number == 0 && value.valueBucket == 0)
    // The value buckets of LO and HI are never those of a number.
    #expect(Set([value.valueBucket, Measurement.lowLevel, Measurement.highLevel]).count == 3)
  }

  // MARK: Values of programs that round differently

  private static func measured(_ text: String) -> Measurement {
    switch text {
    case "LO": return .low(below: nil, .milligramsPerDecilitre)
    case "HI": return .high(above: nil, .millimolesPerLitre)
    default:
      let isMillimole = text.hasSuffix("m")
      let number = Double(isMillimole ? String(text.dropLast()) : text) ?? -1
      return .value(Quantity(number, isMillimole ? .millimolesPerLitre : .milligramsPerDecilitre))
    }
  }

  @Test(arguments: [
    ("100", "100", true), ("100", "100.9", true), ("100", "101", false), ("5.5m", "99", true),
    ("5.5m", "100", true),
    ("5.5m", "98", false), ("5.5m", "97", false), ("5.5m", "5.54m", true), ("5.5m", "5.6m", false),
    ("LO", "39", true),
    ("LO", "40", false), ("LO", "LO", true), ("LO", "HI", false), ("HI", "401", true), ("HI", "400", false),
    ("HI", "22.3m", true), ("LO", "2.2m", true), ("LO", "2.3m", false),
  ])
  func valuesOfTwoProgramsAreOneMeasurementIfConversionExplainsTheDifference(
    _ one: String, _ other: String, _ isSame: Bool
  ) {
    #expect(Self.measured(one).isSame(as: Self.measured(other)) == isSame)
    #expect(Self.measured(other).isSame(as: Self.measured(one)) == isSame)
  }

  @Test func readingsOfDifferentKindsCanBeOneMeasurementOnlyIfBothAreOfASensor() {
    for one in ReadingKind.allCases {
      for other in ReadingKind.allCases {
        let isSensor = Set([one, other]).isSubset(of: [.cbg, .scan])
        #expect(one.isSame(as: other) == (one == other || isSensor), "\(one.name) \(other.name)")
      }
    }
  }

  // MARK: Readings

  @Test func onlyTheDocumentedNamesOfKindsAndOffsetSourcesAreRead() {
    for kind in ReadingKind.allCases { #expect(ReadingKind(name: kind.name) == kind) }
    for kind in PositionKind.allCases { #expect(PositionKind(name: kind.name) == kind) }
    for source in OffsetSource.allCases {
      #expect(OffsetSource(name: source.name) == source && source.isDerived == (source != .stated))
    }
    for word in ["", "CBG", "cbg ", "stated2", "ticks\0", "zone_gap"] {
      #expect(
        ReadingKind(name: word) == nil && PositionKind(name: word) == nil && OffsetSource(name: word) == nil)
    }
  }

  @Test func readingMarksAreReadBackFromTheirNames() {
    for bits in UInt16(0)..<1 << 12 {
      let marks = ReadingMarks(rawValue: bits)
      #expect(ReadingMarks(names: marks.names) == marks)
      #expect(marks.names.count == bits.nonzeroBitCount)
      #expect(ReadingMarks(names: Array(marks.names.reversed())) == marks)
    }
    for names in [["Manual"], ["manual", ""], ["manual linked"], ["manual", "future"]] {
      #expect(ReadingMarks(names: names) == nil)
    }
  }

  @Test(arguments: ReadingKind.allCases)
  func theValueIsPartOfAReadingIdentityOnlyWithoutACounter(_ kind: ReadingKind) {
    let (time, placement) = (DeviceTime(seconds: 100), Placement(utcOffset: 0, source: .zone))
    let value = Measurement.value(Quantity(5.6, .millimolesPerLitre))
    let shown = Reading(device: DeviceIndex(0), kind: kind, at: time, placement: placement, value, line: 1)
    let counted = Reading(
      device: DeviceIndex(0), kind: kind, tick: 7, at: time, placement: placement, value, line: 1)
    #expect(
      shown.valueBucket == (kind == .cbg ? 0 : 56) && shown.position == 100 && shown.positionKind == .time)
    #expect(counted.valueBucket == 0 && counted.position == 7 && counted.positionKind == .tick)
  }

  @Test func onlyATimeInARepeatedHourCanOccurTwice() {
    for source in OffsetSource.allCases {
      for marks in [[], ReadingMarks.clockSetBack, .manual] {
        let placement = Placement(utcOffset: 0, source: source)
        var reading = Reading(
          device: DeviceIndex(0), kind: .cbg, at: DeviceTime(seconds: 1), placement: placement,
          .low(below: nil, .millimolesPerLitre), marks: marks, line: 1)
        #expect(reading.timeCanRepeat == (source == .zoneOverlap || marks == .clockSetBack))
        reading.positionKind = .tick
        #expect(!reading.timeCanRepeat)
      }
    }
  }

  // MARK: Texts

  @Test(arguments: [
    (0, "0"), (7, "7"), (999, "999"), (1000, "1,000"), (-1000, "-1,000"), (-999, "-999"),
    (1_234_567, "1,234,567"),
    (100_000, "100,000"), (Int.max, "9,223,372,036,854,775,807"),
  ])
  func aCountIsPrintedWithCommasBetweenThousands(_ number: Int, _ text: String) {
    #expect(grouped(number) == text)
  }

  @Test(
    arguments: [
      (0, nil, "0 readings"), (1, nil, "1 reading"), (2, nil, "2 readings"), (1000, nil, "1,000 readings"),
      (1, "READINGS", "1 reading"), (2, "READINGS", "2 READINGS"), (0, "READINGS", "0 READINGS"),
      (-1, nil, "-1 readings"),
    ] as [(Int, String?, String)])
  func aCountIsPrintedWithItsNounInSingularOrPlural(_ number: Int, _ many: String?, _ text: String) {
    #expect(counted(number, "reading", many) == text)
  }

  @Test func onlySixtyFourLowerCaseHexDigitsAreAcceptedAsADigest() {
    let digest = Digest().hexadecimal()
    #expect(AttachmentContent.isDigest(digest))
    for other in [
      "", String(digest.dropLast()), digest + "0", digest.uppercased(), "g" + digest.dropFirst(),
      "é" + digest.dropFirst(2),
    ] {
      #expect(!AttachmentContent.isDigest(other), "\(other)")
    }
  }

  @Test func anAttachmentIsCompleteOnceAllItsBytesAreStored() {
    for (bytes, size, isWhole) in [
      (0, nil, false), (0, 0, true), (5, 6, false), (6, 6, true), (6, nil, false),
    ] as [(Int64, Int64?, Bool)] {
      #expect(HeldContent(bytes: bytes, size: size).isWhole == isWhole)
    }
  }

  /// The expected digits come from a simple definition: divide by ten, and take the last digit first.
  @Test func numbersAreWrittenAsTheirDigits() {
    func digits(_ number: Int64) -> [UInt8] {
      var (rest, out) = (number.magnitude, [UInt8]())
      while rest > 0 || out.isEmpty {
        out.insert(UInt8(0x30 + rest % 10), at: 0)
        rest /= 10
      }
      return (number < 0 ? [0x2D] : []) + out
    }
    var random = SeededGenerator(seed: 3)
    for round in 0..<4000 {
      let number = Int64(bitPattern: random.next()) >> Int64(round % 64)
      var out = Array("-1,".utf8)
      appendInteger(number, to: &out)
      #expect(out == Array("-1,".utf8) + digits(number), "\(number)")
      guard number.magnitude < 1_000_000_000_000_000 else { continue }
      out = []
      appendNumber(Double(number), to: &out)
      #expect(out == digits(number), "\(number)")
    }
  }

  @Test func aNumberIsReadBackFromItsShortestText() {
    var random = SeededGenerator(seed: 4)
    for _ in 0..<4000 {
      let scale: Double = [0.001, 0.01, 0.1, 0.5, 1, 18.01559].randomElement(using: &random) ?? 1
      let number = Double(Int64(random.next() % 2_000_000) - 1_000_000) * scale
      var out: [UInt8] = []
      appendNumber(number, to: &out)
      let text = String(decoding: out, as: UTF8.self)
      #expect(Double(text) == number && text == plainNumber(number) && !text.hasSuffix(".0"), "\(number)")
    }
  }
}
