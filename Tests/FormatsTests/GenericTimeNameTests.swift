// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation
import Logbook
import Testing

/// Tests which names of columns are those of times of measurement.
@Suite struct GenericTimeNameTests {
  private func table(_ name: String) -> String {
    (10..<24).reduce(into: "\"\(name)\",Glucose (mg/dL)\n") { text, day in
      text += "2026-05-\(day) 07:05,\(90 + day)\n2026-05-\(day) 12:10,\(120 + day)\n"
    }
  }

  @Test(arguments: [
    "Time", "Date", "Datetime", "date_time", "Timestamp (YYYY-MM-DDThh:mm:ss)", "Device Timestamp",
    "EventDateTime", "displayTime", "System Time", "Time of Glucose Reading", "Date & Time", "Test date",
    "Datum/Uhrzeit", "Zeitstempel des Geräts", "Messzeit", "Fecha y hora", "Hora de la medición",
    "Date et heure", "Heure de mesure", "Data e ora", "Data/hora", "Tijdstip", "Datum en tijd", "Dato og tid",
    "Datum och tid", "Data pomiaru", "recorded_at", "measured_at", "Logged at", "start_time",
    "endDate", "dateString",
    "ts", "unix_time", "date_utc", "effectiveDateTime", "Result time", "BG time", "sensor timestamp",
    "Time (24h)",
    "timestampLocal", "TimeStamp", "isoDate", "GlucoseDisplayTime", "Transmitter Time", "Time taken", "When",
  ])
  func aColumnNameWithOnlyWordsForATimeIsRead(_ name: String) throws {
    #expect(try ScratchFile(table(name)).readings().readings.count == 28)
  }

  @Test(arguments: [
    "Time of last meal", "Expiry date", "Calibration date", "Birth date", "Date of birth", "Date printed",
    "Sensor start time", "CGM end date", "Warranty date", "Last sync time", "Report date", "Export time",
    "Appointment date", "Order date", "Meal time", "Dose time", "Bedtime", "Wake up time", "Sleep start time",
    "Enrollment date", "Download date", "Time since meal", "Date of diagnosis", "Next reading time",
    "Prediction time", "Alarm time", "Due date", "Date signed", "Visit date", "Geburtsdatum", "Verfallsdatum",
    "Fecha de nacimiento", "Heure du repas", "Time (min)", "Date x", "time zone date",
  ])
  func aTimeColumnNamedForSomethingElseIsRefusedUntilMapped(_ name: String) throws {
    let file = try ScratchFile(table(name))
    let refusal = try #require(try file.refusal(), "\(name) was read")
    #expect(refusal.contains("'\(name)'"), "\(refusal)")
    let map = ["time": name, "value": "Glucose (mg/dL)"]
    #expect(try file.readings { $0.columns = map }.readings.count == 28)
  }

  @Test(arguments: [
    ("Datum", "Čas"), ("Datum", "Vrijeme"), ("Datum", "Vreme"), ("Datum", "Ura"), ("Data", "Horário"),
    ("Data", "Hora"), ("Datums", "Laiks"), ("Data", "Laikas"), ("Data", "Amser"),
    ("Fecha de control", "Hora"),
    ("Meetdatum", "Meettijd"), ("Mätdatum", "Tid"), ("Måledato", "Klokkeslæt"),
  ])
  func columnNamesForDateAndTimeInOtherLanguagesAreRead(_ date: String, _ clock: String) throws {
    let rows = "2026-05-01,07:05,112\n2026-05-01,12:10,98\n"
    let result = try ScratchFile("\(date),\(clock),Glucose (mg/dL)\n\(rows)").readings()
    #expect(result.readings.map(\.deviceTime.text) == ["2026-05-01T07:05:00", "2026-05-01T12:10:00"])
  }

  @Test(arguments: ["Datum a čas", "Datum i vrijeme", "Datum in ura", "Data e horário"])
  func aColumnNameForDateAndTimeTogetherInAnotherLanguageIsRead(_ name: String) throws {
    #expect(try ScratchFile(table(name)).readings().readings.count == 28)
  }

