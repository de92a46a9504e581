// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Meters with the Glucose Service of the Bluetooth SIG: the public standard in place of a maker's own
/// protocol.
///
/// Records of real meters are known from Roche, Ascensia and Trividia. A fourth maker's records are quoted
/// without a source. Two independent programs agree on the ketones of i-SENS. No record with HI or LO is
/// public.
struct BluetoothGlucoseDriver: AnonymisingDriver {
  static let id = "bluetooth-glucose"
  static let name = "Meters with the Bluetooth glucose profile"
  static let models: [MeterModel] = []

  init() {}

  func identify(_ meter: MeterConnection) throws -> MeterIdentity {
    try GlucoseSession(meter).identity().0
  }

  func read(_ meter: MeterConnection) throws -> MeterContents {
    let session = GlucoseSession(meter)
    let (identity, maker) = try session.identity()
    try meter.onIdentity(identity)
    let position = maker.numbersCountUp ? try meter.storedPosition(identity) : nil
    let features = try session.features()
    let (transfer, isAll, warning) = try session.records(from: position)
    var memory = GlucoseMemory(identity, maker, features: features)
    for (index, bytes) in transfer.contexts.enumerated() { memory.addContext(bytes, number: index + 1) }
    for (index, bytes) in transfer.measurements.enumerated() {
      memory.addMeasurement(bytes, number: index + 1)
    }
    var contents = memory.finished()
    contents.identity.count = isAll ? transfer.measurements.count : nil
    if let warning {
      contents.warnings.append(warning)
      contents.position = nil
    }
    return contents
  }
}

/// Checks whether the sequence numbers of a transfer rise with time, so that a later session can continue
/// after the last number.
private struct GlucoseOrder {
  /// Whether the numbers and times of all records rise, and each announced context, such as a meal, arrived.
  var isWhole = true
  private var last: (sequence: UInt16, base: Int64, mark: String)?

  mutating func add(_ measurement: GlucoseMeasurement, offsetMinutes: Int?) {
    guard let base = measurement.baseTime?.seconds, let offsetMinutes else { return isWhole = false }
    if let last, measurement.sequence <= last.sequence || base < last.base { isWhole = false }
    last = (measurement.sequence, base, measurement.mark(offsetMinutes: offsetMinutes))
  }

  /// The position after this reading if the reading is from the last record; nil if the next session must
  /// read everything.
  func position(_ sequence: UInt16, _ reading: MeterReading) -> MeterPosition? {
    guard isWhole, let last, last.sequence == sequence else { return nil }
    return MeterPosition(
      number: Int64(sequence), mark: last.mark, kind: reading.kind, deviceTime: reading.deviceTime)
  }
}

/// Turns the notifications of one transfer into readings and diary records.
struct GlucoseMemory {
  private var contents: MeterContents
  private let maker: GlucoseMaker
  private let range: ClosedRange<Double>?
  /// Whether the meter supports the status of a result that is too high or too low.
  private let hasLevelStatus: Bool
  /// Whether the meter supports the status of the temperature.
  private let hasTemperatureStatus: Bool
  private var contexts: [UInt16: GlucoseContext] = [:]
  /// Minutes from the base time to the shown time. A meter may leave out this offset in a record if it did
  /// not change. Nil after a damaged record, since the offset may have changed in it.
  private var offsetMinutes: Int? = 0
  /// Whether the meter has a time offset at all.
  private var statesOffset = false
  private var readings: [(sequence: UInt16, reading: MeterReading)] = []
  private var order = GlucoseOrder()

  /// - Parameter features: the bits of Glucose Feature. If they are unknown, the status bits in each record
  ///   are assumed to be valid.
  init(_ identity: MeterIdentity, _ maker: GlucoseMaker, features: UInt16?) {
    contents = MeterContents(identity)
    self.maker = maker
    range = maker.range(of: identity.device.model)
    hasLevelStatus = features.map { $0 & 1 << 5 != 0 } ?? true
    hasTemperatureStatus = features.map { $0 & 1 << 6 != 0 } ?? true
  }

  /// Adds a context, such as a meal. All contexts are added before the first measurement.
  mutating func addContext(_ bytes: [UInt8], number: Int) {
    do {
      let context = try GlucoseContext(bytes)
      if contexts.updateValue(context, forKey: context.sequence) != nil {
        skip("second context of a reading")
      }
    } catch {
      contents.rejections.append(Rejection(line: Int64(number), reason: "a context: \(error.reason)"))
    }
  }

