// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook
import Testing

/// Tests which columns of a table are read as glucose, and which are not. The tables have the columns of real
/// tables, but invented values.
@Suite struct GenericColumnTests {
  // MARK: Columns that must not be read

  @Test(arguments: [
    "value", "Wert", "level", "reading", "sugar", "Messwert", "valeur", "valor", "valore", "waarde", "værdi",
    "värde",
    "verdi", "wartość", "result", "Zucker", "azúcar", "sucre", "zucchero", "suiker", "sukker", "socker",
    "cukier",
  ])
  func aSingleColumnOfValuesWithoutAWordForGlucoseIsRefused(_ name: String) throws {
    for values in [["5.4", "6.1"], ["101", "140"]] {
      let text = "time,\(name)\n2026-05-01 07:00,\(values[0])\n2026-05-01 12:10,\(values[1])\n"
      let refusal = try #require(try ScratchFile(text).refusal(), "\(text)")
      #expect(refusal.contains("--map time=time,value=\(name)"), "\(refusal)")
    }
  }

  @Test(arguments: [
    // These tables contain boluses of insulin.
    "Id,time,value, With meal\n1,2026-05-01 07:00,0.7,1\n2,2026-05-01 12:00,16,0\n",
    "Timestamp,Name,Value,Insulin Type\n2026-05-01 07:00,Korrektur,4.5,Rapid\n",
    "Zeitstempel,Name,Wert,Insulin-Typ\n01.05.2026 07:00,Korrektur,\"4,5\",Schnell\n",
    // These tables are about medicines.
    "Timestamp,Name,Value,Medication Type\n2026-05-01 07:00,Metformin,500,Tablet\n",
    "Zeitstempel,Name,Wert,Medikamententyp\n01.05.2026 07:00,Test,100,Sonstiges\n",
    "RecID,PtID,time,MedDose,MedUnit\n1,1,2026-05-01 07:00,500,mg\n",
    // These tables contain heart rates, steps and weights.
    "Id,Time,Value\n2022484408,4/1/2016 7:54:00 AM,93\n2022484408,4/1/2016 7:54:05 AM,91\n",
    "datetime,heart_rate\n2026-05-01 07:00:00,72\n2026-05-01 07:00:05,73\n",
    "startDate,value\n2026-05-01 07:00,100\n2026-05-01 07:05,75\n",
    "date,time,weight value\n2026-05-01,07:00,75.5\n",
    // This table contains blood pressure.
    "Time,Systolic,Diastolic,mgLisinopril\n2026-09-11 13:45,140,88,0\n",
    // These tables contain laboratory values, which have the same units as glucose.
    "time,HbA1c (mmol/mol)\n2026-05-01 07:00,48\n", "time,LDL (mg/dL)\n2026-05-01 07:00,130\n",
    "time,Lactate (mmol/L)\n2026-05-01 07:00,1.4\n", "time,Triglyceride (mg/dL)\n2026-05-01 07:00,150\n",
    "time,Analyte,Value,Unit\n2026-05-01 07:00,Cholesterol,190,mg/dL\n",
    "time,bhb (mg/dL)\n2026-05-01 12:00,9\n2026-05-01 13:00,13\n",
    "time,BUN (mg/dL)\n2026-05-01 07:00,14\n", "time,tg (mg/dl)\n2026-05-01 07:00,150\n",
    "time,Chloride mmol/L\n2026-05-01 07:00,100\n", "time,total (mg/dL)\n2026-05-01 07:00,190\n",
    "time,glucose_pred\n2026-05-01 07:00,120\n", "time,simulated_glucose\n2026-05-01 07:00,120\n",
    "time,daily_glucose_intake_g\n2026-05-01 07:00,50\n",
    // In these tables, one column states what was measured in each row, but its name does not show this.
    "Date,Time,Result,Units,Sample\n2026-03-21,12:53,5.2,mmol/L,Cholesterol\n2026-03-23,12:53,6.4,mmol/L,Glucose\n",
    "Date,Time,Result,Units,Category\n2026-03-21,12:53,1.2,mmol/L,Lactate\n",
    "time,name,value,unit\n2026-05-01 07:00,Kreatinin,1.1,mg/dL\n",
    // These tables are about food.
    "date,time,logged_food,amount,unit,calorie,total_carb,dietary_fiber,sugar,protein,total_fat\n"
      + "2026-05-01,08:00,Bread,2,slice,160,80,4,12,6,2\n",
    "time,carbs (g),sugar\n2026-05-01 08:00,45,120\n",
    "Zeit;Kalorien;Eiweiß;Zucker\n01.05.2026 08:00;300;12;90\n",
    "time,food,glycemic index,carbs (g)\n2026-05-01 08:00,Bread,75,30\n2026-05-01 12:30,Rice,73,45\n",
    "time,food,Glycemic Load\n2026-05-01 08:00,Bread,12.5\n2026-05-01 12:30,Rice,8.1\n",
    "Zeit;Glykämischer Index\n01.05.2026 08:00;75\n01.05.2026 12:30;73\n",
    "heure,charge glycémique\n2026-05-01 08:00,12.5\n2026-05-01 12:30,8.1\n",
  ])
  func aTableWithoutGlucoseIsRefused(_ text: String) throws {
    #expect(try ScratchFile(text).refusal() != nil, "\(text)")
  }

