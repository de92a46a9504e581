// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Foundation
import Logbook
import Testing

@testable import Formats

@Suite struct TidepoolTests {
  private func item(_ members: String) -> String {
    #"[{"deviceId":"Sample-1","id":"i","time":"2026-05-06T12:00:00.250Z",\#(members)}]"#
  }

  @Test func theTidepoolUploadIDIsNotPartOfAReadingIdentity() throws {
    let text = item(#""type":"cbg","value":5.5,"units":"mmol/L","timezoneOffset":120"#)
    let again = text.replacing(#""id":"i""#, with: #""id":"j","uploadId":"u""#)
    #expect(try Rendering.items(ofText: text) == Rendering.items(ofText: again))
    #expect(try Rendering.items(ofText: text)[0].contains(#""tick":1778068800250"#))
  }

  @Test func tidepoolJSONAndCSVGiveTheSameReading() throws {
    let json = try Rendering.items(
      ofText: item(#""type":"smbg","subType":"manual","value":5.5,"timezoneOffset":120"#))
    let csv = try Rendering.items(
      ofText: "timezoneOffset,value,x,subType,type,time,deviceTime,deviceId\n"
        + "120.0,5.5,,manual,smbg,2026-05-06T12:00:00.250Z,,Sample-1\n")
    #expect(csv == [json[0].replacing("\"line\":1", with: "\"line\":2")])
  }

  @Test func theOffsetOfATidepoolReadingComesFromDeviceTimeRowOrTimeZone() throws {
    func time(_ members: String) throws -> String? {
      let line = try Rendering.items(ofText: item(#""type":"cbg","value":5.5"# + members)).first
      return line?.split(separator: "\"time\":").last?.split(separator: ",\"value\"").first.map(String.init)
    }
    #expect(try time("") == #""2026-05-06T14:00:00","offset":"+02:00 instant""#)
    #expect(try time(#","timezoneOffset":-60"#) == #""2026-05-06T11:00:00","offset":"-01:00 stated""#)
    let shown = #","deviceTime":"2026-05-06T07:58:30""#
    #expect(try time(shown) == #""2026-05-06T07:58:30","offset":"-04:01:30 stated""#)
    #expect(
      try time(shown + #","timezoneOffset":-240"#) == #""2026-05-06T07:58:30","offset":"-04:01:30 stated""#)
    let reset = #","deviceTime":"2010-01-01T00:00:00","timezoneOffset":-240"#
    #expect(try time(reset) == #""2026-05-06T08:00:00","offset":"-04:00 stated""#)
  }

  @Test(arguments: [
    (#"[{"code":"bg/out-of-range","value":"low","threshold":40}]"#, #""low":40,"unit":"mg/dL""#),
    (
      #""[{\"code\":\"bg/out-of-range\",\"value\":\"high\",\"threshold\":400}]""#,
      #""high":400,"unit":"mg/dL""#
    ),
    (
      #""[{'code': 'bg/out-of-range', 'value': 'high', 'threshold': 27.8}]""#, #""high":27.8,"unit":"mmol/L""#
    ),
    (#"[{"code":"a"},{"code":"bg/out-of-range","value":"low"}]"#, #""low":5.5,"unit":"mmol/L""#),
    (#"[{"code":"bg/out-of-range","value":"high","threshold":0}]"#, #""high":5.5,"unit":"mmol/L""#),
    (#"[{"code":"bg/unknown-value"}]"#, #""value":5.5,"unit":"mmol/L""#), (#""[{'code':""#, #""value":5.5"#),
  ])
  func aTidepoolAnnotationStatesThatAValueIsLowOrHigh(_ annotations: String, _ expected: String) throws {
    let lines = try Rendering.items(ofText: item(#""type":"smbg","value":5.5,"annotations":\#(annotations)"#))
    #expect(lines.first?.contains(expected) == true)
  }

  @Test func aTidepoolReadingWithAnInvalidAnnotationIsStillRead() throws {
    let mark = #""annotations":[{"code":"bg/out-of-range","value":"low"}]"#
    let lines = try Rendering.lines(ofText: item(#""type":"smbg","units":"mg/dL",\#(mark)"#))
    #expect(lines[0].contains(#""skipped":{}"#))
    #expect(lines[1].contains(#""low":null"#))
    let valued = try Rendering.items(ofText: item(#""type":"smbg","units":"mg/dL","value":19,\#(mark)"#))
    #expect(valued[0].contains(#""low":19,"unit":"mg/dL""#))
  }

  @Test(arguments: [
    (#""percent":0.65"#, #"{"minutes":90,"subtype":"basal","text":"65 %"}"#),
    (#""percent":0"#, #"{"minutes":90,"subtype":"basal","text":"0 %"}"#),
    (#""percent":1.25,"rate":0.9"#, #"{"minutes":90,"rate":0.9,"subtype":"basal"}"#),
  ])
  func aTidepoolTemporaryBasalRateInPercentIsNotReadAsUnits(_ members: String, _ fields: String) throws {
    let text = item(#""type":"basal","deliveryType":"temp","duration":5400000,\#(members)"#)
    #expect(try Rendering.items(ofText: text).first?.contains("\"fields\":\(fields)") == true)
  }

  /// The API has milliseconds. The export of the web app has minutes under the same name, and no other
  /// difference in every item.
  @Test(arguments: [
    (["120", "90"], [120.0, 90]), (["5.39951666667", "1200"], [5.4, 1200]), (["1440", "0"], [1440, 0]),
    (["7200000", "5000"], [120, 0.08]), (["1500", "7200000"], [0.03, 120]),
    (["5000", "12000"], [0.08, 0.2]),
    (["10080", "30.5"], [10080, 30.5]), (["10081", "1200"], [0.17, 0.02]),
  ])
  func theUnitOfTidepoolDurationsIsDeterminedByAllOfThem(_ durations: [String], _ minutes: [Double]) throws {
    let items = durations.enumerated().map { index, duration in
      #"{"deviceId":"Sample-1","id":"\#(index)","time":"2026-05-06T1\#(index):00:00.000Z","type":"basal","#
        + #""rate":0.8,"duration":\#(duration)}"#
    }
    let lines = try Rendering.items(ofText: "[" + items.joined(separator: ",") + "]")
    let found = lines.sorted().map { line in
      line.firstMatch(of: /"minutes":([0-9.]+)/).flatMap { Double($0.output.1) } ?? -1
    }
    #expect(found == minutes, "\(lines)")
  }

  @Test func tidepoolRecordsAreReadBeforeTheUnitOfDurationsIsKnown() throws {
    let items = (0..<1500).map { index in
      #"{"deviceId":"Sample-1","id":"\#(index)","time":"2026-05-06T12:00:00.\#(100 + index % 900)Z","#
        + #""type":"basal","rate":0.8,"duration":\#(1 + index % 60)}"#
    }
    let lines = try Rendering.items(ofText: "[" + items.joined(separator: ",") + "]")
    #expect(lines.count == 1500)
    #expect(lines.count { $0.contains(#""minutes":60,"#) } == 25)
  }

  @Test(arguments: [
    (#""duration":{"units":"minutes","value":40}"#, 40.0), (#""duration":{"units":"hours","value":1.5}"#, 90),
    (#""duration":0.0277777777777778"#, 40), (#""duration":"00:40:00""#, 40), (#""duration":2400000"#, nil),
  ])
  func tidepoolExerciseIsReadWithTheUnitsOfEachExport(_ member: String, _ minutes: Double?) throws {
    let line = try #require(try Rendering.items(ofText: item(#""type":"physicalActivity",\#(member)"#)).first)
    let found = line.firstMatch(of: /"minutes":([0-9.]+)/).flatMap { Double($0.output.1) }
    #expect(found == minutes, "\(line)")
  }

  /// A person who updates the uploader has uploads of two clients.
  @Test func theProgramsThatUploadedToTidepoolAreNotTakenForPersons() throws {
    func upload(_ client: String) -> String {
      #"{"type":"upload","time":"2026-05-06T12:00:00Z","deviceId":"Sample-1","uploadId":"u","client":\#(client)}"#
    }
    let items = [#"{"name":"uploader","version":"2.21.0"}"#, #"{"name":"uploader","version":"2.22.0"}"#].map(
      upload)
    let reading = #"{"type":"cbg","time":"2026-05-06T12:00:00Z","value":5.5,"deviceId":"Sample-1"}"#
    #expect(try Rendering.items(ofText: "[\((items + [reading]).joined(separator: ","))]").count == 1)
    let table =
      "type,time,value,deviceTime,client\ncbg,2026-05-06T12:00:00Z,5.5,2026-05-06T14:00:00,{'name': 'a'}\n"
      + "cbg,2026-05-06T12:05:00Z,5.6,2026-05-06T14:05:00,{'name': 'b'}\n"
    #expect(try Rendering.items(ofText: table).count == 2)
  }

  /// In every other format a client may be a person.
  @Test func clientsOfAnotherFormatAreTakenForPersons() {
    let entries = ["a", "b"].map {
      #"{"type":"sgv","dateString":"2026-05-06T12:00:00Z","sgv":105,"client":"\#($0)"}"#
    }
    let failure = #expect(throws: Failure.self) {
      try Rendering.items(ofText: "[\(entries.joined(separator: ","))]")
    }
    #expect(failure?.message.contains("2 people") == true)
  }

  @Test func aTidepoolDeviceIsTheSameIfItsTransmitterIsInAnObjectOrInText() throws {
    func items(_ payload: String) throws -> [String] {
      let first =
        #"{"type":"cbg","time":"2026-05-06T12:00:00Z","value":5.5,"uploadId":"u","payload":{"x":1}}"#
      let second =
        #"{"type":"cbg","time":"2026-05-06T12:05:00Z","value":5.6,"uploadId":"u","payload":\#(payload)}"#
      return try Rendering.items(ofText: "[\(first),\(second)]")
    }
    let object = try items(#"{"transmitterId":"8AAAA1"}"#)
    #expect(object.count == 2 && object[1].contains("Tidepool 8AAAA1"), "\(object)")
    #expect(try items(#""{\"transmitterId\":\"8AAAA1\"}""#) == object)
  }

  /// Both exports of the web app have the same items, with the same milliseconds.
  @Test func theTidepoolWorkbookHasTheItemsOfTheJSONExport() throws {
    func items(_ name: String) throws -> [String] {
      let inputs = try ExportInputs(path: Repository.samples.appending(path: "tidepool/\(name)").path)
      var lines: [String] = []
      for place in 0..<inputs.count {
        guard case .export(var reader) = try inputs.open(place, options: try Rendering.options()) else {
          continue
        }
        lines += try Rendering.lines(from: &reader).dropFirst()
      }
      return lines.map { $0.replacing(/"line":[0-9]+,/, with: "") }.sorted()
    }
    let json = try items("tidepool-web.json")
    #expect(json.count == 13)
    #expect(json.contains { $0.contains("1778068800452") })
    #expect(try items("tidepool-web.xlsx") == json)
  }

  @Test(arguments: [
    (#""type":"wizard","carbInput":3,"carbUnits":"exchanges""#, #""fields":{"servings":3}"#),
    (#""type":"wizard","carbInput":30,"carbUnits":"grams""#, #""fields":{"carbs":30}"#),
    (#""type":"wizard","carbInput":30"#, #""fields":{"carbs":30}"#),
    (#""type":"wizard","carbInput":3,"carbUnits":"ounces""#, #""rejected""#),
    (
      #""type":"food","nutrition":{"carbohydrate":{"net":2,"units":"exchanges"}}"#,
      #""fields":{"servings":2}"#
    ),
    (#""type":"food","nutrition":{"carbohydrate":{"net":2,"units":"ounces"}}"#, #""rejected""#),
  ])
  func tidepoolCarbohydratesAreGramsOnlyIfTheUnitIsGrams(_ members: String, _ expected: String) throws {
    #expect(try Rendering.items(ofText: item(members)).first?.contains(expected) == true)
  }

  @Test(arguments: [
    (#"{"name":"Lantus"}"#, "long"), (#"{"name":"NovoRapid"}"#, "rapid"),
    (#"{"simple":{"brand":"Tresiba"}}"#, "long"),
    (#"{"simple":{"actingType":"rapid","brand":"Lantus"}}"#, "rapid"), (#"{"name":"pen"}"#, nil),
  ])
  func aTidepoolDoseWithoutAnActingTypeGetsTheSubtypeOfItsInsulinName(_ formulation: String, _ use: String?)
    throws
  {
    let lines = try Rendering.items(
      ofText: item(#""type":"insulin","dose":{"total":9},"formulation":\#(formulation)"#))
    let found = lines[0].firstMatch(of: /"subtype":"([a-z]+)"/).map { String($0.output.1) }
    #expect(lines.count == 1 && found == use)
  }

  @Test func aTidepoolValueWithAWrongUnitIsRejected() throws {
    let lines = try Rendering.items(ofText: item(#""type":"cbg","value":104,"units":"mmol/L""#))
    #expect(lines == [#"{"rejected":1,"reason":"a glucose value outside 0.6–55 mmol/L"}"#])
  }

  @Test func nestedTidepoolValuesAreReadFromJSONAndText() throws {
    let json = item(
      #""type":"food","nutrition":{"carbohydrate":{"net":42,"units":"grams"},"fat":{"total":7}}"#)
    let text = item(#""type":"food","nutrition":"{\"carbohydrate\":{\"net\":42},\"fat\":{\"total\":7}}""#)
    let python = item(
      #""type":"food","nutrition":"{'carbohydrate': {'net': 42.0, 'x': None}, 'fat': {'total': 7}}""#)
    let lines = try [json, text, python].map { try Rendering.items(ofText: $0) }
    #expect(lines[0].first?.contains(#""fields":{"carbs":42,"fat":7}"#) == true)
    #expect(lines[0] == lines[1] && lines[1] == lines[2])
  }

  @Test func aTruncatedLastLineOfATidepoolTableProducesNoItem() throws {
    let head = "type,time,deviceTime,uploadId,value\ncbg,2026-05-06T12:00:00Z,2026-05-06T14:00:00,u,5.5\n"
    for last in [
      "cbg,2026-05-06T12:05:00Z,2026-05-06T14:05:00,u", "cbg,2026-05-06T12:05:00Z,2026-05-06T14:05:00,u,1",
    ] {
      let lines = try Rendering.lines(ofText: head + last)
      #expect(lines.count == 2)
      #expect(lines[0].contains("truncated"))
    }
  }

  @Test func aCompleteLastTidepoolLineWithoutALineEndIsRead() throws {
    let text = "type,time,value,deviceTime,uploadId\ncbg,2026-05-06T12:00:00Z,5.5,2026-05-06T14:00:00,u"
    #expect(try Rendering.lines(ofText: text).count == 2)
  }

  @Test func theSecondHeaderOfJoinedTidepoolFilesAppliesToTheRowsBelow() throws {
    let first = "type,time,value,uploadId\ncbg,2026-05-06T12:00:00Z,5.5,u\n"
    let second = "time,uploadId,value,type\n2026-05-06T12:05:00Z,u,5.6,cbg\n"
    let lines = try Rendering.items(ofText: first + second)
    #expect(lines.map { $0.contains("\"value\":5.") } == [true, true])
  }

  @Test(arguments: [
    #"[{"type":"sgv","time":"2026-05-06T12:00:00Z","sgv":120,"date":1778068800000}]"#,
    #"[{"type":"cbg","value":5}]"#, "time,value,units\n2026-05-06T12:00:00Z,5.5,mmol/L\n",
  ])
  func otherInputsAreNotRecognisedAsTidepool(_ text: String) throws {
    let head = try InputHead(text: Array(text.utf8), isWhole: true)
    #expect(try TidepoolFormat.recognise(head, options: Rendering.options()) == nil)
  }
}

@Suite struct NestedTextTests {
  private func members(_ text: String) -> [String: String] {
    Array(text.utf8).withUnsafeBufferPointer { bytes in
      guard let start = bytes.baseAddress else { return [:] }
      return NestedText.members(of: Field(start: start, count: bytes.count, shape: .quoted))
    }
  }

  @Test func nestedTextValuesHaveDottedNames() {
    #expect(members(#"{"a":{"b":[1,"x\n",null]},"c":true}"#) == ["a.b.0": "1", "a.b.1": "x\n", "c": "true"])
    #expect(members("{'a': ('it\\'s', None), 'b': nan}") == ["a.0": "it's", "b": "nan"])
  }

  @Test(arguments: [
    "{", "{'a", "{'a':", "{'a':1", "[[[", "{'a':}", "]", "{'a':1 'b':2}", "'", "\\", "{'a':'\\", "{{}:1}",
  ])
  func aNestedTextIsReadOnlyUpToItsSyntaxError(_ text: String) {
    #expect(members(text).count <= 1)
  }

  @Test func nestingAndSizeOfANestedTextAreLimited() {
    #expect(members(String(repeating: "[", count: 100_000)).isEmpty)
    let list = "[" + (0..<10_000).map(String.init).joined(separator: ",") + "]"
    #expect(members(list).count == 256)
  }
}
