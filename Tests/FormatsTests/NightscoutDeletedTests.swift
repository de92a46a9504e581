// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Logbook
import Testing

@testable import Formats

/// Tests documents of a Nightscout site that were deleted there.
@Suite struct NightscoutDeletedTests {
  private func document(_ members: String, id: String = #""identifier":"a1","#) -> String {
    #"[{\#(id)"created_at":"2026-05-06T12:00:00Z",\#(members),"isValid":false}]"#
  }

  @Test func theRecordsOfADeletedTreatmentAreReadAsDeletedAtTheSource() throws {
    let export = try TextExport(document(#""eventType":"Meal Bolus","insulin":5,"carbs":40"#))
    #expect(export.records.map(\.sourceID) == ["a1/food", "a1/insulin"])
    #expect(
      export.records.map(\.fields) == [
        RecordFields(["carbs": .number(40)]), RecordFields(["units": .number(5), "subtype": .text("rapid")]),
      ])
    #expect(export.records.allSatisfy { $0.isDeletedAtSource && !$0.deleted } && export.skipped == [:])
    let table = try TextExport(
      "_id,created_at,eventType,insulin,isValid\na1,2026-05-06T12:00:00Z,Meal Bolus,5,false\n")
    #expect(table.records.map(\.isDeletedAtSource) == [true])
  }

  @Test func aDeletedTreatmentWithoutContentNamesTheRecordsThatItMayHaveHad() throws {
    let export = try TextExport(document(#""eventType":"Meal Bolus","insulin":null"#))
    #expect(export.records.map(\.sourceID) == ["a1/insulin", "a1/food", "a1/exercise", "a1/note"])
    #expect(export.records.allSatisfy { $0.isDeletedAtSource && $0.fields.values.isEmpty })
    #expect(export.skipped == ["deleted": 1])
  }

  @Test(arguments: [
    (#""eventType":"Meal Bolus","insulin":5"#, ""),
    (#""eventType":"Meal Bolus","insulin":5,"app":"glucoport""#, #""identifier":"a1","#),
    (#""eventType":"Meal Bolus","insulin":5,"glucoport":{"parts":[]}"#, #""identifier":"a1","#),
    (#""type":"sgv","sgv":120,"date":1778068800000"#, #""identifier":"a1","#),
    (#""type":"mbg","mbg":120,"date":1778068800000,"eventType":"BG Check""#, #""identifier":"a1","#),
  ])
  func otherDeletedDocumentsAreOnlyCounted(_ members: String, _ id: String) throws {
    let export = try TextExport(document(members, id: id))
    #expect(export.records.isEmpty && export.readings.isEmpty && export.rejections.isEmpty)
    #expect(export.skipped == ["deleted": 1])
  }
}
