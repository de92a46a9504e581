// SPDX-License-Identifier: Apache-2.0

/// The header of an SQLite file (https://www.sqlite.org/fileformat2.html#the_database_header).
package struct DatabaseHeader {
  /// The size of the header in bytes.
  package static let size = 100
  private static let signature = Array("SQLite format 3\0".utf8)

  /// The application id that the program set; 0 if none.
  package let applicationID: UInt32
  /// The stated size of the file; nil if the last writer did not state it.
  package let fileSize: Int64?

  /// Whether bytes are the start of an SQLite file.
  package static func isDatabase(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.starts(with: signature)
  }

  /// Parses the header; nil for other or too few bytes.
  package init?(_ bytes: [UInt8]) {
    guard Self.isDatabase(bytes), bytes.count >= Self.size else { return nil }
    func number(_ place: Int, _ count: Int) -> UInt32 {
      bytes[place..<(place + count)].reduce(0) { $0 << 8 | UInt32($1) }
    }
    let pageSize = number(16, 2) == 1 ? 65536 : Int64(number(16, 2))
    let pages = Int64(number(28, 4))
    // Old libraries do not update the page count. The change counter next to it reveals this.
    fileSize = pages > 0 && number(24, 4) == number(92, 4) ? pages * pageSize : nil
    applicationID = number(68, 4)
  }
}
