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
  // In place: reversing a slice would copy the bytes before it.
  var (low, high) = (start, out.count - 1)
  while low < high {
    out.swapAt(low, high)
    (low, high) = (low + 1, high - 1)
  }
}

/// Appends a number in the form of `plainNumber`.
package func appendNumber(_ number: Double, to out: inout [UInt8]) {
  if number == number.rounded(), abs(number) < 1e15 {
    appendInteger(Int64(number), to: &out)
  } else {
    out.append(contentsOf: plainNumber(number).utf8)
  }
}

/// Writes shown times in sequence, in the form of `DeviceTime.text`. It keeps the last date, since rows are mostly of
/// one day and the date is most of the work.
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
    out.append(contentsOf: date)
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
