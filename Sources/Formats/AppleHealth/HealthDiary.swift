// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Numbers equal doses and meals of an export of Apple Health.
///
/// HealthKit stores a sample once, and the export lists each sample once at the top level. So equal samples
/// of one second are different doses or foods: food diaries give all foods of a meal the time of the meal.
/// The id of the first of several equal samples is its text. The ids of the others also have a number. A
/// later export with the same samples gives the same ids.
struct HealthDiary {
  /// The maximum number of different samples. Further samples are not counted, so that equal samples among
  /// them become one record.
  private static let maxKept = 200_000

  /// The number of samples with each text. The key is the beginning of the text's digest, since the texts
  /// need more memory.
  private var counts: [UInt64: Int32] = [:]

  /// The id of the next sample with this text: the text, with a number if it is not the first one.
  mutating func id(of text: String) -> String {
    let key = Digest.uuidBytes(of: [text]).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard let count = counts[key] else {
      if counts.count < Self.maxKept { counts[key] = 1 }
      return text
    }
    counts[key] = count + 1
    return "\(text) \(count + 1)"
  }
}
