// SPDX-License-Identifier: Apache-2.0

/// Appends the digits of a whole number, in ASCII.
@inlinable package func appendInteger(_ number: Int64, to out: inout [UInt8]) {
  if number < 0 { out.append(UInt8(ascii: "-")) }
  var rest = number.magnitude
  let start = out.count
  repeat {
    out.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
    rest /= 10
  } while rest > 0
  // The digits are swapped in place: reversing a slice would copy the bytes before it.
  var (low, high) = (start, out.count - 1)
  while low < high {
    out.swapAt(low, high)
    (low, high) = (low + 1, high - 1)
  }
}

/// Appends the bytes of `text` in this range. A slice of the array is not used: it would change the reference
/// count of the array, seven times for each line of an export.
@inlinable package func appendBytes(_ part: Range<Int>, of text: [UInt8], to out: inout [UInt8]) {
  text.withUnsafeBufferPointer { out.append(contentsOf: UnsafeBufferPointer(rebasing: $0[part])) }
}

/// Appends a number as `plainNumber` writes it.
package func appendNumber(_ number: Double, to out: inout [UInt8]) {
  if number == number.rounded(), abs(number) < 1e15 {
    appendInteger(Int64(number), to: &out)
  } else {
    out.append(contentsOf: plainNumber(number).utf8)
  }
}

/// Writes shown times one after the other, in the format of `DeviceTime.text`. It keeps the text of the last
/// date: successive rows are mostly of one day, and writing the date takes most of the time.
package struct DeviceTimeWriter: Sendable {
  private var day = Int64.min
  private var date: [UInt8] = []

  package init() {}

  /// Appends `YYYY-MM-DDThh:mm:ss`.
  package mutating func append(_ time: DeviceTime, to out: inout [UInt8]) {
    let day = DeviceTime.day(of: time.seconds)
    if day != self.day {
      self.day = day
      date = Array(DeviceTime(seconds: day * 86400).text.utf8.dropLast("00:00:00".utf8.count))
    }
    appendBytes(0..<date.count, of: date, to: &out)
    let second = Int(time.seconds - day * 86400)
    Self.appendPair(second / 3600, to: &out)
    out.append(UInt8(ascii: ":"))
    Self.appendPair(second / 60 % 60, to: &out)
    out.append(UInt8(ascii: ":"))
    Self.appendPair(second % 60, to: &out)
  }

  @inline(__always)
  private static func appendPair(_ number: Int, to out: inout [UInt8]) {
    out.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10))
    out.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
  }
}

/// A count with commas between groups of three digits: `12,345`.
package func grouped(_ number: Int) -> String {
  var digits = String(abs(number))
  var groups: [Substring] = []
  while digits.count > 3 {
    groups.insert(digits.suffix(3), at: 0)
    digits = String(digits.dropLast(3))
  }
  groups.insert(Substring(digits), at: 0)
  return (number < 0 ? "-" : "") + groups.joined(separator: ",")
}

/// A count with its noun: `1 reading` or `2 readings`. The plural of an irregular noun is given in `many`.
package func counted(_ number: Int, _ one: String, _ many: String? = nil) -> String {
  "\(grouped(number)) \(number == 1 ? one : many ?? one + "s")"
}

/// Finds the word that a person probably meant.
package enum NearestWord {
  /// The word of `words` that is most similar to `word`. If none is similar enough, it is the first word that
  /// begins with `word`, or nil.
  package static func of(_ word: String, among words: [String]) -> String? {
    let nearest = words.map { (name: $0, distance: distance(word, $0)) }.min { $0.distance < $1.distance }
    if let nearest, nearest.distance <= (max(word.count, nearest.name.count) + 1) / 3 { return nearest.name }
    return word.count > 1 ? words.first { $0.hasPrefix(word) } : nil
  }

  /// The distance of two words: how many letters must be inserted, removed, replaced or exchanged with their
  /// neighbours.
  package static func distance(_ first: String, _ second: String) -> Int {
    let (from, to) = (Array(first), Array(second))
    var rows = [Array(0...to.count)]
    for i in from.indices {
      var row = [i + 1]
      for j in to.indices {
        var best = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (from[i] == to[j] ? 0 : 1))
        if i > 0, j > 0, from[i] == to[j - 1], from[i - 1] == to[j] {
          best = min(best, rows[i - 1][j - 1] + 1)
        }
        row.append(best)
      }
      rows.append(row)
    }
    return rows[from.count][to.count]
  }
}
