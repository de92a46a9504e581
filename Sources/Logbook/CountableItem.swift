// SPDX-License-Identifier: Apache-2.0

/// An item whose amount is part of a total: a dose, a meal, a finger stick or a ketone reading. Its
/// properties show whether an item of another source describes the same dose, meal or measurement.
package struct CountableItem: Sendable {
  /// The kinds of items that have totals.
  package enum Kind: String, CaseIterable, Sendable {
    case insulin, food, smbg, ketone
  }

  /// The use of an insulin dose. `unknown` matches every other use.
  package enum Use: Int, Sendable {
    case bolus, basal, mixed, unknown
  }

  /// The form in which the source states the time. An export that a program writes in another form than
  /// before states each of its items a second time. The raw values order the forms: items of the first form
  /// are kept.
  package enum TimeForm: Int, Sendable {
    /// A shown time with its offset.
    case offset
    /// A shown time without an offset.
    case local
    /// Only the instant, such as a time in UTC.
    case instant

    fileprivate init(_ placement: Placement) {
      switch placement.source {
      case .stated: self = .offset
      case .instant: self = .instant
      case .zone, .zoneGap, .zoneOverlap, .ticks: self = .local
      }
    }
  }

  package enum Amount: Sendable {
    /// Ten-thousandths of a unit: `units` at once, and `extended` over time.
    case insulin(units: Int64, extended: Int64)
    /// Thousandths of a gram.
    case carbohydrates(Int64)
    case measured(Measurement)
  }

  /// The guid of a record, or the canonical identity of a reading.
  package let id: String
  /// The kind of total that includes the item.
  package let kind: Kind
  /// The use of a dose; `unknown` for all other items.
  package let use: Use
  package let amount: Amount
  /// The instant of the item in UTC seconds.
  package let instant: Int64
  /// The shown time in civil seconds.
  package let shown: Int64
  /// The form in which the source states the time.
  let timeForm: TimeForm
  /// The format or driver, and the program or device, from which the item came.
  package let source: CountingSource
  package let marks: ReadingMarks
  /// The note of a record; empty for a reading.
  package let note: String
  /// Whether a pump's algorithm gave the dose. An algorithm can give two equal doses a few minutes apart, but
  /// not within one minute. So such a dose can only repeat a dose whose instant is less than a minute away.
  let isAutomatic: Bool
  /// Whether the item is a meal that states fat or protein.
  let hasFatOrProtein: Bool
  /// How many optional details the item states. If several sources describe the same dose, meal or
  /// measurement, the item with the most details is kept.
  let details: Int
  /// When a person edited the item after its import, in UTC seconds; nil if it has the amount of an export.
  let amountEditedAt: Int64?
  /// The other sources that describe the same dose, meal or measurement. Empty until `CountedOnce` has
  /// compared the items.
  package internal(set) var twins: [CountingSource] = []
}

// MARK: - From records and readings

extension CountableItem {
  /// The item of a record; nil for a record without a counted amount, such as a note or a basal rate. Basal
  /// rates are not compared: each rate ends the one before it, whatever its source, so they never add up.
  ///
  /// - Parameter amountEditedAt: see the property `amountEditedAt`.
  package init?(
    _ kind: RecordKind, _ fields: RecordFields, id: String, deviceTime: DeviceTime, placement: Placement,
    source: CountingSource, amountEditedAt: Int64? = nil
  ) {
    func scaled(_ name: String, _ factor: Double) -> Int64 {
      Int64(((fields.amount(name) ?? 0) * factor).rounded())
    }
    switch kind {
    case .insulin:
      let isRate = fields.subtype == "basal" && (fields["rate"] != nil || fields["minutes"] != nil)
      let (units, extended) = (scaled("units", 10_000), scaled("extended", 10_000))
      guard !isRate, units + extended > 0 else { return nil }
      self.kind = .insulin
      amount = .insulin(units: units, extended: extended)
      use =
        switch fields.subtype {
        case "rapid": .bolus
        case "long", "basal": .basal
        case "mix": .mixed
        default: .unknown
        }
    case .food:
      let grams = scaled("carbs", 1000)
      guard grams > 0 else { return nil }
      (self.kind, amount, use) = (.food, .carbohydrates(grams), .unknown)
    default: return nil
    }
    self.id = id
    instant = deviceTime.seconds - Int64(placement.utcOffset)
    shown = deviceTime.seconds
    timeForm = TimeForm(placement)
    self.source = source
    marks = []
    note = if case .text(let text)? = fields["text"] { text } else { "" }
    isAutomatic = fields["automatic"] == .flag(true)
    hasFatOrProtein = fields["fat"] != nil || fields["protein"] != nil
    details = fields.values.count
    self.amountEditedAt = amountEditedAt
  }

