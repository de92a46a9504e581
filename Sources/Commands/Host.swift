// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The machine as the commands see it: clock, environment, terminal, system zone. The one edge for all of them.
enum Host {
  /// The host's clock in UTC seconds.
  static func now() -> Int64 { Int64(Glibc.time(nil)) }

  /// A random id for something that is made here: a UUID of version 4.
  static func randomUUID() -> String { UUID().uuidString.lowercased() }

  /// Makes every file and folder that this process creates its owner's alone.
  static func keepFilesPrivate() { umask(0o077) }

  /// The value of an environment variable; nil when it is unset or empty.
  static func environment(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }

  static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// Where a store is when nobody says: the XDG data folder.
  static var defaultStorePath: String { dataFolder + "/logbook.db" }

  /// Where a server keeps its data when nobody says.
  static var defaultServerPath: String { dataFolder + "/server" }

  private static var dataFolder: String {
    let data = environment("XDG_DATA_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
    return (data ?? (environment("HOME") ?? ".") + "/.local/share") + "/glucoport"
  }

  /// The IANA name of the system's zone. Never from TZ, which a cron job or a shell may set to anything.
  static var systemZone: String {
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/etc/localtime", &target, target.count)
    if count > 0 {
      let path = String(decoding: target.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if let range = path.range(of: "zoneinfo/") { return String(path[range.upperBound...]) }
    }
    if let bytes = FileManager.default.contents(atPath: "/etc/timezone") {
      let name = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
      if !name.isEmpty { return name }
    }
    return "UTC"
  }
}
