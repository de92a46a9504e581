// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The words that Clarity writes in place of a value outside the sensor's range.
///
/// Translations use various words, so no list of them is complete. A value of the same sensor shortly before
/// or after an unknown word determines its meaning for the whole input.
struct ClarityLevels {
  /// Whether a word means a value below or above the sensor's range.
  enum Level { case low, high }

  /// A sensor reading whose word is still unknown.
  private struct Undecided {
    let reading: Reading
    let word: String
    let rejection: Rejection
  }

  /// The maximum length of a word in bytes, above that of any translation.
  private static let maxWordBytes = 40
  /// The maximum number of unknown words, which is more than a translation has. At most `maxUndecided`
  /// readings, those of about three days, are held until their words are known.
  private static let maxWords = 16
  private static let maxUndecided = 1000
  /// A value shows the meaning of a word only if at most this many seconds lie between the two.
  private static let reach: Int64 = 15 * 60
  /// Limits in mg/dL. An unknown word means low if the value near it is below `low`, and high if that value
  /// is above `high`.
  private static let sides = (low: 100.0, high: 250.0)

  private static let lowStems = [
    "low", "niedrig", "tief", "bajo", "baja", "bas", "basse", "basso", "bassa", "laag", "baix", "lav", "låg",
    "matala", "nisk", "nízk", "nízky", "nizk", "nizak", "alacsony", "jos", "düşük", "χαμηλ", "ниск", "низк",
    "низьк",
    "נמוך", "madal", "낮음", "低",
  ]
  private static let highStems = [
    "high", "hoch", "alto", "alta", "haut", "élev", "hoog", "høj", "høy", "hög", "korke", "wysok", "vysok",
    "magas", "sus", "visok", "yüksek", "υψηλ", "висок", "высок", "גבוה", "kõrge", "높음", "高",
  ]
  /// Stems that must be whole words, since longer ones have other meanings, such as `basal`.
  private static let wholeWords: Set<String> = ["bas", "jos", "sus", "low", "lav", "tief"]

  private var learned: [String: Level] = [:]
  private var undecided: [Undecided] = []
  private var lastValue: (device: DeviceIndex, seconds: Int64, measurement: Measurement)?

  /// The word in a cell: letters without a digit.
  static func word(_ cell: Field) -> String? {
    let cell = cell.trimmed
    guard !cell.isEmpty, cell.count <= maxWordBytes, !cell.bytes.contains(where: { $0 &- 0x30 <= 9 }) else {
      return nil
    }
    let word = cell.folded
    return word.contains(where: \.isLetter) ? word : nil
  }

  /// The meaning of a word: by its stem, else by the values of this input.
  func level(of word: String) -> Level? { Self.level(byStems: word) ?? learned[word] }

  private static func level(byStems word: String) -> Level? {
    let parts = word.split { !$0.isLetter }.map(String.init)
    func has(_ stems: [String]) -> Bool {
      parts.contains { part in
        stems.contains { wholeWords.contains($0) ? part == $0 : part.hasPrefix($0) }
      }
    }
    let (isLow, isHigh) = (has(lowStems), has(highStems))
    return isLow == isHigh ? nil : isLow ? .low : .high
  }

  /// Holds a reading until a value shows the meaning of its word. Returns false if too many readings are
  /// held.
  mutating func buffer(_ reading: Reading, word: String, rejection: Rejection) -> Bool {
    if learned[word] == nil, let lastValue, isNear(reading, lastValue.device, lastValue.seconds) {
      learn(word, lastValue.measurement)
    }
    guard undecided.count < Self.maxUndecided else { return false }
    undecided.append(Undecided(reading: reading, word: word, rejection: rejection))
    return true
  }

  /// Records a value. It shows the meaning of unknown words near it.
  @inline(__always)
  mutating func observe(_ measurement: Measurement, of device: DeviceIndex, at time: DeviceTime) {
    lastValue = (device, time.seconds, measurement)
    if hasUndecided { learnWords(from: measurement, of: device, at: time) }
  }

  private mutating func learnWords(from measurement: Measurement, of device: DeviceIndex, at time: DeviceTime)
  {
    for kept in undecided where learned[kept.word] == nil && isNear(kept.reading, device, time.seconds) {
      learn(kept.word, measurement)
    }
  }

  private mutating func learn(_ word: String, _ neighbour: Measurement) {
    guard learned.count < Self.maxWords, let quantity = neighbour.quantity else { return }
    let milligrams = quantity.converted(to: .milligramsPerDecilitre).number
    if milligrams < Self.sides.low { learned[word] = .low }
    if milligrams > Self.sides.high { learned[word] = .high }
  }

  private func isNear(_ reading: Reading, _ device: DeviceIndex, _ seconds: Int64) -> Bool {
    reading.device == device && abs(reading.deviceTime.seconds - seconds) <= Self.reach
  }

  /// Whether readings are held whose words are still unknown.
  var hasUndecided: Bool { !undecided.isEmpty }

  /// Returns and removes the held readings whose word has become known.
  mutating func removeDecided() -> [(reading: Reading, level: Level)] {
    let decided = undecided.compactMap { kept in learned[kept.word].map { (reading: kept.reading, level: $0) }
    }
    undecided.removeAll { learned[$0.word] != nil }
    return decided
  }

  /// Returns the rejections of the held readings whose word is still unknown at the end of the input, and
  /// drops these readings.
  mutating func removeUndecided() -> [Rejection] {
    defer { undecided = [] }
    return undecided.map(\.rejection)
  }
}

/// Detects when the clock that showed a device's times was set back, from the order of the readings in the
/// input.
struct DeviceClock {
  private enum Direction { case open, rising, falling }

  /// The last reading outside a repeated hour: its instant and its tick.
  private var anchor: (utc: Int64, tick: Int64)?
  private var direction = Direction.open
  private var last: Int64?
  private var highest = Int64.min

  /// Places a reading by its tick if its time may be in a repeated hour. A tick is the count of seconds that
  /// the device keeps apart from its clock. The ticks since the last reading outside the hour show in which
  /// of the hour's two passes the time is. If a person set the clock, the ticks may match neither pass. Then
  /// `placement` is returned.
  ///
  /// - Parameter placement: the zone's placement, in the first pass of a repeated hour.
  @inline(__always)
  mutating func placement(of time: DeviceTime, tick: Int64, as placement: Placement, in zone: LogbookZone)
    -> Placement
  {
    if placement.source == .zoneOverlap {
      return anchor.map { TickClock.occurrence(time, tick, placement, zone, $0) } ?? placement
    }
    if placement.source != .zoneGap { anchor = (time.seconds - Int64(placement.utcOffset), tick) }
    return placement
  }

  /// Whether the clock was set back before this reading and has not yet passed its earlier maximum. It is
  /// always false for readings with the newest first.
  mutating func isBeforeItsMaximum(_ time: DeviceTime) -> Bool {
    let now = time.seconds
    defer { last = now }
    guard let last else {
      highest = now
      return false
    }
    if direction == .open, now != last { direction = now > last ? .rising : .falling }
    // After a longer step back another export begins.
    if now > highest || highest - now > DeviceTime.largestDifference {
      highest = now
      return false
    }
    return direction == .rising && (now < highest || last < highest)
  }

  /// Starts another export. Its rows have their own order. The anchor is kept, since ticks and UTC continue.
  mutating func startExport() {
    direction = .open
    last = nil
  }
}