  /// The item of a reading; nil for a sensor's value, and for a reading that statistics leave out.
  package init?(
    _ kind: ReadingKind, _ measurement: Measurement, marks: ReadingMarks, id: String, deviceTime: DeviceTime,
    placement: Placement, source: CountingSource
  ) {
    guard kind == .smbg || kind == .ketone, marks.isDisjoint(with: Self.uncounted) else { return nil }
    self.kind = kind == .smbg ? .smbg : .ketone
    (self.id, use, amount) = (id, .unknown, .measured(measurement))
    instant = deviceTime.seconds - Int64(placement.utcOffset)
    shown = deviceTime.seconds
    timeForm = TimeForm(placement)
    (self.source, self.marks, note) = (source, marks, "")
    (isAutomatic, hasFatOrProtein) = (false, false)
    details = marks.rawValue.nonzeroBitCount
    amountEditedAt = nil
  }

  private static let uncounted: ReadingMarks = [.controlSolution, .calibration, .doubtfulTime]
}

// MARK: - The same dose, meal or measurement

extension CountableItem {
  /// Two times that differ by less than this can be the same time. Exports cut or round times to minutes,
  /// which moves them by up to 59 seconds. In 29 real exports with 2,192 items, a single source states two
  /// equal amounts within one minute 3 times, but within 5 minutes 28 times. So a longer window would join
  /// more items that are different.
  static let windowSeconds: Int64 = 60

  /// Whether the two items can describe the same dose, meal or measurement: they have different sources,
  /// equal amounts, and times within a minute.
  func canRepeat(_ other: CountableItem) -> Bool {
    kind == other.kind && source != other.source && isNear(other) && fits(other)
      && amount.agrees(with: other.amount)
      && hasOtherOrigin(other)
  }

  /// Whether the two items have the same second and different amounts, and may otherwise describe the same
  /// dose, meal or measurement. A dose without the extended part of the other one is left to
  /// `MismatchedDoses`.
  func hasOtherAmount(than other: CountableItem) -> Bool {
    kind == other.kind && source != other.source && instant == other.instant && shown == other.shown
      && fits(other)
      && !amount.agrees(with: other.amount) && !lacksPart(other) && hasOtherOrigin(other)
  }

  /// Whether the two items state one amount of insulin at one time, but different uses, such as bolus and
  /// basal. No rule can decide which use is right, so a person must decide.
  package func differsInUse(_ other: CountableItem) -> Bool {
    kind == .insulin && kind == other.kind && source != other.source && !isAutomatic && !other.isAutomatic
      && isNear(other) && !fits(other) && amount.agrees(with: other.amount) && hasOtherOrigin(other)
  }

  /// Whether the two doses are equal at one time, except that only one of them has an extended part.
  package func lacksPart(_ other: CountableItem) -> Bool {
    guard case .insulin(let units, let extended) = amount,
      case .insulin(let otherUnits, let otherExtended) = other.amount,
      (extended > 0) != (otherExtended > 0), units > 0, abs(units - otherUnits) < 100
    else { return false }
    return source != other.source && !isAutomatic && !other.isAutomatic && isNear(other) && fits(other)
      && hasOtherOrigin(other)
  }

  private func isNear(_ other: CountableItem) -> Bool {
    let distance = abs(instant - other.instant)
    if distance < Self.windowSeconds { return true }
    // An algorithm delivers equal doses within minutes, so two of its doses with equal shown times at
    // different instants may be two doses.
    return !isAutomatic && !other.isAutomatic && distance <= DeviceTime.largestDifference
      && abs(shown - other.shown) < Self.windowSeconds
  }

  /// Whether both doses may have the same use.
  func fits(_ other: CountableItem) -> Bool {
    use == other.use || use == .unknown || other.use == .unknown
  }

  /// Whether one item can be a copy of the other. Values in the memories of two devices are two measurements,
  /// except if one device got its value from a linked meter. If a source is unknown, exactly one of the items
  /// must have an id that an import computed; see `Guid.isDerived`.
  private func hasOtherOrigin(_ other: CountableItem) -> Bool {
    if source.role == .unknown || other.source.role == .unknown {
      return Guid.isDerived(id) != Guid.isDerived(other.id)
    }
    let isMeasured = kind == .smbg || kind == .ketone
    guard isMeasured, source.role == .memory, other.source.role == .memory else { return true }
    return marks.contains(.linked) || other.marks.contains(.linked)
  }

