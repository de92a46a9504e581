// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The action of an insulin by its name, as programs write it into `insulinType` and `insulinInjections`. Unknown names
/// are rapid: Nightscout's own programs treat every dose so.
enum InsulinName {
  /// Parts of names of insulins that act for half a day or longer: insulin glargine, detemir, degludec, icodec and NPH.
  private static let long = [
    "abasaglar", "awiqli", "basaglar", "degludec", "detemir", "glargine", "icodec", "insulatard", "isophane",
    "lantus", "levemir", "long", "nph", "protaphan", "rezvoglar", "semglee", "toujeo", "tresiba",
    "humulin i", "humulin n", "novolin n", "ultralente", "basal",
  ]
  private static let mixed = [
    "mix", "ryzodeg", "mixtard", "actraphane", "humulin m3", "70/30", "30/70", "75/25", "25/75", "50/50",
  ]

  /// The subtype of a dose of this insulin; nil for an empty name.
  static func subtype(_ name: String) -> String? {
    let name = NightscoutText.trimmed(name).lowercased()
    if name.isEmpty { return nil }
    if mixed.contains(where: name.contains) { return "mix" }
    return long.contains(where: name.contains) ? "long" : "rapid"
  }
}

/// One injection in a treatment of xDrip, which writes them as JSON text.
struct NightscoutInjection: Hashable {
  let name: String
  let units: Double

  /// The injections in a text; empty for an invalid text. API v1 may have escaped characters of HTML in it.
  static func all(_ text: String) -> [NightscoutInjection] {
    guard text.contains("{") else { return [] }
    do throws(JSONError) {
      let value = try JSONValue.read(Array(NightscoutText.unescaped(text).utf8))
      return (value.items ?? []).compactMap { item in
        guard let units = item["units"]?.jsonNumber, units > 0 else { return nil }
        return NightscoutInjection(name: item["insulin"]?.text ?? "", units: units)
      }
    } catch {
      return []
    }
  }

  var subtype: String { InsulinName.subtype(name) ?? "rapid" }
}