  /// Adds a measurement, in the order of the transfer.
  mutating func addMeasurement(_ bytes: [UInt8], number: Int) {
    let measurement: GlucoseMeasurement
    do {
      measurement = try GlucoseMeasurement(bytes)
    } catch {
      if bytes.first.map({ $0 & 0x01 != 0 }) ?? true {
        offsetMinutes = bytes.littleEndian(Int16.self, at: GlucoseMeasurement.timeOffset).map { Int($0) }
      }
      return reject(number, error.reason)
    }
    offsetMinutes = measurement.offsetMinutes ?? offsetMinutes
    order.add(measurement, offsetMinutes: offsetMinutes)
    let context = contexts.removeValue(forKey: measurement.sequence)
    if measurement.hasContext, context == nil {
      guard !maker.hasKetones else {
        return reject(number, "its context did not arrive, so that it may be a ketone")
      }
      skip("context that did not arrive")
      order.isWhole = false
    }
    guard offsetMinutes != nil else { return reject(number, "unknown time, after a damaged record") }
    guard let time = shownTime(measurement) else { return reject(number, "invalid time") }
    statesOffset = statesOffset || measurement.offsetMinutes != nil
    if statesOffset, let offsetMinutes, !contents.clockOffsets.contains(offsetMinutes) {
      contents.clockOffsets.append(offsetMinutes)
    }
    add(measurement, context, at: time, number: number)
    if let context { add(context, at: time) }
  }

  /// All readings in the order of their sequence numbers. Some meters count these numbers backwards.
  func finished() -> MeterContents {
    var contents = contents
    if !contexts.isEmpty { contents.skipped["context without a reading", default: 0] += contexts.count }
    contents.readings = readings.enumerated()
      .sorted { ($0.element.sequence, $0.offset) < ($1.element.sequence, $1.offset) }.map(\.element.reading)
    contents.readings.markClockSetBackInEitherOrder()
    if let clock = contents.identity.clock { contents.identity.clock = shown(clock) }
    // After a rejection, the next session reads everything again: it must report the rejection again, and a
    // later version may read the record.
    if maker.numbersCountUp, contents.rejections.isEmpty, let last = readings.max(by: { $0.0 < $1.0 }) {
      contents.position = order.position(last.sequence, last.reading)
    }
    return contents
  }
}

extension GlucoseMemory {
  private mutating func skip(_ name: String) { contents.skipped[name, default: 0] += 1 }

  private mutating func reject(_ number: Int, _ reason: String) {
    contents.rejections.append(Rejection(line: Int64(number), reason: reason))
  }

  /// The time that the meter showed. If a person sets the meter's clock, only the offset changes, and not the
  /// base time.
  private func shownTime(_ measurement: GlucoseMeasurement) -> DeviceTime? {
    guard let base = measurement.baseTime, let offsetMinutes else { return nil }
    let seconds = base.seconds + Int64(offsetMinutes) * 60
    return DeviceTime(seconds: maker.hasSeconds ? seconds : seconds - seconds.modulo(60))
  }

  /// The clock as a person sees it. If the clock agrees with UTC although the meter's offset is more than 10
  /// minutes, it is the internal clock, so the offset is added.
  private func shown(_ clock: ClockComparison) -> ClockComparison {
    let internalClockDrift: Int64 = 600
    guard let offsetMinutes, abs(clock.meter.seconds - clock.host) <= internalClockDrift,
      abs(offsetMinutes) > 10
    else { return clock }
    let seconds = clock.meter.seconds + Int64(offsetMinutes) * 60
    return ClockComparison(meter: DeviceTime(seconds: seconds), host: clock.host)
  }

  private mutating func add(
    _ source: GlucoseMeasurement, _ context: GlucoseContext?, at time: DeviceTime, number: Int
  ) {
    if source.isOfSensor { return skip("value of a sensor") }
    let isKetone = context?.meal == Self.ketoneMeal
    guard !isKetone || maker.hasKetones else {
      return reject(number, "its meal has the code 6, which only meters of i-SENS are known to use")
    }
    guard let measurement = isKetone ? ketone(source) : glucose(source) else {
      return amount(of: source) == nil
        ? skip("record without a result") : reject(number, "the value is not a positive number")
    }
    // Fora TN'G Voice adds a record that no person measured. A single source describes it.
    if case .high = measurement, time.parts.year == 2037 { return skip("false HI of the year 2037") }
    var marks: ReadingMarks = source.isControl ? .controlSolution : []
    if let meal = context?.meal { marks.formUnion(Self.meals[meal] ?? []) }
    if hasTemperatureStatus, !source.status.isDisjoint(with: [.tooHot, .tooCold]) {
      marks.insert(.temperatureWarning)
    }
    let reading = MeterReading(isKetone ? .ketone : .smbg, at: time, measurement, marks: marks)
    readings.append((source.sequence, reading))
  }

  private func amount(of source: GlucoseMeasurement) -> Double? {
    source.concentration?.number(timesTenTo: source.isMolar ? 3 : 5)
  }

  /// The glucose of a record; nil if it has none.
  private func glucose(_ source: GlucoseMeasurement) -> Measurement? {
    let unit: GlucoseUnit = source.isMolar ? .millimolesPerLitre : .milligramsPerDecilitre
    if source.concentration == .high || hasLevelStatus && source.status.contains(.tooHigh) {
      return range.map { .high(above: $0.upperBound, .milligramsPerDecilitre) } ?? .high(above: nil, unit)
    }
    if source.concentration == .low || hasLevelStatus && source.status.contains(.tooLow) {
      return range.map { .low(below: $0.lowerBound, .milligramsPerDecilitre) } ?? .low(below: nil, unit)
    }
    guard let number = amount(of: source), number > 0 else { return nil }
    guard let range, !source.isMolar else { return .value(Quantity(number, unit)) }
    if number < range.lowerBound { return .low(below: range.lowerBound, unit) }
    if number > range.upperBound { return .high(above: range.upperBound, unit) }
    return .value(Quantity(number, unit))
  }

