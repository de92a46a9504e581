// SPDX-License-Identifier: Apache-2.0

/// Detects whether the words of a column divide the readings into several simultaneous series. These are
/// series of devices, or series of persons, whatever the name of the column.
///
/// Words that only describe readings of one series, such as their quality, never belong to two readings
/// closer than the interval of that series.
struct GenericSeries {
  private static let maxTimes = 1 << 16
  private static let maxDaysPerKept: Int64 = 1 << 20
  private static let secondsPerDay: Int64 = 86_400
  private static let maxGroups = 200
  /// The minimum number of rows of a word that may be a person.
  private static let minOfGroup = 5
  /// The maximum time between two readings of a sensor, in seconds.
  private static let longestStep: Int64 = 18 * 60

  /// Two readings that are at most this far apart cannot both be of one person if their values contradict
  /// each other.
  private static let contradictionSeconds: Int64 = 5 * 60
  private static let minContradictions = 3
  private static let maxPersons = 20
  /// Within this time, one person rarely measures twice.
  private static let nearSeconds: Int64 = 3600
  /// Two persons who measure at the same meals do so within this time.
  private static let mealSeconds: Int64 = 90 * 60
  private static let minOfOnePerson = 12

  private struct Time {
    let seconds: Int64
    let group: Int
    /// The value, in its row's unit; nil without one.
    let value: Double?
  }

  /// The index of the column in the header, and its name.
  let place: Int
  let name: String
  private var groups: [[UInt8]: Int] = [:]
  private(set) var words: [[UInt8]] = []
  private var counts: [Int] = []
  private var times: [Time] = []
  /// Only the times of every n-th day are kept, where n is this number, so that memory is limited.
  private var daysPerKept: Int64 = 1
  /// Whether the column names series only if all rows of each word are consecutive.
  private let isInRuns: Bool
  private var lastGroup: Int?
  /// Whether the column was found not to name series: a row has no word, there are too many words, or their
  /// rows are not consecutive.
  private var isOther = false

  init(place: Int, name: String, isInRuns: Bool = false) {
    self.place = place
    self.name = name
    self.isInRuns = isInRuns
  }

  /// Whether further rows may show that the column names series.
  var isUndecided: Bool { !isOther }

  /// Adds the word of a row.
  mutating func observe(_ cell: Field, at seconds: Int64, _ value: Double?) {
    guard !isOther else { return }
    let word = Array(cell.trimmed.bytes)
    let known = groups[word]
    guard !word.isEmpty, let group = known ?? newGroup(word),
      !isInRuns || known == nil || known == lastGroup
    else {
      isOther = true
      times = []
      return
    }
    lastGroup = group
    counts[group] += 1
    guard isKept(seconds) else { return }
    times.append(Time(seconds: seconds, group: group, value: value))
    while times.count > Self.maxTimes, daysPerKept < Self.maxDaysPerKept {
      daysPerKept *= 2
      times = times.filter { isKept($0.seconds) }
    }
    if times.count > Self.maxTimes { times.removeLast(times.count / 2) }
  }

  private mutating func newGroup(_ word: [UInt8]) -> Int? {
    guard groups.count < Self.maxGroups else { return nil }
    groups[word] = groups.count
    words.append(word)
    counts.append(0)
    return groups.count - 1
  }

  private func isKept(_ seconds: Int64) -> Bool {
    daysPerKept == 1 || (seconds / Self.secondsPerDay) % daysPerKept == 0
  }

  /// Whether the words divide the readings into series that overlap.
  var overlap: Bool {
    guard !isOther, words.count > 1, counts.allSatisfy({ $0 >= Self.minOfGroup }) else { return false }
    let sorted = times.sorted { ($0.seconds, $0.group) < ($1.seconds, $1.group) }
    var last: [Int: Int64] = [:]
    var steps: [Int64] = []
    for time in sorted {
      if let before = last[time.group], time.seconds > before { steps.append(time.seconds - before) }
      last[time.group] = time.seconds
    }
    steps.sort()
    guard !steps.isEmpty else { return false }
    let step = steps[steps.count / 10]
    if step > Self.longestStep { return contradict(sorted) }
    let between = zip(sorted, sorted.dropFirst()).count { first, second in
      first.group != second.group && (second.seconds - first.seconds) * 10 < step * 9
    }
    return between * 10 >= sorted.count
  }

