// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Logbook
import Testing

@testable import Formats

@Suite struct NightscoutTests {
  private let entry = #"{"type":"sgv","date":1778068800123,"sgv":120,"device":"Sample CGM"}"#

  @Test func aNightscoutReadingIsIdentifiedByItsInstantInAnyTimeZone() throws {
    let madrid = try Rendering.items(ofText: "[\(entry)]")
    let zone = try LogbookZone(name: "America/Chicago")
    let chicago = try Rendering.items(ofText: "[\(entry)]") { $0.zone = zone }
    #expect(madrid.first?.contains(#""time":"2026-05-06T14:00:00","offset":"+02:00 instant""#) == true)
    #expect(chicago.first?.contains(#""time":"2026-05-06T07:00:00","offset":"-05:00 instant""#) == true)
    for lines in [madrid, chicago] { #expect(lines.first?.contains(#""tick":1778068800123"#) == true) }
  }

  @Test func nightscoutJSONAndTablesGiveTheSameReading() throws {
    let json = try Rendering.items(
      ofText: #"[{"type":"sgv","date":1778068800000,"sgv":120,"device":"share2"}]"#)
    let plain = try Rendering.items(ofText: #""2026-05-06T12:00:00.000Z",1778068800000,120,"Flat","share2""#)
    let header = try Rendering.items(ofText: "sgv,date,device,type\n120,1778068800000,share2,sgv\n")
    #expect(json == plain)
    #expect(header == [json[0].replacing("\"line\":1", with: "\"line\":2")])
  }

  /// `ddata` is what a server has in memory. Its members have other names than those of the database.
  @Test func entriesThatAServerHasInMemoryAreThoseOfTheDatabase() throws {
    let memory = try TextExport(
      #"{"sgvs":[{"_id":"a","mgdl":129,"mills":1778068800123,"device":"xDrip","type":"sgv","scaled":7.2}],"#
        + #""treatments":[{"_id":"t","eventType":"Bolus","insulin":4.5,"created_at":"2026-05-06T12:00:00Z"}],"#
        + #""mbgs":[{"_id":"b","mgdl":131,"mills":1778068860000,"device":"xDrip","type":"mbg"}],"cals":[]}"#)
    let stored = try TextExport(
      #"[{"type":"sgv","date":1778068800123,"sgv":129,"device":"xDrip"},"#
        + #"{"type":"mbg","date":1778068860000,"mbg":131,"device":"xDrip"}]"#)
    #expect(memory.readings.map(\.kind) == [.cbg, .smbg] && memory.records.count == 1)
    #expect(memory.readings.map(\.position) == stored.readings.map(\.position))
    #expect(memory.readings.map(\.measurement) == stored.readings.map(\.measurement))
  }

  @Test func theNamesInMemoryDoNotReplaceThoseOfTheDatabase() throws {
    let both = try TextExport(
      #"[{"type":"sgv","date":1778068800000,"sgv":120,"mgdl":99,"mills":1778068860000},"#
        + #"{"type":"cal","date":1778068800000,"mgdl":99,"mills":1778068860000,"slope":1000}]"#)
    #expect(both.readings.map(\.measurement) == [.value(Quantity(120, .milligramsPerDecilitre))])
    #expect(both.readings.map(\.position) == [1_778_068_800_000])
  }

  /// The app adds the id of the site when it sends a treatment. It writes one treatment of a site as two.
  @Test func anExportOfXDrip4iOSHasTheItemsOfTheSite() throws {
    func export(_ id: String) throws -> TextExport {
      let event = #"\#(id)"eventType":"Meal Bolus","enteredBy":"Kim","eventTime":"2026-05-06T11:58:27.130Z""#
      return try TextExport(
        #"{"BgReadings":[{"_id":"a","date":1778068800420,"type":"sgv","sgv":112,"device":"Libre 2"}],"#
          + #""Calibrations":[{"date":1778068800000,"type":"cal","slope":1000,"mbg":104,"device":"Libre 2"}],"#
          + #""Treatments":[{\#(event),"carbs":45},{\#(event),"insulin":4.5}]}"#)
    }
    let id = #""_id":"6821f0a1c3d4e5f601234510","#
    let (unsent, sent) = (try export(""), try export(id))
    let site = try TextExport(
      #"[{\#(id)"eventType":"Meal Bolus","enteredBy":"Kim","created_at":"2026-05-06T11:58:27.130Z","carbs":45,"insulin":4.5}]"#
    )
    #expect(sent.readings.count == 1 && sent.records.count == 2)
    #expect(Set(sent.records.map(\.sourceID)) == Set(site.records.map(\.sourceID)))
    #expect(Set(sent.records.map(\.source)) == ["Kim"])
    // Another source, so that the same dose without an id counts once.
    #expect(Set(unsent.records.map(\.source)) == ["xDrip4iOS file"])
    #expect(unsent.records.allSatisfy { $0.sourceID.isEmpty })
  }

  @Test func theTimeOfAnEventIsUsedOnlyIfThereIsNoOther() throws {
    let both = try TextExport(
      #"[{"created_at":"2026-05-06T12:00:00Z","eventTime":"2026-05-06T09:00:00Z","eventType":"Bolus","insulin":2}]"#
    )
    let created = try TextExport(
      #"[{"created_at":"2026-05-06T12:00:00Z","eventType":"Bolus","insulin":2}]"#)
    #expect(both.records.map(\.deviceTime) == created.records.map(\.deviceTime))
    // Events of other programs have such members, too.
    let other = #"[{"eventTime":"2026-05-06T12:00:00Z","eventType":"Bolus","insulin":2}]"#
    #expect(try !Claims.claims(other, NightscoutFormat.self))
  }

  @Test func nightscoutDatabaseTablesHaveTheIDsOfTheSite() throws {
    let id = "5cd4212a614598d46eb40db7"
    func ids(_ cell: String) throws -> [String] {
      try TextExport(
        "_id,created_at,eventType,insulin\n\(cell),2026-05-09T12:27:17Z,Meal Bolus,10.7\n"
      ).records.map(\.sourceID)
    }
    let json = try TextExport(
      #"[{"_id":"\#(id)","created_at":"2026-05-09T12:27:17Z","eventType":"Meal Bolus","insulin":10.7}]"#)
    let own = json.records.map(\.sourceID)
    #expect(own.count == 1 && own.first?.contains(id) == true)
    for cell in [id, "ObjectId(\(id))", "{'$oid': '\(id)'}", "ObjectId('\(id)')"] {
      #expect(try ids(cell) == own, "\(cell)")
    }
    for cell in ["ObjectId(5cd4)", "Object(\(id))", "\(id)0", "ObjectId(\(id)-\(id))"] {
      #expect(try ids(cell) != own, "\(cell)")
    }
  }

  @Test(arguments: [
    ("1778068800000", 0), ("\"1778068800000\"", 0), ("1778068800", 0), ("1778068800.5", 500),
    ("1.7780688e12", 0),
    ("1778068800123.9", 123), ("{\"$numberLong\":\"1778068800000\"}", 0), ("\"2026-05-06T12:00:00Z\"", 0),
    ("\"2026-05-06T12:00:00.04Z\"", 40),
    ("\"2026-05-06T14:00:00,25+0200\"", 250),
    ("\"2026-05-06t12:00:00.123456789z\"", 123),
  ])
  func nightscoutDatesAreReadInEveryNotation(_ date: String, _ milliseconds: Int) throws {
    let lines = try Rendering.items(ofText: #"[{"sgv":120,"date":\#(date)}]"#)
    #expect(lines.first?.contains("\"tick\":\(1_778_068_800_000 + milliseconds)") == true)
    let source = date.contains("+0200") ? "stated" : "instant"
    #expect(lines.first?.contains(#""time":"2026-05-06T14:00:00","offset":"+02:00 \#(source)""#) == true)
  }

  @Test(arguments: ["0", "-5", "1e300", "9e18", "true", "\"\"", "\"2026-02-30T10:00:00Z\"", "[1]"])
  func anInvalidNightscoutDateIsRejected(_ date: String) throws {
    let lines = try Rendering.items(ofText: "[\(entry),{\"sgv\":121,\"date\":\(date)}]")
    #expect(lines.count == 2)
    #expect(lines.last?.hasPrefix("{\"rejected\":1") == true)
  }

  @Test func aUTCOffsetThatTheNightscoutServerAddedIsNotUsed() throws {
    func offset(_ members: String) throws -> String? {
      let lines = try Rendering.items(ofText: #"[{"sgv":120,"date":1778068800000,\#(members)}]"#)
      return lines.first.flatMap { $0.split(separator: "\"offset\":\"").last?.prefix(6) }.map(String.init)
    }
    #expect(try offset(#""utcOffset":0,"dateString":"2026-05-06T12:00:00.000Z""#) == "+02:00")
    // A site whose server has UTC writes 0 next to each time, also without a text of it.
    #expect(try offset(#""utcOffset":0"#) == "+02:00")
    #expect(try offset(#""utcOffset":0,"dateString":"2026-05-06T12:00:00+00:00""#) == "+02:00")
    #expect(try offset(#""utcOffset":0,"dateString":"2026-05-06T08:00:00-04:00""#) == "-04:00")
    #expect(try offset(#""utcOffset":-240,"dateString":"2026-05-06T12:00:00.000Z""#) == "-04:00")
    #expect(try offset(#""dateString":"2026-05-06T17:30:00+05:30""#) == "+05:30")
    #expect(try offset(#""dateString":"05/06/2026 12:00:00 PM""#) == "+02:00")
    #expect(try offset(#""utcOffset":100000"#) == "+02:00")
  }

  @Test func theOffsetOfANightscoutReadingFollowsDaylightSavingTime() throws {
    // Summer time in Madrid ends at 2025-10-26T01:00:00Z.
    let dates = [1_761_393_600, 1_761_440_399, 1_761_440_400, 1_761_526_800].map {
      "{\"sgv\":120,\"date\":\($0)000}"
    }
    let lines = try Rendering.items(ofText: "[\(dates.joined(separator: ","))]")
    #expect(lines.map { $0.contains("+02:00") } == [true, true, false, false])
  }

  // MARK: Times of a clock

  @Test(arguments: [
    #""date":"2026-05-06T12:00:00""#, #""date":"2026-05-06T12:00:00","utcOffset":0"#,
    #""date":"2026-05-06T12:00:00","dateString":"2026-05-06T12:00:00""#,
    #""dateString":"2026-05-06 12:00:00""#,
  ])
  func aNightscoutTimeWithoutAnOffsetIsInTheTimeZoneOfTheLogbook(_ members: String) throws {
    let text = #"[{"sgv":120,\#(members)}]"#
    for (zone, offset) in [("Europe/Madrid", "+02:00"), ("America/Chicago", "-05:00")] {
      let logbook = try LogbookZone(name: zone)
      let lines = try Rendering.items(ofText: text) { $0.zone = logbook }
      #expect(lines.first?.contains(#""time":"2026-05-06T12:00:00","offset":"\#(offset) zone""#) == true)
      #expect(lines.first?.contains("tick") == false, "the place must not depend on the zone")
    }
  }

  /// The text `dateString` may state an offset in an unknown notation. If this offset were ignored, the
  /// logbook's zone could shift the time by hours.
  @Test func aNightscoutTimeWithAnUnreadableTextIsRejected() throws {
    let members = #""date":"2026-05-06 12:35:18","dateString":"Wed May 06 14:35:18 GMT+02:00 2026""#
    let export = try TextExport(#"[{"sgv":120,\#(members)}]"#)
    #expect(export.readings.isEmpty && export.rejections.count == 1)
  }

  @Test(arguments: [
    (#""date":"2026-05-06T12:00:00","dateString":"2026-05-06T12:00:00+01:00""#, "+01:00 stated"),
    (#""date":"2026-05-06T12:00:00","mills":1778068800000"#, "+02:00 instant"),
    (#""date":"2026-05-06T12:00:00","utcOffset":60"#, "+01:00 stated"),
    (#""date":"2026-05-06T12:00:00Z""#, "+02:00 instant"),
  ])
  func aUTCOffsetOrInstantInAnotherNightscoutMemberIsUsed(_ members: String, _ offset: String) throws {
    let lines = try Rendering.items(ofText: #"[{"sgv":120,\#(members)}]"#)
    #expect(lines.first?.contains(#""offset":"\#(offset)""#) == true)
  }

  @Test(arguments: [
    (#""created_at":"2026-05-06T12:00:00""#, "2026-05-06T12:00:00", "+02:00 zone"),
    (#""created_at":"2026-05-06T12:00:00","mills":1778068800000"#, "2026-05-06T14:00:00", "+02:00 instant"),
    (
      #""created_at":"2026-05-06T12:00:00","date":"2026-05-06T12:00:00Z""#, "2026-05-06T14:00:00",
      "+02:00 instant"
    ),
  ])
  func nightscoutTreatmentsHaveOffsetsLikeEntries(_ members: String, _ time: String, _ offset: String) throws
  {
    let lines = try Rendering.items(ofText: #"[{"eventType":"Note","notes":"n",\#(members)}]"#)
    #expect(lines.first?.contains(#""time":"\#(time)","offset":"\#(offset)""#) == true)
  }

  // MARK: Units

  private func entries(_ values: [String]) -> String {
    "[" + values.map { #"{"date":1778068800000,"sgv":\#($0)}"# }.joined(separator: ",") + "]"
  }

  @Test func aNightscoutValueLikeMillimolesIsNotReadAsAnErrorCode() throws {
    let lines = try Rendering.lines(ofText: entries(["5.6", "5"]))
    #expect(lines[0].contains(#""skipped":{"sensor error code":1}"#))
    #expect(lines.count == 2 && lines[1].contains("use --unit mmol/L"))
  }

  @Test func nightscoutMillimolesAreReadIfTheOptionOrTheRowStatesThem() throws {
    let given = try Rendering.lines(ofText: entries(["5.6", "6"])) { $0.unit = .millimolesPerLitre }
    #expect(given[0].contains(#""unit":"mmol/L (given)""#))
    #expect(given[1].contains(#""value":5.6,"unit":"mmol/L""#))
    #expect(given[2].contains(#""value":6,"unit":"mmol/L""#))
    let stated = try Rendering.items(ofText: entries([#"5.6,"units":"mmol""#]))
    #expect(stated[0].contains(#""value":5.6,"unit":"mmol/L""#))
    let table = try Rendering.items(ofText: "sgv,date,units\n5.6,1778068800000,mmol/L\n")
    #expect(table[0].contains(#""value":5.6,"unit":"mmol/L""#))
  }

  @Test func noValueOfANightscoutFileInMillimolesIsReadAsMilligrams() throws {
    let mbg = #"{"type":"mbg","date":1778068800000,"mbg":14}]"#
    let lines = try Rendering.items(ofText: entries(["14.2", "15", "6.1"]).dropLast() + "," + mbg)
    #expect(lines.count == 4 && lines.allSatisfy { $0.contains("use --unit mmol/L") })
  }

  /// Trio and iAPS write typed values as entries of the type `Manual`.
  @Test func aTypedNightscoutEntryIsAFingerStick() throws {
    for value in [#""glucose":110"#, #""sgv":110"#, #""mbg":110"#] {
      let typed = #"{"type":"Manual","date":1778068800000,"dateString":"2026-05-06T12:00:00Z",\#(value)}]"#
      let export = try TextExport(entries(["118", "131"]).dropLast() + "," + typed)
      #expect(export.readings.map(\.kind) == [.cbg, .cbg, .smbg], "\(value)")
      #expect(export.readings.last?.marks == .manual)
    }
    let empty = #"{"type":"Manual","date":1778068800000}]"#
    #expect(try TextExport(entries(["118"]).dropLast() + "," + empty).readings.count == 1)
  }

  @Test func aFractionAmongNightscoutMilligramsIsReadAsMilligrams() throws {
    let lines = try Rendering.items(ofText: entries(["118.5", "31.7", "15", "5.6"]))
    #expect(lines.filter { $0.contains(#""unit":"mg/dL""#) }.count == 3)
    #expect(lines.last?.contains("use --unit mmol/L") == true)
  }

  @Test func theUnitOfTreatmentsDoesNotChangeEntriesInMilligrams() throws {
    let check = #"{"eventType":"BG Check","created_at":"2026-05-06T12:00:00Z","glucose":6.1}]"#
    let text = entries(["118", "39", "5"]).dropLast() + "," + check
    let lines = try Rendering.lines(ofText: text) { $0.unit = .millimolesPerLitre }
    #expect(lines[0].contains(#""unit":"mg/dL (fixed)""#) && lines[0].contains(#""sensor error code":1"#))
    #expect(lines.filter { $0.contains(#""unit":"mg/dL","#) }.count == 2)
    #expect(lines.filter { $0.contains(#""value":6.1,"unit":"mmol/L""#) }.count == 1)
  }

  @Test func nightscoutMilligramsWithAMillimoleUnitAreRejected() throws {
    let lines = try Rendering.items(ofText: entries([#"39,"units":"mmol/L""#]))
    #expect(lines == [#"{"rejected":1,"reason":"the glucose value is above 33.3 mmol/L: is it in mg/dL?"}"#])
  }

  // MARK: Treatments

  @Test func aNightscoutTemporaryBasalRateInPercentKeepsItsNote() throws {
    let basal = #""eventType":"Temp Basal","duration":30,"percent":-35,"notes":"walk""#
    let lines = try Rendering.items(ofText: #"[{"created_at":"2026-05-06T12:00:00Z",\#(basal)}]"#)
    #expect(lines.count == 1)
    #expect(lines[0].contains(#""fields":{"minutes":30,"subtype":"basal","text":"-35 %\nwalk"}"#))
  }

  /// At the end of a temporary rate, Loop and oref0 write a duration of 0, and careportals write no duration.
  @Test(arguments: [
    #""eventType":"Temp Basal","duration":0,"absolute":0"#,
    #""eventType":"Temp Basal","duration":0,"rate":1.2"#,
    #""eventType":"Temp Basal","duration":0,"percent":-35"#, #""eventType":"Temp Basal","absolute":0"#,
    #""eventType":"Temp Basal End""#, #""eventType":"Suspend Pump""#,
  ])
  func theEndOfANightscoutTemporaryRateIsReadAsARateOfZeroMinutes(_ members: String) throws {
    let export = try TextExport(#"[{"created_at":"2026-05-06T12:00:00Z",\#(members)}]"#)
    let fields = try #require(export.records.first?.fields)
    #expect(fields["minutes"] == .number(0) && fields["subtype"] == .text("basal"))
    #expect(fields["rate"] == .number(members.contains("1.2") ? 1.2 : 0) && fields["text"] == nil)
    #expect(export.records.count == 1 && export.skipped.isEmpty)
  }

  @Test(arguments: [
    #""eventType":"Temp Basal""#, #""eventType":"Resume Pump""#,
    #""eventType":"Temporary Target","duration":0"#,
  ])
  func nightscoutEventsThatStateNoBasalRateGiveNoRecord(_ members: String) throws {
    let export = try TextExport(#"[{"created_at":"2026-05-06T12:00:00Z",\#(members)}]"#)
    #expect(export.records.isEmpty && export.skipped.values.reduce(0, +) == 1)
  }

  @Test func nightscoutInsulinThatFillsAPumpIsCountedAndNotReadAsADose() throws {
    let event = #""eventType":"Insulin Change","insulin":300,"carbs":20"#
    let export = try TextExport(#"[{"created_at":"2026-05-06T12:00:00Z",\#(event)}]"#)
    #expect(export.records.map(\.kind) == [.food] && export.rejections.isEmpty)
    #expect(export.skipped == ["insulin that fills a reservoir or a tube": 1])
  }

  /// Some programs write a percentage of the programmed rate into the member `rate`, so a rate above that of
  /// any pump is rejected.
  @Test func aNightscoutBasalRateThatNoPumpDeliversIsRejected() throws {
    func rates(_ rate: Int) throws -> TextExport {
      try TextExport(
        #"[{"created_at":"2026-05-06T12:00:00Z","eventType":"Temp Basal","duration":30,"rate":\#(rate)}]"#)
    }
    #expect(try rates(35).records.map { $0.fields["rate"] } == [.number(35)])
    let percent = try rates(90)
    #expect(percent.records.allSatisfy { $0.fields["rate"] == nil } && percent.rejections.count == 1)
  }

  @Test func theRecordsOfOneNightscoutTreatmentHaveDifferentIDs() throws {
    let text =
      #"[{"_id":"7","eventType":"Meal Bolus","created_at":"2026-05-06T12:00:00Z","insulin":2,"carbs":20,"notes":"n"}]"#
    let lines = try Rendering.items(ofText: text)
    #expect(lines.count == 2)
    #expect(lines[0].contains(#""source_id":"7/food""#))
    #expect(lines[0].contains(#""text":"n""#))
    #expect(lines[1].contains(#""source_id":"7/insulin""#))
    #expect(!lines[1].contains("text"))
  }

  @Test func aNightscoutDocumentHasOneIDInBothVersionsOfTheAPI() throws {
    let rest = #""eventType":"Note","created_at":"2026-05-06T12:00:00Z","notes":"n"}]"#
    let lines = try ["_id", "identifier"].map { try Rendering.items(ofText: #"[{"\#($0)":"65f4","# + rest) }
    #expect(lines[0] == lines[1])
  }

  @Test func nightscoutGlucoseWithoutAUnitNeedsTheUnitOption() throws {
    let text = #"[{"eventType":"BG Check","created_at":"2026-05-06T12:00:00Z","glucose":6.1}]"#
    #expect(try Rendering.items(ofText: text)[0].contains("use --unit"))
    let lines = try Rendering.items(ofText: text) { $0.unit = .millimolesPerLitre }
    #expect(lines[0].contains(#""value":6.1,"unit":"mmol/L""#))
  }

  @Test(arguments: [
    "\"2026-05-06T12:05:00.000Z\",1778069100000,12",
    "\"2026-05-06T12:05:00.000Z\",1778069100000,125,\"Flat\",",
    "\"2026-05-06T12:05:00.000Z\",1778069100000,125,\"Flat\",sha",
  ])
  func aTruncatedLastLineOfANightscoutTableProducesNoReading(_ last: String) throws {
    let text = "\"2026-05-06T12:00:00.000Z\",1778068800000,120,\"Flat\",\"share2\"\r\n" + last
    let lines = try Rendering.lines(ofText: text)
    #expect(lines.count == 2)
    #expect(lines[0].contains("truncated"))
  }

  @Test func aCompleteLastNightscoutLineWithoutALineEndIsRead() throws {
    for device in ["\"other\"", "share2"] {
      let text =
        "\"2026-05-06T12:00:00.000Z\",1778068800000,120,\"Flat\",share2\r\n,1778069100000,121,,\(device)"
      #expect(try Rendering.lines(ofText: text).count == 3)
    }
    let header = "sgv,date,device,type\n120,1778068800000,share2,sgv\n121,1778069100000,share2,sg"
    #expect(try Rendering.lines(ofText: header).count == 2)
  }

  @Test func anEmptyNightscoutAnswerIsReadWithoutAnError() throws {
    #expect(try Rendering.lines(ofText: #"{"status":200,"result":[]}"#).count == 1)
  }

  @Test(arguments: [
    #"{"status":401,"message":"Unauthorized"}"#, "[]",
    #"[{"type":"cbg","value":5,"time":"2026-05-06T12:00:00Z"}]"#,
    #"[{"eventType":"Meal","bgl":120}]"#, "date,value\n2026-05-06T12:00,120\n", "a,1778069100000,121,,b\n",
  ])
  func otherJSONIsNotRecognisedAsNightscout(_ text: String) throws {
    let head = try InputHead(text: Array(text.utf8), isWhole: true)
    #expect(try NightscoutFormat.recognise(head, options: Rendering.options()) == nil)
  }

  @Test func theSecondHeaderOfJoinedNightscoutFilesAppliesToTheRowsBelow() throws {
    let text =
      "type,sgv,date,device\nsgv,120,1778068800000,a\ndevice,date,sgv,type\na,1778069100000,121,sgv\n"
    let lines = try Rendering.items(ofText: text)
    #expect(lines.map { $0.contains(#""device":"Nightscout|a|""#) } == [true, true])
  }

  // MARK: The last line of API v1's tables

  private static let plainRow = "\"2026-06-11T07:14:02.000Z\",1781162042000,114,\"Flat\","

  @Test func aNightscoutTableWithoutDevicesIsCompleteWithoutItsLastLineEnd() throws {
    let text =
      Self.plainRow + "\r\n"
      + Self.plainRow.replacing("07:14:02", with: "07:09:02")
      .replacing("1781162042000", with: "1781161742000")
    let export = try TextExport(text)
    #expect(export.readings.count == 2 && !export.isTruncated)
    for count in 1...9 {
      let cut = try TextExport(String(text.dropLast(count)))
      #expect(cut.readings.count == 1 && cut.isTruncated, "\(count)")
    }
  }

  @Test func aTruncatedNightscoutDeviceIsNotReadAsMissing() throws {
    let export = try TextExport(Self.plainRow + "\"xDrip\"\r\n" + Self.plainRow)
    #expect(export.readings.count == 1 && export.isTruncated)
  }

  /// A value from a pump of the 600 series may be a copy of a sensor's value. Whether it is a copy is decided
  /// when readings are counted.
  @Test(arguments: [
    (#""glucoseType":"Finger","key600":"BG00000001""#, ReadingMarks.calculator),
    (#""glucoseType":"Manual","key600":"BG00000001""#, ReadingMarks.manual),
    (#""glucoseType":"Finger","key600":"BOLUS0001""#, ReadingMarks()),
    (#""glucoseType":"Finger""#, ReadingMarks()),
  ])
  func nightscoutGlucoseFromAMedtronic600SeriesPumpIsMarked(_ members: String, _ marks: ReadingMarks) throws {
    let export = try TextExport(
      #"[{"eventType":"BG Check","created_at":"2026-05-06T12:00:00Z","glucose":111,"units":"mg/dl",\#(members)}]"#
    )
    #expect(export.readings.map(\.kind) == [.smbg] && export.readings.map(\.marks) == [marks])
  }
}
