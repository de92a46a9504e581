// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import Testing

/// What is asked and answered when two sides are compared, and when a logbook is removed.
@Suite struct DigestBodyTests {
  private func takes(_ text: String, _ read: ([UInt8]) throws -> Void) -> Bool {
    do {
      try read(Array(text.utf8))
      return true
    } catch { return false }
  }

  @Test func pagesOfRecordsComeBackAsTheyWere() throws {
    for seed in UInt64(1)...200 {
      var random = RandomBodies(seed: seed)
      let page = RecordPage(records: random.page().records, hasMore: false)
      #expect(try Bodies.readRecordPage(Bodies.write(page)) == page, "seed \(seed)")
    }
    #expect(
      !takes("{\"records\":[],\"more\":true}") { _ = try Bodies.readRecordPage($0) }, "it would never end")
    for body in ["{}", "{\"records\":[]}", "[]", "null"] {
      #expect(!takes(body) { _ = try Bodies.readRecordPage($0) }, "it says nothing")
      #expect(!takes(body) { _ = try Bodies.readDigests($0) }, "it says nothing")
    }
  }

  @Test func bucketsComeBackFromAQueryAsTheyWere() {
    let buckets = [0, 1, 0xABC, 4095]
    #expect(Bodies.queryForReadings(in: buckets) == "readings=000,001,abc,fff")
    #expect(Bodies.buckets("000,001,abc,fff") == Set(buckets))
    #expect(Bodies.queryForRecords(in: [0xAB0], after: "x") == "records=ab0&after=x")
    let most = Bodies.queryForReadings(in: Array(0..<Wire.maxBuckets)).dropFirst("readings=".count)
    #expect(Bodies.buckets(String(most))?.count == Wire.maxBuckets)
    #expect(Bodies.buckets(most + ",fff") == nil)
  }

  @Test(arguments: ["", ",", "abc,", "ab", "abcd", "+ab", "-01", "ABC", "xyz", "abc;abd", "0x1", "abc, abd"])
  func whatNamesNoBucketIsRefused(_ text: String) {
    #expect(Bodies.buckets(text) == nil)
    let name = text.replacing("\"", with: "")
    #expect(!takes("{\"buckets\":{\"\(name)\":[1,\"00\"]}}") { _ = try Bodies.readDigests($0) })
  }

  @Test func theRequestThatRemovesALogbookNamesItTwice() throws {
    var random = RandomBodies(seed: 7)
    for _ in 0..<50 {
      let (id, name) = (random.guid(), random.text(64))
      #expect(try Bodies.readPurge(Bodies.writePurge(logbook: id, name: name)) == (id, name))
    }
    let id = random.guid()
    for text in [
      "{}", "[]", "{\"logbook\":\"\(id)\"}", "{\"name\":\"a\"}", "{\"logbook\":\"a\",\"name\":\"a\"}",
      "{\"logbook\":\"\(id)\",\"name\":null}",
    ] {
      #expect(!takes(text) { _ = try Bodies.readPurge($0) }, "\(text)")
    }
  }
}
