// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The codes of LOINC for readings. A code fixes the dimension of the value, so the unit of the source chooses it.
enum FHIRCode {
  /// The code systems under which LOINC appears: its URL, and its OID in documents that come from HL7 version 3.
  static let systems: Set<String> = [
    "http://loinc.org", "https://loinc.org", "urn:oid:2.16.840.1.113883.6.1",
  ]

  /// What a code says of a value.
  struct Meaning {
    let kind: ReadingKind
    let unit: GlucoseUnit
    var marks: ReadingMarks = []
  }

  /// The codes that are read. Those without a method are what Apple Health and hospitals use for meters.
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

  /// The code and its name of a reading in the unit of its source; nil for a ketone value in mg/dL, which has none.
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