  /// A column that contains only words for kinds is a column of kinds, whatever its name.
  @Test func aColumnOfKindWordsDeterminesTheKindsOfReadings() throws {
    let sensor = "Time,Glucose,Source\n2026-03-21 12:53,115,CGM\n2026-03-22 13:58,120,CGM\n"
    #expect(try Rendering.items(ofText: sensor).allSatisfy { $0.contains(#""kind":"cbg""#) })
    let mixed =
      "Date,Time,Result,Units,Test\n2026-03-21,12:53,1.2,mmol/L,Ketone\n2026-03-23,12:53,6.4,mmol/L,Glucose\n"
    let kinds = try Rendering.items(ofText: mixed).map { $0.contains(#""kind":"ketone""#) }
    #expect(kinds == [true, false])
  }

  /// Next to one of these columns, a column named `value` is not read as glucose, even if a column of units
  /// states mg/dL.
  @Test(arguments: [
    "insulin", "Insulin Type", "bolus", "basal rate", "dose", "Dosis", "dosage", "dawka", "insuline",
    "insulina",
    "heart rate", "Herzfrequenz", "fréquence cardiaque", "frecuencia cardíaca", "hartslag", "hjertefrekvens",
    "hjärtfrekvens", "tętno", "pulse", "Puls", "pouls", "polso", "steps", "Schritte", "pasos", "passi",
    "passos",
    "stappen", "steg", "skridt", "kroki", "ketones", "Ketone", "cétones", "chetoni", "HbA1c", "A1c", "weight",
    "Gewicht", "poids", "peso", "vægt", "vikt", "waga", "blood pressure", "Blutdruck", "presión",
    "pression artérielle",
    "bloeddruk", "blodtryk", "ciśnienie", "systolic", "medication", "Medikament", "médicament", "medicamento",
    "lek", "läkemedel", "carbs", "Kohlenhydrate", "glucides", "hidratos", "koolhydraten", "kolhydrater",
    "węglowodany",
    "duration", "pump", "workout",
  ])
  func aTableOfValuesNextToAColumnOfAnotherSubjectIsRefused(_ other: String) throws {
    let rows = "2026-05-01 07:00,101,mg/dL,\n2026-05-01 12:00,140,mg/dL,\n"
    let refusal = try ScratchFile("time,value,unit,\(other)\n\(rows)").refusal()
    #expect(refusal?.contains("is of something else") == true, "\(other): \(refusal ?? "taken")")
    // The same table is read if the column of values is named glucose.
    #expect(try ScratchFile("time,glucose,unit,\(other)\n\(rows)").readings().readings.count == 2, "\(other)")
  }

  @Test(arguments: [
    "Test", "Lab test", "Marker", "Item", "Measurement", "Observation", "Component", "Label", "Description",
    "Category", "Code", "LOINC", "Messgröße", "Untersuchung", "Examen", "Prueba",
  ])
  func aTableOfValuesNextToWordsForAnotherSubjectIsRefused(_ name: String) throws {
    let rows = "2026-05-01,07:10,Ferritin,190\n2026-05-01,07:12,Folate,101\n2026-05-01,07:13,Albumin,150\n"
    let file = try ScratchFile("Date,Time,\(name),Result (mg/dL)\n" + rows)
    let refusal = try #require(try file.refusal())
    #expect(refusal.contains("'\(name)' may name things other than glucose"), "\(refusal)")
    let map = ["date": "Date", "clock": "Time", "value": "Result (mg/dL)"]
    // Even if `--map` names the column of values, the rows with glucose must still be selected.
    #expect(try file.refusal { $0.columns = map }?.contains("'\(name)' marks some rows") == true)
    // A table is read if the column of values is named for glucose, or if the words are those of a diary.
    #expect(try ScratchFile("Date,Time,\(name),Glucose (mg/dL)\n" + rows).readings().readings.count == 3)
    let meals = rows.replacing("Ferritin", with: "Breakfast").replacing("Folate", with: "After lunch")
      .replacing("Albumin", with: "Blood glucose")
    #expect(
      try ScratchFile("Date,Time,\(name),Result (mg/dL)\n" + meals).readings().readings.count == 3)
  }

  @Test func aTableOfSeveralTestsIsRefusedWithTheOptionForGlucoseRows() throws {
    let rows = "2026-05-01,07:10,Cholesterol,190\n2026-05-01,07:12,Glucose,101\n2026-05-01,07:13,LDL,150\n"
    let file = try ScratchFile("Date,Time,Test,Result (mg/dL)\n" + rows)
    let refusal = try #require(try file.refusal())
    #expect(refusal.contains("--where Test=Glucose"), "\(refusal)")
    let readings = try file.readings { $0.rows = [RowFilter(column: "Test", value: "Glucose")] }.readings
    #expect(readings.map { $0.measurement.quantity?.number } == [101])
  }

  @Test func aColumnOfSugarInFoodIsNeverSuggested() throws {
    let text = "time,calories,sugar\n2026-05-01 07:00,160,90\n2026-05-01 12:00,300,120\n"
    let refusal = try #require(try ScratchFile(text).refusal())
    #expect(!refusal.contains("--map"), "\(refusal)")
  }

  @Test func rowsWithoutAUnitAreRejectedIfOnlyTheUnitShowsGlucose() throws {
    let text =
      "time,value,unit\n2026-05-01 07:00,101,mg/dL\n2026-05-01 07:10,72,\n2026-05-01 12:00,104,mg/dL\n"
    let result = try ScratchFile(text).readings()
    #expect(result.readings.count == 2 && result.rejections.map(\.line) == [3])
  }

  @Test func rowsWithoutAKindAreSkippedIfOnlyTheKindShowsGlucose() throws {
    let text =
      "time,type,value\n2026-05-01 07:00,blood glucose,101\n2026-05-01 07:10,,72\n2026-05-01 07:20,heart rate,73\n"
    let export = try TextExport(text) { $0.unit = .milligramsPerDecilitre }
    #expect(export.readings.count == 1 && export.rejections.isEmpty)
    #expect(export.skipped == ["row without a kind": 1, "heart rate": 1])
  }

  @Test func rowsOfOtherKindsDoNotDetermineTheGlucoseUnit() throws {
    let text =
      "time,type,value\n2026-05-01 07:00,blood glucose,5.4\n2026-05-01 07:10,heart rate,72\n"
      + "2026-05-01 12:00,blood glucose,6.1\n"
    let export = try TextExport(text)
    #expect(export.readings.map(\.measurement.unit) == [.millimolesPerLitre, .millimolesPerLitre])
  }

  // MARK: Columns that must be read

  @Test(arguments: [
    // These tables have a column named for glucose next to columns of other things.
    "time;glucose;calories;heart_rate;steps;basal_rate;bolus_volume_delivered;carb_input\n"
      + "2026-05-01T07:00:00;101;6.1;82;0;0.09;0;0\n",
    "timestamp,glucose_level,finger_stick,basal,temp_basal,bolus,meal,sleep,basis_heart_rate\n"
      + "2026-05-01 07:00:00,101,,0.9,,,,,72\n",
    "creationDate,heart_rate,blood_glucose,insulin_dose,dietary_carbohydrates\n2026-05-01 07:00:00,72,101,4,30\n",
    "id,fecha,hora,glucosa_mg_dl,etiqueta,notas\n1,2026-05-01,07:00,101,AYUNAS,\n",
    "timestamp,blood sugar,insulin\n2026-05-01 07:00,101,4\n", "time,bloodSugar\n2026-05-01 07:00,101\n",
    "Data;Godzina;Cukier we krwi (mg/dl)\n01.05.2026;07:00;101\n", "Data,Ora,Glicose\n2026-05-01,07:00,101\n",
    "Fecha,Hora,Azúcar en sangre\n2026-05-01,07:00,101\n", "id,time,gl\n1,2026-05-01 07:00,101\n",
    // These tables have a unit of glucose in the header, or next to each value.
    "Timestamp,Value (mg/dL)\n2026-05-01 07:00,101\n", "Date,Time,Reading [mg/dl]\n2026-05-01,07:00,101\n",
    "Date;Time;Value;Unit;Notes\n20.09.2026;07:30;101;mg/dL;ok\n",
    "time,Pomiar (mg/dl)\n2026-05-01 07:00,101\n",
    // These tables have the flags of a meter next to its values.
    "Datum;Uhrzeit;Messwert;Einheit;Temperaturwarnung;Außerhalb Zielbereich;Vor Mahlzeit;Nüchtern;Schlafenszeit\n"
      + "01.05.2026;07:00;101;mg/dL;;;X;;\n",
    "Date,Time,Result,Unit,Temperature warning,Out of target range,Before meal,Fasting,Bedtime\n"
      + "2026-05-01,07:00,101,mg/dL,,,X,,\n",
    // These tables have a title that names glucose.
    "Blood glucose log\ntime,value,note\n2026-05-01 07:00,101,a\n",
    "Glukosetagebuch;;\nZeitpunkt;Wert;Notiz\n2026-05-01 07:00;101;\n",
    // This table has a word for the kind in each row.
    "time,type,value\n2026-05-01 07:00,Blood glucose,101\n",
  ])
  func aTableWithAColumnNamedGlucoseIsRead(_ text: String) throws {
    #expect(try ScratchFile(text).readings().readings.compactMap { $0.measurement.quantity?.number } == [101])
  }

  @Test(arguments: ["Glucose and insulin log", "Insulin", "Bericht"])
  func aTableWhoseTitleDoesNotNameOnlyGlucoseIsRefused(_ title: String) throws {
    let text = "\(title)\ntime,value\n2026-05-01 07:00,101\n2026-05-01 12:00,140\n"
    #expect(try ScratchFile(text).refusal() != nil)
  }

  // MARK: Two series

  @Test func aCapillaryColumnNextToSensorValuesIsReadAsFingerSticks() throws {
    let text =
      "Date,CGM (mg / dl),CBG (mg / dl)\n2026-05-01 07:00,101,\n2026-05-01 07:15,104,98\n2026-05-01 07:30,,97\n"
    let file = try ScratchFile(text)
    let readings = try file.readings().readings
    #expect(readings.map(\.kind) == [.cbg, .cbg, .smbg, .smbg])
    #expect(readings.compactMap { $0.measurement.quantity?.number } == [101, 104, 98, 97])
    let export = try TextExport(text)
    #expect(export.skipped.isEmpty && export.rejections.isEmpty && export.warnings.isEmpty)
    // The values are also finger sticks if the capillary column is the only mapped one.
    let alone = try file.readings { $0.columns = ["time": "Date", "value": "CBG (mg / dl)"] }.readings
    #expect(alone.map(\.kind) == [.smbg, .smbg])
  }

  @Test func aColumnOfFingerSticksNextToASensorCanBeMapped() throws {
    let file = try ScratchFile(
      "time,glucose_level,finger_stick\n2026-05-01 07:00,101,\n2026-05-01 07:05,104,98\n2026-05-01 07:10,102,97\n"
        + "2026-05-01 07:15,103,\n")
    #expect(try file.readings().readings.count == 4)
    let both = try file.readings {
      $0.columns = ["time": "time", "value": "glucose_level", "smbg": "finger_stick"]
    }.readings
    #expect(both.count { $0.kind == .smbg } == 2 && both.count { $0.kind == .cbg } == 4)
    #expect(
      try file.refusal { $0.columns = ["time": "time", "ketone": "glucose_level", "smbg": "finger_stick"] }?
        .contains("beside the values of a sensor") == true)
  }

