// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Builds the JSON of a request or answer as bytes.
package struct WireWriter: Sendable {
  /// The bytes so far.
  package private(set) var bytes: [UInt8] = []
  private var times = DeviceTimeWriter()

  /// A writer with reserved capacity in bytes.
  package init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  /// Appends JSON text unchanged.
  @inline(__always) package mutating func raw(_ text: StaticString) {
    // Most texts are one comma. To append a single byte is faster.
    if text.utf8CodeUnitCount == 1 { return bytes.append(text.utf8Start.pointee) }
    bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends a text that is already JSON, unchanged.
  package mutating func json(_ text: String) { bytes.append(contentsOf: text.utf8) }

  /// Appends a text as a JSON string.
  package mutating func string(_ text: String) { json(jsonText(text)) }

  /// Appends a text as a JSON string, or `null`.
  package mutating func string(_ text: String?) {
    if let text { string(text) } else { raw("null") }
  }

  /// Appends a whole number.
  package mutating func integer(_ number: Int64) {
    appendInteger(number, to: &bytes)
  }

  /// Appends a number in its shortest notation.
  package mutating func number(_ number: Double) {
    appendNumber(number, to: &bytes)
  }

  /// Appends a shown time as a JSON string, `"YYYY-MM-DDThh:mm:ss"`.
  package mutating func deviceTime(_ time: DeviceTime) {
    raw("\"")
    times.append(time, to: &bytes)
    raw("\"")
  }
}