  @Test(arguments: [
    "Datum narození", "Data ważności", "Datum upotrebe", "Lifetime", "Horário da refeição", "Naissance",
    "Scadenza",
  ])
  func aColumnForTimesOfSomethingElseIsRefusedInOtherLanguages(_ name: String) throws {
    #expect(try ScratchFile(table(name)).refusal()?.contains("something else") == true)
  }

  @Test func aSeparateDateOrTimeNamedForAnotherSubjectIsRefused() throws {
    let rows = "2026-05-01,07:05,112\n2026-05-01,12:10,98\n"
    for names in ["Birth date,Time", "Date,Dose time", "Expires,Time"] {
      let refusal = try #require(try ScratchFile("\(names),Glucose (mg/dL)\n\(rows)").refusal(), "\(names)")
      #expect(refusal.contains("something else than the measurement"), "\(refusal)")
    }
    #expect(try ScratchFile("Date,Time,Glucose (mg/dL)\n\(rows)").readings().readings.count == 2)
  }

  @Test func aTimeOfAnotherSubjectNextToTheMeasurementTimeIsIgnored() throws {
    let rows = "2026-05-01 07:05,2027-01-01 00:00,112\n2026-05-01 12:10,2027-02-01 10:00,98\n"
    let times = try ScratchFile("Time,Expiry time,Glucose (mg/dL)\n\(rows)").readings().readings
    #expect(times.map(\.deviceTime.text) == ["2026-05-01T07:05:00", "2026-05-01T12:10:00"])
    // With an unknown word, the second time may be the time of measurement, so the table is refused.
    #expect(try ScratchFile("Time,Kitchen time,Glucose (mg/dL)\n\(rows)").refusal() != nil)
    let parts = "2026-05-01,1950-03-04,07:05,112\n2026-05-02,1950-03-04,12:10,98\n"
    let dates = try ScratchFile("Date,Date of birth,Time,Glucose (mg/dL)\n\(parts)").readings().readings
    #expect(dates.map(\.deviceTime.text) == ["2026-05-01T07:05:00", "2026-05-02T12:10:00"])
  }

  /// The result must not depend on the order of a dictionary, which differs in each process.
  @Test func inAShortTableTheNameDecidesWhetherAColumnHasTimes() throws {
    let rows = "2026-05-01,07:05,112\n2026-05-01,12:10,98\n2026-05-02,12:20,104\n"
    let summary = "\nSummary\nAverage,118.67\nMinimum,62\nMaximum,182\n"
    let file = try ScratchFile("Date,Time,Blood sugar (mg/dL),Category\n\(rows)\(summary)")
    #expect(try file.readings().readings.count == 3)
  }

  /// A row of Dexcom Studio has times of the sensor and of the meter, each as a displayed and as an internal
  /// time.
  @Test func aSuggestedMappingOffersTheDisplayTimeOfTheValues() throws {
    let header =
      "GlucoseInternalTime\tGlucoseDisplayTime\tGlucoseValue\tMeterInternalTime\tMeterDisplayTime\tMeterValue\n"
    let rows = (10..<40).map { minute in
      "2014-05-01 14:\(minute):10\t2014-05-01 07:\(minute):10\t\(100 + minute)\t2014-05-01 15:\(minute):30\t"
        + "2014-05-01 08:\(minute):30\t\(110 + minute)\n"
    }
    let refusal = try #require(try ScratchFile(header + rows.joined()).refusal())
    let commands = refusal.split(separator: "\n").filter { $0.hasPrefix("  glucoport import ") }
    #expect(commands.count == 1, "\(refusal)")
    #expect(
      commands.first?.contains("--map time=GlucoseDisplayTime,value=GlucoseValue") == true, "\(refusal)")
  }

  @Test func aSuggestedMappingPairsATimeWithTheValueOfTheSameName() throws {
    let text =
      "glucose_measured_at,glucose_followup_value,glucose_followup_measured_at\n"
      + "2026-05-01 07:00,112,2026-05-01 09:00\n2026-05-02 07:00,98,2026-05-02 09:00\n"
    let refusal = try #require(try ScratchFile(text).refusal())
    #expect(refusal.contains("time=glucose_followup_measured_at,value=glucose_followup_value"), "\(refusal)")
    #expect(!refusal.contains("time=glucose_measured_at"), "\(refusal)")
  }
}
