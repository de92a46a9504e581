// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Formats

/// Tests tables of apps that show the values of other makers' sensors: Nutrisense, Levels, Cronometer, Gluroo
/// and a follower of Nightscout.
@Suite struct AppTableTests {
  private static func numbers(_ export: TextExport, _ kind: ReadingKind) -> [Double?] {
    export.readings.filter { $0.kind == kind }.map { $0.measurement.quantity?.number }
  }

  // MARK: Nutrisense

  private static let nutrisense =
    "class,value,time,length,photo_url,description,occurred_at,body,updated_at,started_at,ended_at,created_by\n"

  @Test func theClassColumnOfNutrisenseDeterminesTheKindOfAValue() throws {
    let export = try TextExport(bytes: TextExport.sample("nutrisense/export.csv"))
    #expect(Self.numbers(export, .cbg) == [116, 109] && Self.numbers(export, .smbg) == [103])
    #expect(
      export.recordTexts == [
        #"food 2026-09-03T12:40:00 {"text":"lunch: rice,\nbeans"}"#,
        #"exercise 2026-09-03T10:05:00 {"minutes":45,"text":"cycling"}"#,
      ])
    #expect(
      export.skipped == [
        "StepCountMeasurement": 1, "BloodPressureMeasurement": 1, "glucose without a value": 1,
        "note without a time": 1,
      ])
    #expect(export.rejections.count == 1 && !"\(export)".contains("Sample Person"))
  }

  @Test func aNutrisenseTableWithoutAFinalLineEndIsComplete() throws {
    let row = "GlucoseMeasurement,104,,,,,8/14/26 5:45,,,,,"
    let whole = try TextExport(Self.nutrisense + row)
    #expect(whole.readings.count == 1 && !whole.isTruncated)
    for count in 1...6 {
      let cut = try TextExport(Self.nutrisense + row + "\n" + row.dropLast(count))
      #expect(cut.isTruncated == (count > 5), "\(count)")
      #expect(cut.readings.count == (count > 5 ? 1 : 2), "\(count)")
    }
  }

  @Test func nutrisenseValuesThatMayBeInEitherUnitAreRefused() throws {
    let failure = #expect(throws: Failure.self) {
      _ = try TextExport(Self.nutrisense + "GlucoseMeasurement,30,,,,,8/14/26 5:45,,,,,\n")
    }
    #expect(failure?.message.contains("--unit") == true)
  }

  @Test(arguments: [
    "class,value,time\n", "class,value,length,occurred_at\n", "value,photo_url,length,occurred_at\n",
  ])
  func otherTablesAreNotRecognisedAsNutrisense(_ header: String) throws {
    #expect(try !Claims.claims(header, NutrisenseFormat.self))
  }

  // MARK: Levels

  private static let levels = "Time (UTC),Time (Local),Glucose Reading (mg/dL),Type of Reading\n"

  @Test func theUTCAndLocalTimesOfALevelsRowGiveOneInstant() throws {
    let export = try TextExport(bytes: TextExport.sample("levels/export-mgdl.csv"))
    #expect(Self.numbers(export, .cbg) == [97, 102, 105] && Self.numbers(export, .scan) == [108])
    #expect(export.readings.allSatisfy { $0.placement.utcOffset == -25200 && $0.positionKind == .tick })
    #expect(export.readings.first?.deviceTime.text == "2026-10-04T15:05:09")
    #expect(export.skipped == ["row without a value": 1, "calibration": 1] && export.rejections.count == 1)
  }

  @Test(arguments: [
    ("104,timeseries", true), ("104,timeserie", false), ("104,", false), ("104", false), ("10", false),
    ("104,directRead", true),
  ])
  func aLevelsTableThatEndsWithAKnownWordIsComplete(_ end: String, _ isWhole: Bool) throws {
    let rows = ["timeseries", "directRead"].map { "2026-09-02T15:10:11.000Z,2026-09-02T08:10:11,101,\($0)\n" }
    let export = try TextExport(
      Self.levels + rows.joined() + "2026-09-02T15:20:11.000Z,2026-09-02T08:20:11,\(end)")
    #expect(export.readings.count == (isWhole ? 3 : 2) && export.isTruncated == !isWhole)
  }

  @Test func rowsBelowAnotherHeaderInALevelsTableAreNotRead() throws {
    let row = "2026-09-02T15:20:11Z,2026-09-02T08:20:11,5,timeseries\n"
    let other = Self.levels.replacing("mg/dL", with: "mmol/L")
    let export = try TextExport(other + row + Self.levels + row.replacing(",5,", with: ",90,"))
    #expect(Self.numbers(export, .cbg) == [5] && export.rejections.count == 2)
  }

  @Test(arguments: [
    "Time (UTC),Time (Local),Glucose Reading,Type of Reading\n",
    "Time (UTC),Time (Local),Heart Rate (bpm),Type of Reading\n",
    "Time (UTC),Glucose Reading (mg/dL),Type of Reading\n",
  ])
  func otherTablesAreNotRecognisedAsLevels(_ header: String) throws {
    #expect(try !Claims.claims(header, LevelsFormat.self))
  }

  // MARK: Cronometer

  @Test func theMetricColumnOfCronometerDeterminesTheKindOfAReading() throws {
    let export = try TextExport(bytes: TextExport.sample("cronometer/biometrics.csv"))
    #expect(Self.numbers(export, .smbg) == [97, 7.3, 118] && Self.numbers(export, .ketone) == [0.6])
    #expect(export.records.isEmpty)
    #expect(
      export.skipped == [
        "Insulin": 1, "Sleep (Watch)": 1, "value without a time": 1, "Blood Pressure": 1,
      ])
    #expect(export.rejections.map(\.line) == [8])
  }

  /// In a food table, a column named glucose contains grams of this sugar, and not blood glucose.
  @Test(arguments: [
    "Day,Time,Group,Food Name,Amount,Energy (kcal),Carbs (g),Fructose (g),Galactose (g),Glucose (g),Lactose (g)\n",
    "Date,Energy (kcal),Alcohol (g),Carbs (g),Sugars (g),Glucose (g),Completed\n",
  ])
  func tablesOfFoodAreRefused(_ header: String) throws {
    let failure = #expect(throws: Failure.self) {
      _ = try TextExport(header + "2026-03-01,12:00,Lunch,Apple,182 g,95,25.1,10.7,0.00,7.7,0.00\n")
    }
    #expect(failure?.message.contains("sugar in what was eaten") == true && failure?.category == .badInput)
  }

  @Test(arguments: [
    ("104.0", true), ("104.", false), ("104", false), ("10", false), ("7.", false), ("\"104\"", true),
  ])
  func aLastCronometerAmountIsCompleteOnlyWithItsDecimals(_ amount: String, _ isWhole: Bool) throws {
    let export = try TextExport(
      "Day,Time,Group,Metric,Unit,Amount\n2026-03-02,6:55 AM,Default,Blood Glucose,mg/dL,99.0\n"
        + "2026-03-02,7:05 AM,Default,Blood Glucose,mg/dL,\(amount)")
    #expect(export.readings.count == (isWhole ? 2 : 1) && export.isTruncated == !isWhole)
  }

  // MARK: Gluroo

  @Test func aGlurooMessageWithACopyOfAValueIsNotReadAsAReading() throws {
    let export = try TextExport(bytes: TextExport.sample("gluroo/messages.csv"))
    #expect(Self.numbers(export, .cbg) == [143, 147] && Self.numbers(export, .smbg) == [139])
    #expect(export.readings.first?.position == 1_779_314_402)
    #expect(
      export.recordTexts == [
        #"insulin 2026-05-20T18:02:31 {"subtype":"rapid","units":3}"#,
        #"food 2026-05-20T18:03:10 {"carbs":25}"#,
        #"note 2026-05-20T18:07:00 {"text":"going out"}"#,
      ])
    #expect(export.skipped == ["sensor value repeated by a message": 4, "row without a value": 1])
    #expect(export.rejections.map(\.line) == [9])
  }

  @Test(
    arguments: [
      ("DOSE_INSULIN", #"{"subtype":"rapid","units":4}"#),
      ("DOSE_BASAL_INSULIN", #"{"subtype":"long","units":4}"#), ("DOSE_OTHER", #"{"units":4}"#),
      ("INSULIN", #"{"units":4}"#), ("", #"{"units":4}"#),
    ])
  func aGlurooDoseHasAUseOnlyIfTheTypeOfItsMessageIsKnown(_ type: String, _ fields: String) throws {
    let older = try TextExport(
      "date,bgl,bgl_date_millis,msg_type,dose_units,__typename\n"
        + "2026-05-20 18:02:31.400000-04:00,143.0,1779314402250.0,\(type),4.0,Message\n")
    #expect(older.recordTexts == ["insulin 2026-05-20T18:02:31 \(fields)"])
    let later = try TextExport(
      "date,bgl,eventType,msgType,doseUnits,foodG,fpBgl\n"
        + "2026-05-20T22:02:31.400Z,,message,\(type),4,,\n", zone: "America/New_York")
    #expect(later.recordTexts == ["insulin 2026-05-20T18:02:31 \(fields)"])
  }

  @Test func theLaterGlurooLayoutIsReadInTheZoneOfTheLogbook() throws {
    let export = try TextExport(bytes: TextExport.sample("gluroo/messages-utc.csv"))
    #expect(export.decision("format") == "gluroo (inferred)" && export.warnings.isEmpty)
    #expect(Self.numbers(export, .cbg) == [120, 124, 118] && Self.numbers(export, .smbg) == [132])
    #expect(export.readings.first?.position == 1_790_670_600)
    #expect(export.readings.first?.deviceTime.text == "2026-09-29T10:30:00")
    #expect(export.readings.last?.deviceTime.text == "2026-09-30T00:15:00")
    #expect(
      export.recordTexts == [
        #"insulin 2026-09-29T11:00:00 {"subtype":"rapid","units":3}"#,
        #"food 2026-09-29T11:05:00 {"carbs":40}"#, #"food 2026-09-29T12:10:00 {"carbs":5}"#,
        #"insulin 2026-09-29T12:40:00 {"subtype":"long","units":11}"#,
        #"note 2026-09-30T00:20:00 {"text":"New sensor"}"#,
      ])
    #expect(export.skipped == ["row without a value": 1] && export.rejections.map(\.line) == [10])
  }

  @Test(arguments: [
    "date,bgl,msg_type\n", "date,bgl_date_millis,msg_type\n", "bgl,bgl_date_millis,msg_type\n",
    "date,bgl,msgType,doseUnits,foodG\n", "date,bgl,doseUnits,foodG,fpBgl,affectsIob\n",
    "date,glucose,msgType,doseUnits,foodG,fpBgl\n", "timestamp,bgl,msgType,doseUnits,foodG,fpBgl\n",
    "date,bgl,trend,eventType,senderId,text,msgType,description,exerciseMins\n",
  ])
  func otherTablesAreNotRecognisedAsGluroo(_ header: String) throws {
    #expect(try !Claims.claims(header, GlurooFormat.self))
  }

  // MARK: The file of a Nightscout follower

  @Test func bothTablesOfANightscoutFollowerFileAreRead() throws {
    let export = try TextExport(bytes: TextExport.sample("cgm-entries/both-mgdl.csv"))
    #expect(Self.numbers(export, .cbg) == [162, 157] && Self.numbers(export, .smbg) == [126])
    #expect(export.devices.map(\.model) == ["Nightscout follower", "share2"])
    #expect(export.readings.first?.deviceTime.text == "2026-07-09T16:21:55")
    #expect(
      export.recordTexts == [
        #"insulin 2026-07-09T15:50:00 {"subtype":"rapid","units":5.5}"#,
        #"food 2026-07-09T15:50:00 {"carbs":60}"#, #"note 2026-07-09T15:50:00 {"text":"pasta"}"#,
        #"food 2026-07-19T15:20:00 {"carbs":12}"#,
      ])
    #expect(export.skipped == ["entry without a value": 1, "Temp Basal": 1])
    #expect(export.rejections.map(\.line) == [12])
  }

  @Test func aNightscoutFollowerTableIsRecognisedOnlyWithItsTitle() throws {
    let table = "Date,Time,Glucose (mg/dL),Type,Device,Trend,ID\n"
    #expect(try !Claims.claims(table, FollowerTablesFormat.self))
    #expect(try Claims.claims("# CGM ENTRIES\n" + table, FollowerTablesFormat.self))
    #expect(try !Claims.claims("# CGM ENTRIES\nDate,Time,Pulse,Type\n", FollowerTablesFormat.self))
  }

  @Test func nightscoutFollowerDatesInAnUndeterminedOrderAreRefused() throws {
    let text =
      "# CGM ENTRIES\nDate,Time,Glucose (mg/dL),Type,Device,Trend,ID\n"
      + "\"4/5/2026\",\"6:44:10 PM\",\"148\",\"sgv\",\"\",\"Flat\",\"A\"\n"
    let failure = #expect(throws: Failure.self) { _ = try TextExport(text) }
    #expect(failure?.message.contains("--date-order") == true)
    let given = try TextExport(text) { $0.dateOrder = "dmy" }
    #expect(given.readings.first?.deviceTime.text == "2026-05-04T18:44:10")
  }
}
