// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The codes of LOINC for readings. A code fixes the dimension of the value, so the source's unit determines the code.
enum FHIRCode {
  /// The code systems of LOINC: its URL, and its OID in documents from HL7 version 3.
  static let systems: Set<String> = [
    "http://loinc.org", "https://loinc.org", "urn:oid:2.16.840.1.113883.6.1",
  ]

  /// The meaning of a code for a value.
  struct Meaning {
    let kind: ReadingKind
    let unit: GlucoseUnit
    var marks: ReadingMarks = []
  }

  /// The codes that are read. Apple Health and hospitals use those without a method for meters.
  static let meanings: [String: Meaning] = [
    "41653-7": Meaning(kind: .smbg, unit: .milligramsPerDecilitre),
    "14743-9": Meaning(kind: .smbg, unit: .millimolesPerLitre),
    "2339-0": Meaning(kind: .smbg, unit: .milligramsPerDecilitre),
    "15074-8": Meaning(kind: .smbg, unit: .millimolesPerLitre),
    "32016-8": Meaning(kind: .smbg, unit: .milligramsPerDecilitre),
    "14770-2": Meaning(kind: .smbg, unit: .millimolesPerLitre, marks: .fasting),
    "99504-3": Meaning(kind: .cbg, unit: .milligramsPerDecilitre),
    "105272-9": Meaning(kind: .cbg, unit: .millimolesPerLitre),
    "66441-7": Meaning(kind: .ketone, unit: .millimolesPerLitre),
  ]

  /// Glucose in serum or plasma that a laboratory measured.
  static let laboratory: Set<String> = ["2345-7", "14749-6"]

  /// The code of a reading in its source's unit, with the code's name; nil for ketone in mg/dL, which has none.
  static func coding(_ kind: ReadingKind, _ unit: GlucoseUnit) -> (code: String, display: String)? {
    let isMass = unit == .milligramsPerDecilitre
    let dimension = isMass ? "Mass/volume" : "Moles/volume"
    switch kind {
    case .smbg:
      return (isMass ? "41653-7" : "14743-9", "Glucose [\(dimension)] in Capillary blood by Glucometer")
    case .cbg, .scan: return (isMass ? "99504-3" : "105272-9", "Glucose [\(dimension)] in Interstitial fluid")
    case .ketone:
      return isMass ? nil : ("66441-7", "Beta hydroxybutyrate [\(dimension)] in Blood by Test strip")
    }
  }

  /// A unit by its UCUM code or its text; nil for any other unit.
  static func unit(_ text: String) -> GlucoseUnit? {
    switch text.lowercased() {
    case "mg/dl": .milligramsPerDecilitre
    case "mmol/l": .millimolesPerLitre
    default: nil
    }
  }

  /// The texts of notes that state a mark.
  static let noted: [(mark: ReadingMarks, text: String)] = [
    (.fasting, "fasting"), (.beforeMeal, "before meal"), (.afterMeal, "after meal"), (.bedtime, "bedtime"),
  ]
}
