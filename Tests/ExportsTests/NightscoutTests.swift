// SPDX-License-Identifier: Apache-2.0

import Logbook
import Testing

@testable import Exports

@Suite struct NightscoutTests {
  private let entry = #"{"type":"sgv","date":1778068800123,"sgv":120,"device":"Sample CGM"}"#

  @Test func theIdentityIsTheInstantInAnyZone() throws {
    let madrid = try Rendering.items(ofText: "[\(entry)]")
    let zone = try LogbookZone(name: "America/Chicago")
    let chicago = try Rendering.items(ofText: "[\(entry)]") { $0.zone = zone }
    #expect(madrid.first?.contains(#""time":"2026-05-06T14:00:00","offset":"+02:00 stated""#) == true)
    #expect(chicago.first?.contains(#""time":"2026-05-06T07:00:00","offset":"-05:00 stated""#) == true)
    for lines in [madrid, chicago] { #expect(lines.first?.contains(#""tick":1778068800123"#) == true) }
  }

  @Test func jsonAndTablesGiveTheSameReading() throws {
    let json = try Rendering.items(
      ofText: #"[{"type":"sgv","date":1778068800000,"sgv":120,"device":"share2"}]"#)
    let plain = try Rendering.items(ofText: #""2026-05-06T12:00:00.000Z",1778068800000,120,"Flat","share2""#)
    let header = try Rendering.items(ofText: "sgv,date,device,type\n120,1778068800000,share2,sgv\n")
    #expect(json == plain)
    #expect(header == [json[0].replacing("\"line\":1", with: "\"line\":2")])
  }

  @Test(arguments: [
    ("1778068800000", 0), ("\"1778068800000\"", 0), ("1778068800", 0), ("1778068800.5", 500),
    ("1.7780688e12", 0),
    ("1778068800123.9", 123), ("{\"$numberLong\":\"1778068800000\"}", 0), ("\"2026-05-06T12:00:00Z\"", 0),
    ("\"2026-05-06T12:00:00.04Z\"", 40), ("\"2026-05-06T12:00:00\"", 0),
    ("\"2026-05-06T14:00:00,25+0200\"", 250),
    ("\"2026-05-06t12:00:00.123456789z\"", 123),
  ])
  func datesAreReadInEveryForm(_ date: String, _ milliseconds: Int) throws {
    let lines = try Rendering.items(ofText: #"[{"sgv":120,"date":\#(date)}]"#)
    #expect(lines.first?.contains("\"tick\":\(1_778_068_800_000 + milliseconds)") == true)
    #expect(lines.first?.contains(#""time":"2026-05-06T14:00:00","offset":"+02:00 stated""#) == true)
  }

  @Test(arguments: ["0", "-5", "1e300", "9e18", "true", "\"\"", "\"2026-02-30T10:00:00Z\"", "[1]"])
  func aDateThatIsNoneIsRejected(_ date: String) throws {
    let lines = try Rendering.items(ofText: "[\(entry),{\"sgv\":121,\"date\":\(date)}]")
    #expect(lines.count == 2)
    #expect(lines.last?.hasPrefix("{\"rejected\":1") == true)
  }

  @Test func anOffsetThatTheServerMadeUpIsNotShown() throws {
    func offset(_ members: String) throws -> String? {
      let lines = try Rendering.items(ofText: #"[{"sgv":120,"date":1778068800000,\#(members)}]"#)
      return lines.first.flatMap { $0.split(separator: "\"offset\":\"").last?.prefix(6) }.map(String.init)
    }
    #expect(try offset(#""utcOffset":0,"dateString":"2026-05-06T12:00:00.000Z""#) == "+02:00")
    #expect(try offset(#""utcOffset":0"#) == "Z stat")
    #expect(try offset(#""utcOffset":-240,"dateString":"2026-05-06T12:00:00.000Z""#) == "-04:00")
    #expect(try offset(#""dateString":"2026-05-06T17:30:00+05:30""#) == "+05:30")
    #expect(try offset(#""dateString":"05/06/2026 12:00:00 PM""#) == "+02:00")
    #expect(try offset(#""utcOffset":100000"#) == "+02:00")
  }

  @Test func theZonesOffsetFollowsTheDayOfAChange() throws {
    // 2025-10-26T01:00:00Z ends summer time in Madrid.
    let dates = [1_761_393_600, 1_761_440_399, 1_761_440_400, 1_761_526_800].map {
      "{\"sgv\":120,\"date\":\($0)000}"
    }
    let lines = try Rendering.items(ofText: "[\(dates.joined(separator: ","))]")
    #expect(lines.map { $0.contains("+02:00") } == [true, true, false, false])
  }

  @Test func treatmentsOfOneMomentHaveTheirOwnIDs() throws {
    let text =
      #"[{"eventType":"Meal Bolus","created_at":"2026-05-06T12:00:00Z","insulin":2,"carbs":20,"notes":"n"}]"#
    let lines = try Rendering.items(ofText: text)
    #expect(lines.count == 2)
    #expect(lines[0].contains(#""source_id":"2026-05-06T12:00:00ZMeal Bolus/food""#))
    #expect(lines[0].contains(#""text":"n""#))
    #expect(lines[1].contains(#""source_id":"2026-05-06T12:00:00ZMeal Bolus/insulin""#))
    #expect(!lines[1].contains("text"))
  }

  @Test func aDocumentHasOneIDInBothVersionsOfTheAPI() throws {
    let rest = #""eventType":"Note","created_at":"2026-05-06T12:00:00Z","notes":"n"}]"#
    let lines = try ["_id", "identifier"].map { try Rendering.items(ofText: #"[{"\#($0)":"65f4","# + rest) }
    #expect(lines[0] == lines[1])
  }

  @Test func glucoseWithoutAUnitNeedsTheOption() throws {
    let text = #"[{"eventType":"BG Check","created_at":"2026-05-06T12:00:00Z","glucose":6.1}]"#
    #expect(try Rendering.items(ofText: text)[0].contains("say --unit"))
    let lines = try Rendering.items(ofText: text) { $0.unit = .millimolesPerLitre }
    #expect(lines[0].contains(#""value":6.1,"unit":"mmol/L""#))
  }

  @Test(arguments: [
    "\"2026-05-06T12:05:00.000Z\",1778069100000,12",
    "\"2026-05-06T12:05:00.000Z\",1778069100000,125,\"Flat\",",
    "\"2026-05-06T12:05:00.000Z\",1778069100000,125,\"Flat\",sha",
  ])
  func aCutLastLineGivesNoReading(_ last: String) throws {
    let text = "\"2026-05-06T12:00:00.000Z\",1778068800000,120,\"Flat\",\"share2\"\r\n" + last
    let lines = try Rendering.lines(ofText: text)
    #expect(lines.count == 2)
    #expect(lines[0].contains("truncated"))
  }

  @Test func aLastLineWithoutLineEndIsReadWhenItIsWhole() throws {
    for device in ["\"other\"", "share2"] {
      let text =
        "\"2026-05-06T12:00:00.000Z\",1778068800000,120,\"Flat\",share2\r\n,1778069100000,121,,\(device)"
      #expect(try Rendering.lines(ofText: text).count == 3)
    }
    let header = "sgv,date,device,type\n120,1778068800000,share2,sgv\n121,1778069100000,share2,sg"
    #expect(try Rendering.lines(ofText: header).count == 2)
  }

  @Test func anEmptyAnswerIsNoError() throws {
    #expect(try Rendering.lines(ofText: #"{"status":200,"result":[]}"#).count == 1)
  }

  @Test(arguments: [
    #"{"status":401,"message":"Unauthorized"}"#, "[]",
    #"[{"type":"cbg","value":5,"time":"2026-05-06T12:00:00Z"}]"#,
    #"[{"eventType":"Meal","bgl":120}]"#, "date,value\n2026-05-06T12:00,120\n", "a,1778069100000,121,,b\n",
  ])
  func othersAreNotTakenForNightscout(_ text: String) throws {
    let head = try InputHead(text: Array(text.utf8), isWhole: true)
    #expect(NightscoutFormat.recognise(head) == nil)
  }

  @Test func joinedFilesGoOnWithTheNewHeader() throws {
    let text =
      "type,sgv,date,device\nsgv,120,1778068800000,a\ndevice,date,sgv,type\na,1778069100000,121,sgv\n"
    let lines = try Rendering.items(ofText: text)
    #expect(lines.map { $0.contains(#""device":"Nightscout|a|""#) } == [true, true])
  }
}