  /// Whether readings of two words, within minutes of each other, often have values that one person cannot
  /// have. Finger sticks are too rare to compare intervals, but two persons often measure at the same meals.
  private func contradict(_ sorted: [Time]) -> Bool {
    let pairs = zip(sorted, sorted.dropFirst()).filter { first, second in
      first.group != second.group && second.seconds - first.seconds <= Self.contradictionSeconds
    }
    let contradictions = pairs.count { first, second in
      guard let one = first.value, let other = second.value else { return false }
      return max(one, other) > min(one, other) * 1.25
    }
    return contradictions >= Self.minContradictions && contradictions * 2 >= pairs.count
      && contradictions * 10 >= sorted.count || contradictInBothOrders(sorted)
  }

  /// Whether readings of two words often have contradicting values within an hour, with either word as the
  /// first one. One person's words have a fixed order: a reading before a meal always comes before the one
  /// after it.
  private func contradictInBothOrders(_ sorted: [Time]) -> Bool {
    guard words.count <= Self.maxPersons, !words.allSatisfy(PersonWord.describes) else { return false }
    let pairs = zip(sorted, sorted.dropFirst()).filter { first, second in
      guard first.group != second.group, second.seconds - first.seconds <= Self.nearSeconds,
        let one = first.value, let other = second.value
      else { return false }
      return max(one, other) > min(one, other) * 1.25
    }
    let rising = pairs.count { $0.group < $1.group }
    return pairs.count >= 2 * Self.minContradictions && pairs.count * 5 >= sorted.count
      && min(rising, pairs.count - rising) * 4 >= pairs.count
  }

  /// Whether the words describe readings of one person, such as the reasons for them. Then no word regularly
  /// follows another one, and all words occur at the same hours. The readings are never as close together as
  /// those of two persons at a meal.
  private func areOfOnePerson(_ sorted: [Time], changes: Int) -> Bool {
    let near = zip(sorted, sorted.dropFirst()).count {
      $0.group != $1.group && $1.seconds - $0.seconds <= Self.mealSeconds
    }
    guard sorted.count >= Self.minOfOnePerson, changes * 4 <= sorted.count * 3, near * 50 <= sorted.count
    else {
      return false
    }
    let hour = { (time: Time) in Int(time.seconds / 3600 % 24 + 24) % 24 }
    var groups = [Set<Int>](repeating: [], count: 24)
    for time in sorted { groups[hour(time)].insert(time.group) }
    let shared = sorted.count { time in
      [23, 0, 1].contains { !groups[(hour(time) + $0) % 24].isSubset(of: [time.group]) }
    }
    return shared * 5 >= sorted.count * 3
  }

  /// Whether the words of finger sticks may name persons. These are a few words that all look like names,
  /// that no list of other words has, and that alternate in the order of time. If two persons measure at
  /// different times, nothing else shows them.
  var mayNamePersons: Bool {
    guard !isOther, (2...Self.maxPersons).contains(words.count), !isInRuns,
      counts.allSatisfy({ $0 >= Self.minOfGroup }), words.allSatisfy(PersonWord.looksLikeName)
    else { return false }
    let sorted = times.sorted { ($0.seconds, $0.group) < ($1.seconds, $1.group) }
    let changes = zip(sorted, sorted.dropFirst()).count { $0.group != $1.group }
    let steps = zip(sorted, sorted.dropFirst()).map { $1.seconds - $0.seconds }.sorted()
    return changes * 4 >= sorted.count && !steps.isEmpty && steps[steps.count / 2] > Self.longestStep
      && !areOfOnePerson(sorted, changes: changes)
  }
}
