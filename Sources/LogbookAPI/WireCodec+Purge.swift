// SPDX-License-Identifier: Apache-2.0

package import Logbook

// MARK: DELETE /v1/logbook

// Parsed by hand like all bodies of the protocol. `Codable` would be a second JSON parser next to the scanner, with
// other errors and limits.
extension WireCodec {
  /// Writes the request that removes a logbook. It identifies the logbook twice, so that none is removed by mistake.
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
