// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Writes and reads the bodies of requests and of successful answers. For each body there is a pair of
/// functions.
package enum WireCodec {
  // MARK: POST /v1/readings

  /// Writes the request with readings.
  package static func writeReadings(_ batch: ReadingBatch) -> [UInt8] {
    var out = WireWriter(capacity: batch.readings.count * 96 + 256)
    out.raw("{\"series\":")
    ReadingWire.write(batch, to: &out)
    out.raw("}")
    return out.bytes
  }

  /// Reads the request with readings.
  package static func readReadings(_ body: [UInt8]) throws(JSONError) -> ReceivedReadings {
    try JSONScanner.read(body) { (reader) throws(JSONError) in
      var received: ReceivedReadings?
      try reader.object { (name, reader) throws(JSONError) in
        guard name == "series" else { return false }
        guard received == nil else { throw reader.error("a second list of series") }
        received = try ReadingWire.read(&reader, limit: WireProtocol.maxReadings)
        return true
      }
      guard let received else { throw reader.error("series are expected") }
      return received
    }
  }

  package static func write(_ answer: ReadingAnswer) -> [UInt8] {
    var out = WireWriter()
    out.raw("{\"stored\":")
    out.integer(Int64(answer.stored))
    out.raw(",\"known\":")
    out.integer(Int64(answer.known))
    out.raw(",\"differing\":[")
    out.json(answer.differing.map(String.init).joined(separator: ","))
    out.raw("],\"refused\":[")
    for (index, refused) in answer.refused.enumerated() {
      if index > 0 { out.raw(",") }
      out.raw("{\"item\":")
      out.integer(Int64(refused.item))
      out.raw(",\"reason\":")
      out.string(refused.reason)
      out.raw("}")
    }
    out.raw("],\"position\":")
    out.string(answer.position)
    out.raw("}")
    return out.bytes
  }

  /// Reads the answer to a request with `sent` readings.
  package static func readReadingAnswer(_ body: [UInt8], sent: Int) throws(JSONError) -> ReadingAnswer {
    try JSONScanner.read(body) { (reader) throws(JSONError) in
      var answer = ReadingAnswer(stored: 0, known: 0)
      try reader.object { (name, reader) throws(JSONError) in
        switch name {
        case "stored": answer.stored = Int(try reader.integer())
        case "known": answer.known = Int(try reader.integer())
        case "differing":
          try reader.array { (reader) throws(JSONError) in
            answer.differing.append(try readItem(&reader, sent))
          }
        case "refused":
          try reader.array { (reader) throws(JSONError) in
            answer.refused.append(try readRefused(&reader, sent))
          }
        case "position": answer.position = try reader.optionalToken()
        default: return false
        }
        return true
      }
      guard answer.stored >= 0, answer.known >= 0,
        answer.stored + answer.known + answer.refused.count == sent
      else { throw reader.error("an answer to \(counted(sent, "reading")) is expected") }
      return answer
    }
  }

  private static func readItem(_ reader: inout JSONScanner, _ sent: Int) throws(JSONError) -> Int {
    guard let item = Int(exactly: try reader.integer()), item >= 0, item < sent else {
      throw reader.error("an index that was not sent")
    }
    return item
  }

  private static func readRefused(_ reader: inout JSONScanner, _ sent: Int) throws(JSONError) -> RefusedItem {
    var refused = RefusedItem(item: -1, reason: "")
    try reader.object { (name, reader) throws(JSONError) in
      switch name {
      case "item": refused.item = try readItem(&reader, sent)
      case "reason": refused.reason = try reader.string()
      default: return false
      }
      return true
    }
    guard refused.item >= 0 else { throw reader.error("a refusal without its item") }
    return refused
  }

  // MARK: POST /v1/records

  /// Writes the request with changes. Each change is the JSON text that the store keeps of it.
  package static func writeChanges(_ changes: [String]) -> [UInt8] {
    Array("{\"records\":[\(changes.joined(separator: ","))]}".utf8)
  }

  /// One change in a request: either parsed, or refused with a reason.
  package enum ReceivedChange: Sendable {
    case change(RecordChange)
    case refused(reason: String)
  }

  /// Reads the request with changes. A change that is valid JSON but not a valid change is refused; the
  /// others are accepted.
  package static func readChanges(_ body: [UInt8]) throws(JSONError) -> [ReceivedChange] {
    try JSONScanner.read(body) { (reader) throws(JSONError) in
      var changes: [ReceivedChange]?
      try reader.object { (name, reader) throws(JSONError) in
        guard name == "records" else { return false }
        var list: [ReceivedChange] = []
        try reader.array { (reader) throws(JSONError) in
          guard list.count < WireProtocol.maxRecords else {
            throw reader.error("more than \(WireProtocol.maxRecords) records")
          }
          let start = reader
          do throws(JSONError) {
            list.append(.change(try RecordChange(&reader)))
          } catch {
            reader = start
            try reader.skip()
            list.append(.refused(reason: error.reason))
          }
        }
        changes = list
        return true
      }
      guard let changes else { throw reader.error("records are expected") }
      return changes
    }
  }

  /// Writes the answer to changes.
  package static func write(_ answer: RecordAnswer) -> [UInt8] {
    var out = WireWriter()
    out.raw("{\"records\":[")
    for (index, verdict) in answer.verdicts.enumerated() {
      if index > 0 { out.raw(",") }
      write(verdict, to: &out)
    }
    out.raw("],\"position\":")
    out.string(answer.position)
    out.raw("}")
    return out.bytes
  }

  private static func write(_ verdict: RecordVerdict, to out: inout WireWriter) {
    switch verdict {
    case .accepted(let revision):
      out.raw("{\"result\":\"accepted\",\"revision\":")
      out.string(revision)
    case .conflict(let revision, let state, let isBaseKnown):
      out.raw("{\"result\":\"conflict\",\"revision\":")
      out.string(revision)
      out.json(",\"base_known\":\(isBaseKnown),\"state\":\(state.json)")
    case .refused(let reason):
      out.raw("{\"result\":\"refused\",\"reason\":")
      out.string(reason)
    }
    out.raw("}")
  }

  /// Reads the answer to a request with `sent` changes.
  package static func readRecordAnswer(_ body: [UInt8], sent: Int) throws(JSONError) -> RecordAnswer {
    try JSONScanner.read(body) { (reader) throws(JSONError) in
      var answer = RecordAnswer(verdicts: [])
      try reader.object { (name, reader) throws(JSONError) in
        switch name {
        case "records":
          try reader.array { (reader) throws(JSONError) in answer.verdicts.append(try readVerdict(&reader)) }
        case "position": answer.position = try reader.optionalToken()
        default: return false
        }
        return true
      }
      guard answer.verdicts.count == sent else {
        throw reader.error("an answer to \(counted(sent, "record")) is expected")
      }
      return answer
    }
  }

  private static func readVerdict(_ reader: inout JSONScanner) throws(JSONError) -> RecordVerdict {
    var result = ""
    var revision: String?
    var state: RecordState?
    var reason = ""
    var isBaseKnown = false
    try reader.object { (name, reader) throws(JSONError) in
      switch name {
      case "result": result = try reader.string()
      case "revision": revision = try reader.token()
      case "state": state = try RecordState(&reader)
      case "base_known": isBaseKnown = try reader.flag()
      case "reason": reason = try reader.string()
      default: return false
      }
      return true
    }
    switch (result, revision, state) {
    case ("accepted", let revision?, _): return .accepted(revision: revision)
    case ("conflict", let revision?, let state?):
      return .conflict(revision: revision, state: state, isBaseKnown: isBaseKnown)
    case ("refused", _, _): return .refused(reason: reason)
    default: throw reader.error("a result with missing members")
    }
  }

  // MARK: GET /v1/changes

  /// Writes the answer with a page of changes.
  package static func write(_ page: ChangePage) -> [UInt8] {
    var out = WireWriter(capacity: page.readings.readings.count * 96 + page.records.count * 256 + 256)
    out.raw("{\"series\":")
    ReadingWire.write(page.readings, to: &out)
    out.raw(",\"records\":[")
    write(page.records, to: &out)
    out.raw("],\"cursor\":")
    out.string(page.cursor)
    out.json(",\"more\":\(page.hasMore)}")
    return out.bytes
  }

  /// Reads the answer with a page of changes.
  package static func readPage(_ body: [UInt8]) throws(JSONError) -> ChangePage {
    try JSONScanner.read(body) { (reader) throws(JSONError) in
      var received = ReceivedReadings()
      var records: [RemoteRecord] = []
      var cursor: String?
      var hasMore = false
      try reader.object { (name, reader) throws(JSONError) in
        switch name {
        case "series": received = try ReadingWire.read(&reader, limit: WireProtocol.maxReadings)
        case "records":
          try reader.array { (reader) throws(JSONError) in records.append(try readRecord(&reader)) }
        case "cursor": cursor = try reader.token()
        case "more": hasMore = try reader.flag()
        default: return false
        }
        return true
      }
      if let refused = received.refused.first { throw reader.error(refused.reason) }
      guard let cursor, records.count <= WireProtocol.maxReadings else {
        throw reader.error("a cursor and a bounded page are expected")
      }
      return ChangePage(readings: received.batch, records: records, cursor: cursor, hasMore: hasMore)
    }
  }

  static func write(_ records: [RemoteRecord], to out: inout WireWriter) {
    for (index, record) in records.enumerated() {
      if index > 0 { out.raw(",") }
      out.raw("{\"guid\":")
      out.string(record.guid)
      out.raw(",\"revision\":")
      out.string(record.revision)
      out.raw(",\"state\":")
      out.json(record.state.json)
      out.raw("}")
    }
  }

  static func readRecord(_ reader: inout JSONScanner) throws(JSONError) -> RemoteRecord {
    var guid: String?
    var revision: String?
    var state: RecordState?
    try reader.object { (name, reader) throws(JSONError) in
      switch name {
      case "guid": guid = try reader.guid()
      case "revision": revision = try reader.token()
      case "state": state = try RecordState(&reader)
      default: return false
      }
      return true
    }
    guard let guid, let revision, let state else {
      throw reader.error("guid, revision and state are expected")
    }
    return RemoteRecord(guid: guid, revision: revision, state: state)
  }

  // MARK: GET /v1/logbook

  /// Writes the answer with the logbook of the login.
  package static func write(_ logbook: RemoteLogbook) -> [UInt8] {
    var out = WireWriter()
    out.raw("{\"logbook\":")
    out.string(logbook.id)
    out.raw(",\"name\":")
    out.string(logbook.name)
    out.json(",\"role\":\"\(logbook.isWritable ? "write" : "read")\",\"time\":")
    out.string(logbook.time.map { DeviceTime(seconds: $0).text + "Z" })
    out.json(",\"limits\":{\"body_bytes\":\(WireProtocol.maxBodyBytes),\"readings\":\(logbook.maxReadings)")
    out.json(",\"records\":\(logbook.maxRecords)},\"position\":")
    out.string(logbook.position)
    out.raw("}")
    return out.bytes
  }

  /// Reads the answer with the logbook of the login.
  package static func readLogbook(_ body: [UInt8]) throws(JSONError) -> RemoteLogbook {
    try JSONScanner.read(body) { (reader) throws(JSONError) in
      var logbook = RemoteLogbook(id: "", name: "", isWritable: false, maxReadings: 0, maxRecords: 0)
      try reader.object { (name, reader) throws(JSONError) in
        switch name {
        case "logbook": logbook.id = try reader.guid()
        case "name": logbook.name = try reader.string()
        case "role": logbook.isWritable = try reader.string() == "write"
        case "position": logbook.position = try reader.optionalToken()
        case "limits": try readLimits(&reader, into: &logbook)
        case "time": logbook.time = reader.consume(word: "null") ? nil : try reader.instant()
        default: return false
        }
        return true
      }
      guard !logbook.id.isEmpty, logbook.maxReadings > 0, logbook.maxRecords > 0 else {
        throw reader.error("a logbook and its limits are expected")
      }
      return logbook
    }
  }

  private static func readLimits(
    _ reader: inout JSONScanner, into logbook: inout RemoteLogbook
  ) throws(JSONError) {
    try reader.object { (name, reader) throws(JSONError) in
      switch name {
      case "readings": logbook.maxReadings = Int(try reader.integer())
      case "records": logbook.maxRecords = Int(try reader.integer())
      default: return false
      }
      return true
    }
  }
}
