// SPDX-License-Identifier: Apache-2.0

/// A count with commas between thousands.
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

/// A count with its noun: `1 reading`, `2 readings`, or with the given plural.
package func counted(_ number: Int, _ one: String, _ many: String? = nil) -> String {
  "\(grouped(number)) \(number == 1 ? one : many ?? one + "s")"
}