  /// The ketone value of a record, which meters send as if it were glucose in mg/dL; a tenth of it is mmol/L.
  private func ketone(_ source: GlucoseMeasurement) -> Measurement? {
    let unit = GlucoseUnit.millimolesPerLitre
    switch source.concentration {
    case .high: return .high(above: nil, unit)
    case .low: return .low(below: nil, unit)
    default: break
    }
    guard !source.isMolar, let number = source.concentration?.number(timesTenTo: 4), number >= 0 else {
      return nil
    }
    return .value(Quantity(number, unit))
  }

  private static let ketoneMeal: UInt8 = 6
  /// The marks of meals. A casual meal, 4, has none.
  private static let meals: [UInt8: ReadingMarks] = [1: .beforeMeal, 2: .afterMeal, 3: .fasting, 5: .bedtime]

  private mutating func add(_ context: GlucoseContext, at time: DeviceTime) {
    if let meal = context.meal, !(1...Self.ketoneMeal).contains(meal) { skip("meal mark of an unknown kind") }
    if let grams = context.carbohydrates?.number(timesTenTo: 3), grams > 0 {
      contents.records.append(MeterRecord(.food, at: time, RecordFields(["carbs": .number(grams)])))
    }
    if let seconds = context.exerciseSeconds, seconds > 0 {
      let fields = RecordFields(["minutes": .number(Double(seconds) / 60)])
      contents.records.append(MeterRecord(.exercise, at: time, fields))
    }
    if context.hasMedication { skip("medication without a unit of insulin") }
    if context.hasHbA1c { skip("HbA1c") }
  }
}

extension Int64 {
  /// The remainder of a division by a positive number, which is never negative.
  fileprivate func modulo(_ divisor: Int64) -> Int64 {
    let rest = self % divisor
    return rest < 0 ? rest + divisor : rest
  }
}

extension BluetoothGlucoseDriver {
  /// Replaces serial number, name and amounts. Each notification is one record and has no checksum, so
  /// nothing must be recomputed.
  static func anonymise(_ transcript: Transcript) throws -> Transcript {
    var transcript = transcript
    var numbers = StandInNumbers()
    // A meter that is read twice repeats its notifications, and the driver recognises them. So equal
    // notifications get equal replacements.
    var replaced: [[UInt8]: [UInt8]] = [:]
    for index in transcript.steps.indices {
      guard case .success(let bytes) = transcript.steps[index].result else { continue }
      switch transcript.steps[index].exchange {
      case .readValue(.serial): transcript.steps[index].result = .success(StandInNumbers.blank(bytes))
      case .readValue(.name): transcript.steps[index].result = .success(blankName(bytes))
      case .readValue, .subscribe, .recordAccess: break
      case .notification:
        let stand = try replaced[bytes] ?? self.replaced(bytes, &numbers)
        replaced[bytes] = stand
        transcript.steps[index].result = .success(stand)
      default: throw ReceivedStream.notUnderstood
      }
    }
    return transcript
  }

  private static func blankName(_ bytes: [UInt8]) -> [UInt8] {
    let known = GlucoseMaker.commonPart(ofName: String(decoding: bytes, as: UTF8.self)).utf8.count
    return bytes.prefix(known) + StandInNumbers.blank(bytes.dropFirst(known))
  }

  private static func replaced(_ bytes: [UInt8], _ numbers: inout StandInNumbers) throws -> [UInt8] {
    let value = Array(bytes.dropFirst(2))
    let offsets: [Int]
    do throws(MalformedNotification) {
      switch bytes.littleEndian(UInt16.self, at: 0).flatMap(GlucoseCharacteristic.init(rawValue:)) {
      case .measurement: offsets = try GlucoseMeasurement(value).concentrationOffset.map { [$0] } ?? []
      case .context: offsets = try GlucoseContext(value).amountOffsets
      case .recordAccess where ControlPointAnswer(value) != nil: offsets = []
      default: throw MalformedNotification("unknown")
      }
    } catch {
      throw ReceivedStream.notUnderstood
    }
    var bytes = bytes
    for offset in offsets {
      guard let bits = value.littleEndian(UInt16.self, at: offset),
        case .number(let mantissa, _) = ShortFloat(bits), mantissa > 0
      else { continue }
      let digits = numbers.next(like: Array(String(mantissa).utf8))
      let other = UInt16(String(decoding: digits, as: UTF8.self)) ?? 0
      bytes.replaceSubrange(offset + 2..<offset + 4, with: (bits & 0xF000 | other).littleEndianBytes)
    }
    return bytes
  }
}
