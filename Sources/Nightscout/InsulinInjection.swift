// SPDX-License-Identifier: Apache-2.0

import Logbook

/// One injection of a dose. xDrip+ stores a list of them as JSON text, and writes it to Nightscout.
package struct InsulinInjection: Hashable, Sendable {
  /// The name of the insulin, as the person named it in the app.
  package let name: String
  package let units: Double

  /// The injections in a text; empty if the text is invalid. API v1 may have escaped characters of HTML in
  /// it.
  package static func all(_ text: String) -> [InsulinInjection] {
    guard text.contains("{") else { return [] }
    do throws(JSONError) {
      let value = try JSONValue.read(Array(NightscoutText.unescaped(text).utf8))
      return (value.items ?? []).compactMap { item in
        guard let units = item["units"]?.jsonNumber, units > 0 else { return nil }
        return InsulinInjection(name: NightscoutText.trimmed(item["insulin"]?.text ?? ""), units: units)
      }
    } catch {
      return []
    }
  }

  /// The subtype of the dose.
  package var subtype: String { InsulinName.treatmentSubtype(name) ?? "rapid" }
}

extension InsulinName {
  /// The subtype for the insulin of a treatment; nil for an empty name. Unknown names are rapid, since
  /// Nightscout's programs treat all insulin as rapid.
  static func treatmentSubtype(_ name: String) -> String? {
    let name = NightscoutText.trimmed(name)
    return name.isEmpty ? nil : subtype(name) ?? "rapid"
  }
}
