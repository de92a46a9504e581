// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook
import Logging

/// The format of the server's log.
package enum ServerLogFormat: String, CaseIterable, Sendable {
  /// One line of text: time, level and message, followed by names with values.
  case text
  /// One JSON object per line.
  case json
}

extension ServerSettings {
  /// A logger that writes to standard error, which the system's journal collects.
  func logger() -> Logger {
    var logger = Logger(label: "glucoport") { [clock, logFormat] label in
      switch logFormat {
      case .text: StreamLogHandler.standardError(label: label)
      case .json: JSONLogHandler(clock: clock) { Self.writeToStandardError($0) }
      }
    }
    logger.logLevel = isQuiet ? .warning : .info
    return logger
  }

  /// A function that writes a warning about a fault in the storage to this log, since only an administrator
  /// can repair the fault.
  package var storageWarnings: @Sendable (_ warning: String) -> Void {
    let logger = logger()
    return { logger.error("storage failed", metadata: ["reason": "\($0)"]) }
  }

  /// Writes a line in one system call, so that lines of several threads never mix. Errors are ignored, since
  /// no request may fail because of the log.
  private static func writeToStandardError(_ line: [UInt8]) { _ = write(2, line, line.count) }
}

/// Writes each event as one JSON object: time, level, message, then its metadata by name.
struct JSONLogHandler: LogHandler {
  var logLevel = Logger.Level.info
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?
  private let clock: @Sendable () -> Int64
  private let write: @Sendable (_ line: [UInt8]) -> Void

  init(clock: @escaping @Sendable () -> Int64, write: @escaping @Sendable (_ line: [UInt8]) -> Void) {
    self.clock = clock
    self.write = write
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var line = Array("{\"time\":\"\(DeviceTime(seconds: clock()).text)Z\",\"level\":\"\(event.level)\"".utf8)
    line += Array(",\"message\":".utf8)
    appendJSONText("\(event.message)", to: &line)
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    for (name, value) in all.sorted(by: { $0.key < $1.key }) {
      line.append(UInt8(ascii: ","))
      appendJSONText(name, to: &line)
      line.append(UInt8(ascii: ":"))
      if case .stringConvertible(let number as Int) = value {
        line += Array("\(number)".utf8)
      } else {
        appendJSONText("\(value)", to: &line)
      }
    }
    line += Array("}\n".utf8)
    write(line)
  }
}
