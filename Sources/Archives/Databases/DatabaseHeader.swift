// SPDX-License-Identifier: Apache-2.0

/// What the first bytes of an SQLite file say (https://www.sqlite.org/fileformat2.html#the_database_header).
package struct DatabaseHeader {
  /// How many bytes it has.
  package static let size = 100
  private static let signature = Array("SQLite format 3\0".utf8)

  /// The number that the program that made the file put in; 0 where it put in none.
  package let applicationID: UInt32
  /// How many bytes the file should have; nil where the program that wrote last did not say.
  package let fileSize: Int64?

  /// Whether bytes are the start of an SQLite file.
  package static func isDatabase(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.starts(with: signature)
  }

  /// The header at the start of these bytes; nil for other bytes and for fewer.
  package init?(_ bytes: [UInt8]) {
    guard Self.isDatabase(bytes), bytes.count >= Self.size else { return nil }
    func number(_ place: Int, _ count: Int) -> UInt32 {
      bytes[place..<(place + count)].reduce(0) { $0 << 8 | UInt32($1) }
    }
    let pageSize = number(16, 2) == 1 ? 65536 : Int64(number(16, 2))
    let pages = Int64(number(28, 4))
    // Old libraries leave the count of pages as it was, which shows in the counter of changes beside it.
    fileSize = pages > 0 && number(24, 4) == number(92, 4) ? pages * pageSize : nil
    applicationID = number(68, 4)
  }
}
