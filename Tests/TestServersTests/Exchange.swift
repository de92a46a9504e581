// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestServers

/// One recorded request to a site and the answer of the real server 15.0.7. Words and values were replaced in
/// both.
///
/// Text in braces is replaced before it is sent or compared:
/// - `{jwt full}`, `{token full}` and `{digits full}` are the credentials of the role `full`
/// - `{secret}` is the site's secret, and `{sha1}`, `{SHA1}` and `{sha512}` are its digests
/// - `{id 12}` is this site's database key for the twelfth key of the recording
/// - `{tag}` is the last ETag that the site sent
/// - `{now}` is the site's time in seconds, `{later}` the time 8 h later
/// - `{any}` is any value, `{about 1.5}` a number that rounds to 1.5
struct Exchange: Sendable {
  /// The name of the scenario and the line number of the exchange, for messages.
  let place: String
  /// The time of the site's clock.
  let time: Int64
  let method: String
  let path: String
  /// The role whose token is sent, or `secret` for the site's secret; nil for neither.
  let role: String?
  let headers: [String: String]
  let body: [UInt8]
  /// Whether the request is sent at the same time as the next one.
  let isTogether: Bool
  /// A subject that is removed from the site before the request.
  let removed: String?
  /// The status of the answer; 0 if there is no answer.
  let status: Int
  let answerHeaders: [String: String]
  /// The complete answer; nil if there was none, or if only `part` is recorded.
  let answer: DocumentValue?
  /// The recorded members of an answer that is not recorded completely.
  let part: DocumentValue?
  /// The length of the list in the answer, if only its first items are recorded.
  let count: Int?
  /// Whether the answer is late because of earlier wrong credentials.
  let isLate: Bool

  /// The error for an invalid exchange.
  struct Unreadable: Error {
    let place: String
  }

  /// - Parameter time: the time of the previous exchange, which is used if the line states none.
  init(_ line: NightscoutDocument, place: String, after time: Int64) throws {
    guard let ask = line["ask"]?.text, let status = line["is"]?.whole,
      let space = ask.firstIndex(of: " ")
    else { throw Unreadable(place: place) }
    self.place = place
    self.time = line["at"]?.whole ?? time
    self.status = Int(status)
    method = String(ask[..<space])
    path = String(ask[ask.index(after: space)...])
    role = line["by"]?.text
    removed = line["removed"]?.text
    isTogether = line["together"] == true
    var headers = (line["with"]?.object ?? [:]).compactMapValues(\.text)
    if line["send"] != nil || line["packed"] != nil, headers["Content-Type"] == nil {
      headers["Content-Type"] = "application/json"
    }
    self.headers = headers
    body = try Self.body(line, place)
    answerHeaders = (line["has"]?.object ?? [:]).compactMapValues(\.text)
    answer = line["gives"]
    part = line["shows"]
    count = line["count"]?.whole.map { Int($0) }
    isLate = line["late"] == true
  }

  /// All exchanges of a scenario, in order.
  static func scenario(_ name: String, in folder: URL) throws -> [Exchange] {
    let text = try String(contentsOf: folder.appending(path: "\(name).ndjson"), encoding: .utf8)
    var time: Int64 = 0
    return try text.split(separator: "\n").enumerated().map { number, line in
      let place = "\(name) \(number + 1)"
      guard let object = try DocumentValue(json: Array(line.utf8)).object else {
        throw Unreadable(place: place)
      }
      let exchange = try Exchange(object, place: place, after: time)
      time = exchange.time
      return exchange
    }
  }

  /// The body of a request. The line has it as a JSON value, as text, as bytes in base64, or as a text that
  /// is extended to a length.
  private static func body(_ line: NightscoutDocument, _ place: String) throws -> [UInt8] {
    if let value = line["send"] { return Array(value.json.utf8) }
    if let text = line["text"]?.text { return Array(text.utf8) }
    if let packed = line["packed"]?.text {
      guard let data = Data(base64Encoded: packed) else { throw Unreadable(place: place) }
      return Array(data)
    }
    guard let filled = line["filled"] else { return [] }
    let (start, end) = (Array((filled["start"]?.text ?? "").utf8), Array((filled["end"]?.text ?? "").utf8))
    let length = Int(filled["bytes"]?.whole ?? 0) - start.count - end.count
    return start + [UInt8](repeating: UInt8(ascii: "x"), count: max(0, length)) + end
  }
}
