// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookAPI
import Testing

/// Tests the bodies of comparisons, and of the request to delete a logbook.
@Suite struct DigestBodyTests {
  private func takes(_ text: String, _ read: ([UInt8]) throws -> Void) -> Bool {
    do {
      try read(Array(text.utf8))
      return true
    } catch { return false }
  }

  @Test func aPageOfRecordsIsReadBackUnchanged() throws {
    for seed in UInt64(1)...200 {
      var random = RandomBodies(seed: seed)
      let page = RecordPage(records: random.page().records, hasMore: false)
      #expect(try WireCodec.readRecordPage(WireCodec.write(page)) == page, "seed \(seed)")
    }
    #expect(
      !takes("{\"records\":[],\"more\":true}") { _ = try WireCodec.readRecordPage($0) }, "it would never end")
    for body in ["{}", "{\"records\":[]}", "[]", "null"] {
      #expect(!takes(body) { _ = try WireCodec.readRecordPage($0) }, "it says nothing")
      #expect(!takes(body) { _ = try WireCodec.readDigests($0) }, "it says nothing")
    }
  }

  @Test func bucketsInAQueryAreReadBackUnchanged() {
    let buckets = [0, 1, 0xABC, 4095]
    #expect(WireCodec.queryForReadings(in: buckets) == "readings=000,001,abc,fff")
    #expect(WireCodec.buckets("000,001,abc,fff") == Set(buckets))
    #expect(WireCodec.queryForRecords(in: [0xAB0], after: "x") == "records=ab0&after=x")
    let most = WireCodec.queryForReadings(in: Array(0..<WireProtocol.maxBuckets)).dropFirst("readings=".count)
    #expect(WireCodec.buckets(String(most))?.count == WireProtocol.maxBuckets)
    #expect(WireCodec.buckets(most + ",fff") == nil)
  }

  @Test(arguments: ["", ",", "abc,", "ab", "abcd", "+ab", "-01", "ABC", "xyz", "abc;abd", "0x1", "abc, abd"])
  func anInvalidListOfDigestBucketsIsRefused(_ text: String) {
    #expect(WireCodec.buckets(text) == nil)
    let name = text.replacing("\"", with: "")
    #expect(!takes("{\"buckets\":{\"\(name)\":[1,\"00\"]}}") { _ = try WireCodec.readDigests($0) })
  }

  @Test func aRequestToDeleteALogbookMustStateItsIDAndName() throws {
    var random = RandomBodies(seed: 7)
    for _ in 0..<50 {
      let (id, name) = (random.guid(), random.text(64))
      #expect(try WireCodec.readPurge(WireCodec.writePurge(logbook: id, name: name)) == (id, name))
    }
    let id = random.guid()
    for text in [
      "{}", "[]", "{\"logbook\":\"\(id)\"}", "{\"name\":\"a\"}", "{\"logbook\":\"a\",\"name\":\"a\"}",
      "{\"logbook\":\"\(id)\",\"name\":null}",
    ] {
      #expect(!takes(text) { _ = try WireCodec.readPurge($0) }, "\(text)")
    }
  }
}