  // MARK: Diary rows

  @Test func diaryRowsWithoutGlucoseAreCountedByNameAndNotRejected() throws {
    let text = """
      "Tag";"Datum";"Uhrzeit";"Ereignis";"Wert";"Einheit";"Notiz"
      "Fr.";"01.05.26";"08:05";"Blutzucker";"7,4";"mmol/L";" "
      "Fr.";"01.05.26";"08:05";"Kohlenhydrate";"45";"g KH";" "
      "Fr.";"01.05.26";"08:06";"Bolus";"4,50";"U";" "
      "Fr.";"01.05.26";"09:00";"Basalrate";"0,45";"U/h";" "
      "Fr.";"01.05.26";"09:10";"Pumpe gestoppt";" ";" ";" "
      "Fr.";"01.05.26";"12:05";"Blutzucker";"5,9";"mmol/L";" "

      """
    let export = try TextExport(text)
    #expect(export.readings.compactMap { $0.measurement.quantity?.number } == [7.4, 5.9])
    #expect(export.rejections.isEmpty)
    #expect(export.skipped == ["kohlenhydrate": 1, "bolus": 1, "basalrate": 1, "pumpe gestoppt": 1])
    #expect(export.readings.map(\.deviceTime.text) == ["2026-05-01T08:05:00", "2026-05-01T12:05:00"])
  }

