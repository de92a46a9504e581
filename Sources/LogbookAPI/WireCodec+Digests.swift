// SPDX-License-Identifier: Apache-2.0

package import Logbook

// MARK: GET /v1/digests

// The JSON is parsed by hand: the member names are buckets, and each value is a list of a number and a text.
// The types and coders that `Codable` needs for this would be longer.
extension WireCodec {
  /// Writes the server's answer to `GET /v1/digests`: the count and the sum of each bucket of identities.
  /// Empty buckets are left out.
  package static func write(_ digests: IdentityDigests) -> [UInt8] {
    var out = WireWriter()
    out.raw("{\"buckets\":{")
    var isFirst = true
    for bucket in 0..<IdentityDigests.bucketCount where digests.counts[bucket] > 0 {
      if !isFirst { out.raw(",") }
      isFirst = false
      out.json(
        "\"\(hexadecimal(UInt64(bucket), 3))\":[\(digests.counts[bucket]),\"\(hexadecimal(digests.sums[bucket], 16))\"]"
      )
    }
    out.raw("}}")
    return out.bytes
  }

  /// Reads the answer with digests. Buckets that it omits are empty.
  package static func readDigests(_ body: [UInt8]) throws(JSONError) -> IdentityDigests {
    try JSONScanner.read(body) { (reader) throws(JSONError) in
      var digests = IdentityDigests()
      var isStated = false
      try reader.object { (name, reader) throws(JSONError) in
        guard name == "buckets" else { return false }
        isStated = true
        try reader.object { (name, reader) throws(JSONError) in
          guard let bucket = bucket(named: name) else {
            throw reader.error("a bucket of three hexadecimal digits is expected")
          }
          try reader.expect("[")
          let count = Int(try reader.integer())
          try reader.expect(",")
          guard let sum = UInt64(try reader.string(), radix: 16), count >= 0 else {
            throw reader.error("a count and a sum of sixteen hexadecimal digits are expected")
          }
          try reader.expect("]")
          digests.set(bucket, count: count, sum: sum)
          return true
        }
        return true
      }
      // An answer without the member `buckets` is refused. Otherwise the remote would seem to have no items,
      // and all items would be sent again.
      guard isStated else { throw reader.error("buckets are expected") }
      return digests
    }
  }

  /// The URL query of a request for the readings in these buckets of `IdentityDigests`.
  package static func queryForReadings(in buckets: [Int]) -> String { "readings=\(text(buckets))" }

  /// The URL query of a request for the records in these buckets whose ids are greater than `guid`; nil for
  /// all.
  package static func queryForRecords(in buckets: [Int], after guid: String?) -> String {
    "records=\(text(buckets))" + (guid.map { "&after=\($0)" } ?? "")
  }

  /// The URL query of a request for digests over records.
  package static let queryForRecordDigests = "of=records"

  /// Parses the buckets in a URL query; nil for an invalid text, and for more buckets than a request may
  /// have.
  package static func buckets(_ text: String) -> Set<Int>? {
    let names = text.split(separator: ",", omittingEmptySubsequences: false)
    guard names.count <= WireProtocol.maxBuckets else { return nil }
    let buckets = names.compactMap { bucket(named: $0) }
    return buckets.count == names.count ? Set(buckets) : nil
  }

  /// Writes the answer with records of some buckets.
  package static func write(_ page: RecordPage) -> [UInt8] {
    var out = WireWriter()
    out.raw("{\"records\":[")
    write(page.records, to: &out)
    out.json("],\"more\":\(page.hasMore)}")
    return out.bytes
  }

  /// Reads the answer with records of some buckets.
  package static func readRecordPage(_ body: [UInt8]) throws(JSONError) -> RecordPage {
    try JSONScanner.read(body) { (reader) throws(JSONError) in
      var page = RecordPage(records: [], hasMore: false)
      var isStated = false
      try reader.object { (name, reader) throws(JSONError) in
        switch name {
        case "records":
          try reader.array { (reader) throws(JSONError) in page.records.append(try readRecord(&reader)) }
        case "more":
          page.hasMore = try reader.flag()
          isStated = true
        default: return false
        }
        return true
      }
      guard isStated, page.records.count <= WireProtocol.maxRecords, !page.hasMore || !page.records.isEmpty
      else {
        throw reader.error("a page within its limit is expected")
      }
      return page
    }
  }

  private static func text(_ buckets: [Int]) -> String {
    buckets.sorted().map { hexadecimal(UInt64($0), 3) }.joined(separator: ",")
  }

  private static func bucket(named name: some StringProtocol) -> Int? {
    let isName =
      name.utf8.count == 3
      && name.utf8.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || ($0 >= 0x61 && $0 <= 0x66) }
    return isName ? Int(name, radix: 16) : nil
  }

  private static func hexadecimal(_ number: UInt64, _ width: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