  /// Whether this item is kept, and not `other`, if both describe the same dose, meal or measurement. The
  /// choice decides which use, marks and exact second the result has. The amount is the same for both, apart
  /// from rounding.
  package func precedes(_ other: CountableItem) -> Bool {
    if source.role != other.source.role { return source.role.rawValue < other.source.role.rawValue }
    if details != other.details { return details > other.details }
    if instant != other.instant { return instant < other.instant }
    return id < other.id
  }
}

extension CountableItem.Amount {
  /// Whether the two amounts can be the same amount, rounded or split differently by two sources.
  func agrees(with other: Self) -> Bool {
    switch (self, other) {
    case (.insulin(let units, let extended), .insulin(let otherUnits, let otherExtended)):
      // Exports write a pump's amounts in steps of at least a hundredth of a unit, so a smaller difference is
      // ignored. A program that does not split a dose states the sum of its immediate and its extended part.
      let total = abs(units + extended - otherUnits - otherExtended)
      return total < 100 && (extended == 0 || otherExtended == 0 || abs(extended - otherExtended) < 100)
    case (.carbohydrates(let grams), .carbohydrates(let others)):
      // Rounding to whole grams moves an amount by half a gram.
      return abs(grams - others) <= 500
    case (.measured(let value), .measured(let other)):
      return value.isShown(like: other)
    default: return false
    }
  }
}

extension Measurement {
  /// Whether two devices could show these two values for the same measurement. The values are compared in the
  /// coarser unit, rounded to the step of that unit.
  func isShown(like other: Measurement) -> Bool {
    switch (self, other) {
    case (.value(let mine), .value(let theirs)): mine.isShown(like: theirs)
    case (.low, .low), (.high, .high): true
    default: false
    }
  }
}

extension Quantity {
  fileprivate func isShown(like other: Quantity) -> Bool {
    switch (unit, other.unit) {
    case (.milligramsPerDecilitre, .milligramsPerDecilitre): return number.rounded() == other.number.rounded()
    case (.millimolesPerLitre, .milligramsPerDecilitre): return other.isShown(like: self)
    case (.milligramsPerDecilitre, .millimolesPerLitre):
      if shownTenths.contains(other.tenthsOfMillimole) { return true }
    case (.millimolesPerLitre, .millimolesPerLitre):
      if tenthsOfMillimole == other.tenthsOfMillimole || isConverted(like: other) { return true }
    }
    // A value with hundredths was already rounded. A program writes 118 mg/dL as 6.55 mmol/L, which is
    // rounded to 6.6, but a meter shows 6.5. So such values may differ by a little more than half a tenth.
    guard hasHundredths || other.hasHundredths else { return false }
    if unit == .milligramsPerDecilitre {
      return other.converted(to: .milligramsPerDecilitre).number.rounded() == number.rounded()
    }
    return abs(number - other.number) < 0.0555
  }

  /// Whether a meter's value in whole mg/dL exists that one program shows as this value, and another one as
  /// `other`.
  private func isConverted(like other: Quantity) -> Bool {
    if wholeMilligrams.contains(where: { $0.shownTenths.contains(other.tenthsOfMillimole) })
      || other.wholeMilligrams.contains(where: { $0.shownTenths.contains(tenthsOfMillimole) })
    {
      return true
    }
    guard abs(tenthsOfMillimole - other.tenthsOfMillimole) == 1, !hasHundredths, !other.hasHundredths else {
      return false
    }
    let middle = Int((number + other.number) / 2 * 18)
    return (middle - 2...middle + 2).contains { whole in
      let tenths = Quantity(Double(whole), .milligramsPerDecilitre).shownTenths
      return tenths.contains(tenthsOfMillimole) && tenths.contains(other.tenthsOfMillimole)
    }
  }

  /// The values in whole mg/dL that a program converts to this value in mmol/L with all its decimals. Empty
  /// for a value with at most two decimals.
  private var wholeMilligrams: [Quantity] {
    guard unit == .millimolesPerLitre, abs(number * 100 - (number * 100).rounded()) > 0.001 else { return [] }
    return Self.conversionFactors.map { number * $0 }.filter { abs($0 - $0.rounded()) < 0.02 }
      .map { Quantity($0.rounded(), .milligramsPerDecilitre) }
  }

  private var hasHundredths: Bool {
    unit == .millimolesPerLitre && abs(number * 10 - (number * 10).rounded()) > 0.001
  }
}