  @Test func valuesInUnitsOfAnotherSubjectAreCountedAndMistypedUnitsRejected() throws {
    let text =
      "time,value,unit\n2026-05-01 07:00,101,mg/dL\n2026-05-01 07:10,4,U\n2026-05-01 07:20,72,bpm\n"
      + "2026-05-01 12:00,104,mg/ld\n"
    let export = try TextExport(text)
    #expect(export.readings.count == 1 && export.rejections.map(\.line) == [5])
    #expect(export.skipped == ["value in u": 1, "value in bpm": 1])
  }

  /// `mg` is usually the unit of a medicine. It is read as a unit of glucose only if the column of values is
  /// named for glucose or mapped.
  @Test func aUnitOfMedicinesDoesNotShowThatAColumnIsGlucose() throws {
    let rows = "2026-05-01 07:00,101,mg\n2026-05-01 12:00,140,mg\n"
    let file = try ScratchFile("time,value,unit\n\(rows)")
    #expect(try file.refusal() != nil)
    #expect(try ScratchFile("Blood glucose log\ntime,value,unit\n\(rows)").refusal() != nil)
    #expect(try file.readings { $0.columns = ["time": "time", "value": "value"] }.readings.count == 2)
    #expect(try ScratchFile("time,glucose,unit\n\(rows)").readings().readings.count == 2)
  }

