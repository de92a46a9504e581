// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import Testing

@testable import Commands

/// Tests how `add` interprets the words of a typed line, and which words are unknown or ambiguous.
@Suite struct EntryWordsTests {
  /// What a typed line means, for example `smbg 6.1 mmol/L; food {"carbs":45}; text soup`.
  private func meaning(_ line: String, _ unit: GlucoseUnit?) throws -> String {
    let options = try EntryLine.parse(EntryLines.words(line)).options
    let words = try EntryWords(options, unit: unit)
    try words.requireWhole(options)
    let readings = words.readings.map { reading in
      switch reading.measurement {
      case .value(let quantity):
        "\(reading.kind.name) \(plainNumber(quantity.number)) \(quantity.unit.name)"
      case .low: "\(reading.kind.name) LO"
      case .high: "\(reading.kind.name) HI"
      }
    }
    let records = EntryWords.recordKinds.compactMap { kind in
      words.changes[kind].map { "\(kind.rawValue) \($0.applied(to: RecordFields()).json)" }
    }
    return (readings + records + (words.text.map { ["text \($0)"] } ?? [])).joined(separator: "; ")
  }

  @Test(arguments: [
    ("6.1", "smbg 6.1 mmol/L"), ("6,1", "smbg 6.1 mmol/L"), ("110", "smbg 110 mg/dL"), ("6", "smbg 6 mmol/L"),
    ("25.0", "smbg 25 mmol/L"), ("25mmol", "smbg 25 mmol/L"), ("25 mg/dL", "smbg 25 mg/dL"),
    ("110MG/DL", "smbg 110 mg/dL"), ("6.1 mmol/l", "smbg 6.1 mmol/L"), ("LO", "smbg LO"), ("HI", "smbg HI"),
    ("--kind scan 6.1", "scan 6.1 mmol/L"), ("--kind ketone 0.4", "ketone 0.4 mmol/L"),
    ("0.4 mmol ketones", "ketone 0.4 mmol/L"), ("ketones 0,4", "ketone 0.4 mmol/L"),
    ("ketones 0.4 mmol/L", "ketone 0.4 mmol/L"), ("ketones 0.4mmol", "ketone 0.4 mmol/L"),
    ("0.4ketones 6.1", "ketone 0.4 mmol/L; smbg 6.1 mmol/L"),
    (
      "6.1 45g 4.5U rapid \"soup\"",
      "smbg 6.1 mmol/L; food {\"carbs\":45}; insulin {\"subtype\":\"rapid\",\"units\":4.5}; text soup"
    ),
    (
      "soup rapid 4.5 u 45 G 6.1",
      "smbg 6.1 mmol/L; food {\"carbs\":45}; insulin {\"subtype\":\"rapid\",\"units\":4.5}; text soup"
    ),
    ("'4.5 U' --subtype long", "insulin {\"subtype\":\"long\",\"units\":4.5}"),
    ("300kcal 2 servings", "food {\"energy\":300,\"servings\":2}"),
    ("30min 4000 steps", "exercise {\"minutes\":30,\"steps\":4000}"), ("1.5h", "exercise {\"minutes\":90}"),
    ("0.85U/h", "insulin {\"rate\":0.85}"), ("after swimming", "text after swimming"),
    ("6.1 soup", "smbg 6.1 mmol/L; text soup"), ("45g Anna's cake", "food {\"carbs\":45}; text Anna's cake"),
    ("--note '2 rolls' 30g", "food {\"carbs\":30}; text 2 rolls"),
    ("felt bad --subtype health", "text felt bad"), ("110 45g", "smbg 110 mg/dL; food {\"carbs\":45}"),
    ("110 0.4ketones", "smbg 110 mg/dL; ketone 0.4 mmol/L"),
    ("4.5U rapid 6.1", "smbg 6.1 mmol/L; insulin {\"subtype\":\"rapid\",\"units\":4.5}"),
    ("6.1 300kcal", "smbg 6.1 mmol/L; food {\"energy\":300}"),
    ("ketones 0.4 6.1", "ketone 0.4 mmol/L; smbg 6.1 mmol/L"),
    ("6.1 before exercise", "smbg 6.1 mmol/L; text before exercise"),
    // A word that only contains the name of another measure, such as `pulse` in `impulsive`, is text.
    ("120 impulsive eating", "smbg 120 mg/dL; text impulsive eating"),
    ("6.1 depression 45g", "smbg 6.1 mmol/L; food {\"carbs\":45}; text depression"),
    ("10.5 steps", "exercise {\"steps\":10.5}"),
    ("LO mmol", "smbg LO"), ("HI mg/dL 4U", "smbg HI; insulin {\"units\":4}"),
    ("6.1 --note fasting", "smbg 6.1 mmol/L; text fasting"),
    ("walk 30 min after lunch", "exercise {\"minutes\":30}; text walk after lunch"),
    ("6.1 after 30 min walk", "smbg 6.1 mmol/L; exercise {\"minutes\":30}; text after walk"),
    ("4U forgot lantus", "insulin {\"units\":4}; text forgot lantus"),
    ("4U before lantus", "insulin {\"units\":4}; text before lantus"),
    ("45g low fat yoghurt", "food {\"carbs\":45}; text low fat yoghurt"),
    ("6.1 30min yoga", "smbg 6.1 mmol/L; exercise {\"minutes\":30}; text yoga"),
    ("30 min on the bike", "exercise {\"minutes\":30}; text on the bike"),
    ("20g protein", "food {\"protein\":20}"),
    ("30g 3 g protein 10g fat", "food {\"carbs\":30,\"fat\":10,\"protein\":3}"),
    ("45g fat-free milk", "food {\"carbs\":45}; text fat-free milk"),
    ("30g carbs", "food {\"carbs\":30}; text carbs"),
    ("12U lantus", "insulin {\"subtype\":\"long\",\"units\":12}; text lantus"),
    ("10U Humulin N", "insulin {\"subtype\":\"long\",\"units\":10}; text Humulin N"),
    ("4U NovoRapid 45g", "food {\"carbs\":45}; insulin {\"subtype\":\"rapid\",\"units\":4}; text NovoRapid"),
    ("4U slow walk", "insulin {\"units\":4}; text slow walk"),
    ("4U lantus --subtype rapid", "insulin {\"subtype\":\"rapid\",\"units\":4}; text lantus"),
    ("6.1 this is fine", "smbg 6.1 mmol/L; text this is fine"),
    ("saw the doctor yesterday", "text saw the doctor yesterday"),
    ("110 mornings are hard", "smbg 110 mg/dL; text mornings are hard"),
    ("6.1 - soup", "smbg 6.1 mmol/L; text - soup"),
  ])
  func aTypedLineIsReadAsTheDocumentedEntry(_ line: String, _ expected: String) throws {
    #expect(try meaning(line, nil) == expected)
  }

