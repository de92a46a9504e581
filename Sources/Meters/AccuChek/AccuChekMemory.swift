// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The entries read from an Accu-Chek's memory: glucose, control solution, and the meal marks of glucose entries of the
/// same instant.
struct AccuChekMemory {
  /// Problems to report to a person that reject nothing.
  private var warnings: [String] = []
  private var readings: [(time: [UInt8], reading: MeterReading)] = []
  private var controls: [MeterReading] = []
  private var meals: [[UInt8]: UInt16] = [:]
  private var skipped: [String: Int] = [:]
  private var rejections: [Rejection] = []
  private var entryCount: Int64 = 0
  private let lowLimit: Double

  /// - Parameter lowLimit: the value below which the meter shows LO.
  init(lowLimit: Double) {
    self.lowLimit = lowLimit
  }

  /// The number of glucose readings.
  var glucoseCount: Int { readings.count }

  /// Adds the entries of a report.
  mutating func take(_ report: SegmentReport, of segment: MemorySegment) throws(Failure) {
    guard let entries = report.split(every: segment.entryLength) else {
      throw Failure(
        .protocolViolation,
        "reading part \(segment.instance) of the meter's memory: a report has another length than it states; "
          + "unplug the meter, plug it in again and retry")
    }
    for entry in entries {
      entryCount += 1
      let bytes = Array(entry)
      if segment.content == .meals {
        takeMeal(bytes, segment)
      } else {
        takeReading(bytes, segment)
      }
    }
  }

  mutating func warn(_ warning: String) { warnings.append(warning) }

  /// Skips a segment without glucose that cannot be read, with a warning.
  mutating func leaveOut(_ segment: MemorySegment, because failure: Failure) {
    let name = segment.content == .meals ? "meal marks" : "control tests"
    warn("the \(name) were left out: \(failure.message)")
    skipped["entry of a part that cannot be read", default: 0] += max(1, segment.count ?? 1)
  }

  /// All readings, with the meal marks added to their readings.
  func contents(_ identity: MeterIdentity) -> MeterContents {
    var contents = MeterContents(identity)
    contents.skipped = skipped
    contents.rejections = rejections
    contents.warnings = warnings
    var left = meals
    contents.readings = readings.map { time, reading in
      var marked = reading
      if let code = left.removeValue(forKey: time) { marked.marks.formUnion(Self.mark(code)) }
      return marked
    }
    if !left.isEmpty { contents.skipped["meal mark without a reading", default: 0] += left.count }
    contents.readings.markClockSetBackInEitherOrder()
    var controls = controls
    controls.markClockSetBackInEitherOrder()
    contents.readings += controls
    return contents
  }
}

extension AccuChekMemory {
  private mutating func takeMeal(_ entry: [UInt8], _ segment: MemorySegment) {
    let code = Self.number(entry, at: segment.valueOffset)
    guard [0x724C, 0x7250, 0x7254, 0x7258, 0x7274].contains(code) else {
      return skip("meal mark of an unknown kind")
    }
    meals[Array(entry.prefix(MedicalTime.length))] = code
  }

  private mutating func takeReading(_ entry: [UInt8], _ segment: MemorySegment) {
    let timeBytes = Array(entry.prefix(MedicalTime.length))
    guard let time = MedicalTime.parse(timeBytes) else { return reject("invalid time") }
    let status = segment.statusOffset.map { Self.number(entry, at: $0) } ?? 0
    // These bits mean invalid, test data and demo data; the other bits describe valid measurements.
    guard status & 0x8C00 == 0 else { return skip("entry that the meter marks as invalid or as a test") }
    let measurement: Measurement
    switch ShortFloat(Self.number(entry, at: segment.valueOffset)) {
    case .number(let number) where number > 0:
      measurement = .value(Quantity(number, .milligramsPerDecilitre))
    case .number: return reject("the value is zero or below")
    case .high: measurement = .high(above: 600, .milligramsPerDecilitre)
    case .low: measurement = .low(below: lowLimit, .milligramsPerDecilitre)
    case .none: return skip("entry without a value")
    }
    if segment.content == .controlSolution {
      controls.append(MeterReading(.smbg, at: time, measurement, marks: .controlSolution))
    } else {
      readings.append((timeBytes, MeterReading(.smbg, at: time, measurement)))
    }
  }

  private static func number(_ entry: [UInt8], at offset: Int) -> UInt16 {
    guard offset >= 0, offset + 1 < entry.count else { return 0 }
    return UInt16(entry[offset]) << 8 | UInt16(entry[offset + 1])
  }

  /// The mark of a meal code. A casual meal, 7258, has no mark.
  private static func mark(_ code: UInt16) -> ReadingMarks {
    switch code {
    case 0x724C: .beforeMeal
    case 0x7250: .afterMeal
    case 0x7254: .fasting
    case 0x7274: .bedtime
    default: []
    }
  }

  private mutating func skip(_ name: String) { skipped[name, default: 0] += 1 }

  private mutating func reject(_ reason: String) {
    rejections.append(Rejection(line: entryCount, reason: reason))
  }
}
