// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization
import Testing

@testable import LogbookServer

/// Tests the log, which has one JSON object a line.
@Suite struct ServerLogTests {
  private final class Lines: Sendable {
    private let all = Mutex<[String]>([])
    var text: [String] { all.withLock { $0 } }
    func add(_ line: [UInt8]) { all.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }
  }

  private func lines(_ work: (inout Logger) -> Void) -> [String] {
    let lines = Lines()
    var logger = Logger(label: "test") { _ in JSONLogHandler(clock: { 1_700_000_000 }) { lines.add($0) } }
    work(&logger)
    return lines.text
  }

  @Test func aLogEventIsOneJSONObjectOnOneLine() {
    let found = lines { logger in
      logger.info("request", metadata: ["status": .stringConvertible(200), "route": "/v1/\"x\"\n"])
    }
    #expect(
      found == [
        #"{"time":"2023-11-14T22:13:20Z","level":"info","message":"request","route":"/v1/\"x\"\n","status":200}"#
          + "\n"
      ])
  }

  @Test func logEventsBelowTheLevelAreDropped() {
    let found = lines { logger in
      logger.logLevel = .warning
      logger[metadataKey: "at"] = "logger"
      logger.info("no")
      logger.warning("yes")
      logger.error("yes", metadata: ["at": "event"])
    }
    #expect(found.count == 2 && found[0].contains(#""at":"logger""#) && found[1].contains(#""at":"event""#))
  }

  /// A logged value cannot end its JSON string or its line.
  @Test(arguments: [
    ("a\"b", #"a\"b"#), ("a\\", #"a\\"#), ("a\r\nb", #"a\r\nb"#),
    ("\",\"level\":\"error", #"\",\"level\":\"error"#),
    ("é😀", "é😀"), ("", ""),
  ])
  func aLoggedValueIsEscapedWithinItsJSONString(_ value: String, _ written: String) {
    let found = lines { $0.info("x", metadata: ["reason": "\(value)"]) }
    #expect(
      found.count == 1 && found[0].hasSuffix(#","message":"x","reason":"\#(written)"}"# + "\n"), "\(found)")
    #expect(found[0].filter { $0.isNewline }.count == 1)
  }

  @Test func logFieldsAreSortedAndOnlyNumbersAreWrittenAsNumbers() {
    let found = lines { logger in
      logger.warning(
        "x", metadata: ["b": .stringConvertible(2), "a": "1", "c": .stringConvertible(1.5)])
    }
    #expect(found.count == 1)
    #expect(
      found[0].hasSuffix(#","level":"warning","message":"x","a":"1","b":2,"c":"1.5"}"# + "\n"), "\(found)")
  }
}