  @Test func aGlucoseUnitWithSpacesIsRejectedAndNotSkipped() throws {
    let text = "time,value,unit\n2026-05-01 07:00,101,mg/dL\n2026-05-01 12:00,104,mg / dL\n"
    let export = try TextExport(text)
    #expect(export.readings.count == 1 && export.rejections.map(\.line) == [3] && export.skipped.isEmpty)
  }

  // MARK: Zero for no value

  /// The time of a row. The rows are ten hours apart and begin on 2026-05-01.
  private func time(_ row: Int) -> String { DeviceTime(seconds: 1_777_593_600 + Int64(row) * 36_000).text }

  private func ketones(zeros: Int, others: [String]) -> String {
    let cells = Array(repeating: "0.0", count: zeros) + others
    return "time,glucose (mg/dL),ketones\n"
      + cells.enumerated().map { row, cell in "\(time(row)),\(90 + row % 40),\(cell)\n" }.joined()
  }

  @Test(arguments: [
    (60, [String](), 0), (57, ["0.4", "1.2", "0.6"], 3),
    // In these tables each 0 is a value, because of too few rows, too many other values, or an implausible
    // value.
    (49, [], 49), (56, ["0.4", "1.2", "0.6", "0.8"], 60), (59, ["45"], 59), (1, ["0.4"], 2),
  ])
  func zeroMeansNoValueInAColumnThatIsMostlyZero(_ zeros: Int, _ others: [String], _ count: Int) throws {
    let export = try TextExport(ketones(zeros: zeros, others: others))
    #expect(export.readings.count { $0.kind == .ketone } == count)
    #expect(export.readings.count { $0.kind != .ketone } == zeros + others.count)
  }

  @Test func aGlucoseColumnThatIsMostlyZeroRejectsNoRows() throws {
    let rows = (0..<60).map { row in "\(time(row)),\(row == 9 ? 101 : 0)\n" }.joined()
    let export = try TextExport("time,smbg (mg/dL)\n" + rows)
    #expect(export.readings.count == 1 && export.rejections.isEmpty)
    #expect(export.skipped == ["row without a value": 59])
  }
}