  @Test(arguments: [
    ("6.1", GlucoseUnit.millimolesPerLitre, "smbg 6.1 mmol/L"),
    ("110", .milligramsPerDecilitre, "smbg 110 mg/dL"),
    ("110mg/dL", .millimolesPerLitre, "smbg 110 mg/dL"),
  ])
  func aTypedNumberIsReadInTheUnitOfTheSetting(_ line: String, _ unit: GlucoseUnit, _ expected: String) throws
  {
    #expect(try meaning(line, unit) == expected)
  }

  private func refusal(_ line: String, _ unit: GlucoseUnit?) throws -> String {
    do {
      return "accepted: " + (try meaning(line, unit))
    } catch let failure as Failure {
      return failure.message
    } catch {
      return EntryLine.message(for: error)
    }
  }

  @Test(arguments: [
    ("25", "can be glucose in mmol/L and in mg/dL; write 25mmol or 25mg/dL"),
    ("700", "is not a glucose value"),
    ("0.5", "is not a glucose value"), ("1,234 steps", "write 1234 or 1.2340"), ("6.1 7.2", "given twice"),
    ("6.1 110mg/dL", "given twice"), ("0.4ketones 0.5ketones", "given twice"),
    ("45g 50g", "carbs is set twice"),
    ("45gg", "did you mean g?"), ("45 rolls", "may be a glucose value and a text"),
    ("2 rolls", "may be a glucose value and a text"), ("45xyz", "is not a unit"), ("18:30 45g", "--at"),
    ("2026-05-06 45g", "--at"), ("rapid", "needs an amount"), ("soup --mark fasting", "--mark and --kind"),
    ("6.1 --subtype health", "only for an entry that is a text alone"),
    ("45g --subtype rapid", "needs an amount"),
    ("6.1 --mark hungry", "Unknown mark"), ("6.1 --kind cbg", "cannot be typed"), ("", "nothing to add"),
    ("501U", "more than the 500"), ("61mmol", "outside 0.6–55 mmol/L"), ("21ketones", "outside 0–20"),
    ("45g soup --note bread", "is a text, and --note is another one"), ("1.2.3g", "not a number"),
    (".5.U", "not a number"),
    ("4.5 IE", "may be a glucose value and a text"), ("4.5 units", "may be a glucose value and a text"),
    ("7.5 units novorapid", "may be a glucose value"), ("2.5 BE", "may be a glucose value"),
    ("4.5 U,", "may be a glucose value"),
    // The text has two Kelvin signs (U+212A). In lower case they become the letter k, which has fewer bytes.
    ("110 \u{212A}\u{212A}", "may be a glucose value and a text"), ("5.5 U/day", "may be a glucose value"),
    ("insulin 4", "4 may belong to 'insulin'"), ("bolus 5", "may belong"), ("food 12", "may belong"),
    ("carbs 45", "may belong"), ("Novorapid 7", "may belong"), ("pulse 80", "may belong"),
    ("weight 75", "may belong"), ("rapid 4", "may belong"), ("soup 6.1", "may belong"),
    ("160 Ruhepuls", "may belong to 'Ruhepuls'"), ("Ruhepuls 45g 60", "may belong to 'Ruhepuls'"),
    ("140 blood pressure", "may belong to 'pressure'"),
    ("insulin 45g 6.1", "may belong to 'insulin'"), ("7.5 novorapid", "may belong to 'novorapid'"),
    ("insulin 0.4 --kind ketone", "may belong"),
    ("1 000 steps", "may be one number or two"), ("4 5U", "may be one number or two"),
    ("110 000 steps", "may be one number or two"), ("40 05g", "may be one number or two"),
    ("10.000 steps", "write 10000 or 10.0000"), ("1.000 kcal", "write 1000 or 1.0000"),
    ("hi", "write HI"), ("lo 4U", "write LO"), ("\u{BD}U", "not an amount"),
    ("6.1 before-meal", "write --mark before-meal"),
    ("110 2h after lunch", "'2h' next to 'after' may be a time"), ("6.1 30 min after meal", "may be a time"),
    ("45g 4U 10 min before eating", "may be a time"), ("110 mg/dl 4 U 2 h later", "may be a time"),
    ("110 2h ago", "may be a time"), ("6.1 2h pp", "may be a time"), ("110 1h nach Essen", "may be a time"),
    ("6.1 measured 30 min after meal", "may be a time"), ("110 after 2h", "may be a time"),
    ("110 hace 2h", "may be a time"),
    ("110 yesterday", "'yesterday' says that the entry is of another time; write --at"),
    ("6.1 this morning", "'this morning' says"),
    ("45g an hour ago", "'ago' says"), ("110 Gestern", "says that"), ("45g heute früh", "says that"),
    ("4U ayer", "says that"),
    ("110 2h", "may be a time"), ("45g 30min", "may be a time"), ("4U 10min", "may be a time"),
    ("20g whey protein", "may be protein"), ("20g protein shake", "may be protein or carbohydrates"),
    ("protein 20g", "may be protein"),
    ("5g fibre", "is not an amount of carbohydrates"),
    ("6.1 %", "may be a glucose value and a text"),
    ("\"soup", "quotation mark"), ("--frce 45g", "frce"), ("4.5U rapid long", "subtype is set twice"),
  ])
  func aTypedLineWithAnUnknownOrAmbiguousWordIsRefused(_ line: String, _ part: String) throws {
    let refusal = try refusal(line, nil)
    #expect(refusal.contains(part), "\(refusal)")
  }

  /// If the variable of a script is empty, the script passes an empty word.
  @Test func anEmptyWordAfterATypedNumberIsNotReadAsAUnit() throws {
    let line = "110 '' bread"
    #expect(try EntryLines.words(line) == ["110", "", "bread"])
    #expect(try meaning(line, nil).hasPrefix("smbg 110 mg/dL"))
  }

  /// A number that is implausible in the unit of the logbook is not read in the other unit: a decimal point
  /// may be missing.
  @Test(arguments: [("61", GlucoseUnit.millimolesPerLitre), ("6.1", .milligramsPerDecilitre)])
  func aTypedNumberImplausibleInTheUnitOfTheSettingIsRefused(_ line: String, _ unit: GlucoseUnit) throws {
    #expect(
      try refusal(line, unit).contains("is not a glucose value in \(unit.name), the unit of this logbook"))
  }

  @Test func unusualTypedAmountsAreAcceptedWithForce() throws {
    #expect(try meaning("501U --force", nil).contains("501"))
    #expect(try refusal("20000mg/dL --force", nil).contains("outside"))
  }
}
