// SPDX-License-Identifier: Apache-2.0

package import Logbook

// MARK: POST /v1/pages

extension WireCodec {
  /// The maximum length of a link's path in bytes.
  private static let maxPathBytes = 200

  /// Writes the answer with a link.
  package static func write(_ link: PageLink) -> [UInt8] {
    var out = WireWriter()
    out.raw("{\"path\":")
    out.string(link.path)
    out.raw(",\"expires\":")
    out.string(DeviceTime(seconds: link.expiresAt).text + "Z")
    out.raw("}")
    return out.bytes
  }

  /// Reads the answer with a link. The path is shown on a terminal and opened in a browser, so only the usual
  /// characters of such a path are accepted.
  package static func readPageLink(_ body: [UInt8]) throws(JSONError) -> PageLink {
    try JSONScanner.read(body) { (reader) throws(JSONError) in
      var (path, expiresAt): (String?, Int64?)
      try reader.object { (member, reader) throws(JSONError) in
        switch member {
        case "path": path = try reader.string()
        case "expires": expiresAt = try reader.instant()
        default: return false
        }
        return true
      }
      guard let path, let expiresAt, isPagePath(path) else {
        throw reader.error("the link has no valid path, or no time until which it is valid")
      }
      return PageLink(path: path, expiresAt: expiresAt)
    }
  }

  private static func isPagePath(_ path: String) -> Bool {
    let secret = path.utf8.dropFirst(WireProtocol.pagesPath.utf8.count)
    return path.hasPrefix(WireProtocol.pagesPath) && !secret.isEmpty && path.utf8.count <= maxPathBytes
      && secret.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }
}

// MARK: DELETE /v1/logbook

// The JSON is parsed by hand, like all bodies of the protocol. `Codable` would be a second parser, with other
// errors and limits.
extension WireCodec {
  /// Writes the request that removes a logbook. It states both the id and the name, so that a wrong logbook
  /// is not removed.
  package static func writePurge(logbook id: String, name: String) -> [UInt8] {
    var out = WireWriter()
    out.raw("{\"logbook\":")
    out.string(id)
    out.raw(",\"name\":")
    out.string(name)
    out.raw("}")
    return out.bytes
  }

  /// Reads the request that removes a logbook.
  package static func readPurge(_ body: [UInt8]) throws(JSONError) -> (logbook: String, name: String) {
    try JSONScanner.read(body) { (reader) throws(JSONError) in
      var (logbook, name): (String?, String?)
      try reader.object { (member, reader) throws(JSONError) in
        switch member {
        case "logbook": logbook = try reader.guid()
        case "name": name = try reader.string()
        default: return false
        }
        return true
      }
      guard let logbook, let name else { throw reader.error("logbook and name are expected") }
      return (logbook, name)
    }
  }
}
