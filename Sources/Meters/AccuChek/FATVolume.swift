// SPDX-License-Identifier: Apache-2.0

/// A violation of the FAT format.
struct FATError: Error, Hashable {
  /// The part of the file system that was being read.
  let part: String
}

/// A FAT file system of 12, 16 or 32 bits, read sector by sector and never written.
///
/// The layout is that of Microsoft's FAT specification 1.03.
struct FATVolume<Sectors: SectorSource> {
  /// A file or a folder.
  struct FileEntry: Hashable {
    /// The short name in capitals: `REPORT.CSV`.
    var name: String
    /// The long name; nil if no valid one belongs to this entry.
    var longName: String?
    var isFolder: Bool
    /// The number of the entry's first cluster.
    fileprivate var cluster: UInt32
    /// The size; 0 for a folder.
    var byteCount: Int
  }

  /// The maximum size of a folder in bytes. A larger folder means a broken file system, or another kind of
  /// disk.
  static var maxFolderBytes: Int { 1 << 17 }
  /// The largest file that is read, in bytes.
  static var maxFileBytes: Int { 1 << 23 }

  private let sectors: Sectors
  private let layout: FATLayout
  /// The sector of the file allocation table that was read last. It usually holds the next links of the chain
  /// as well.
  private var tableSector: (number: Int, bytes: [UInt8])?

  /// Opens the file system that begins at the first sector, or in the first partition.
  init(_ sectors: Sectors) throws {
    self.sectors = sectors
    let first = try sectors.read(0, count: 1)
    if let layout = FATLayout(bootSector: first, at: 0) {
      self.layout = layout
      return
    }
    guard first.count >= 512, first[510] == 0x55, first[511] == 0xAA else {
      throw FATError(part: "the first sector")
    }
    let start = Int(first.little32(0x1BE + 8))
    guard start > 0, let layout = FATLayout(bootSector: try sectors.read(start, count: 1), at: start) else {
      throw FATError(part: "the first partition")
    }
    self.layout = layout
  }

  /// The entries of the root folder.
  mutating func root() throws -> [FileEntry] {
    if let cluster = layout.rootCluster {
      return try folder(at: cluster)
    }
    return Self.entries(in: try sectors.readAll(layout.rootStart, count: layout.rootSectors))
  }

  /// The entries of a folder.
  mutating func contents(of folder: FileEntry) throws -> [FileEntry] {
    guard folder.isFolder else { throw FATError(part: "a folder") }
    return try self.folder(at: folder.cluster)
  }

  mutating func read(_ file: FileEntry) throws -> [UInt8] {
    guard !file.isFolder, file.byteCount <= Self.maxFileBytes else { throw FATError(part: "a file's size") }
    guard file.byteCount > 0 else { return [] }
    let bytes = try chain(from: file.cluster, maxBytes: file.byteCount)
    guard bytes.count >= file.byteCount else { throw FATError(part: "a file's chain") }
    return Array(bytes.prefix(file.byteCount))
  }
}

/// A disk that is read by sectors.
protocol SectorSource {
  /// Reads `count` sectors of 512 bytes, from sector `number` on.
  func read(_ number: Int, count: Int) throws -> [UInt8]
}

extension SectorSource {
  /// Reads `count` sectors in requests small enough for every disk.
  fileprivate func readAll(_ number: Int, count: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    for start in stride(from: 0, to: count, by: 64) {
      bytes += try read(number + start, count: min(64, count - start))
    }
    return bytes
  }
}

extension FATVolume {
  /// The entries of the folder that begins at this cluster. If the chain is longer than the limit, it is a
  /// loop, and is refused.
  private mutating func folder(at cluster: UInt32) throws -> [FileEntry] {
    let bytes = try chain(from: cluster, maxBytes: Self.maxFolderBytes)
    guard bytes.count < Self.maxFolderBytes else { throw FATError(part: "a folder's chain") }
    return Self.entries(in: bytes)
  }

  /// The content of a chain of clusters, up to its end or to `maxBytes`.
  private mutating func chain(from start: UInt32, maxBytes: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var cluster = start
    while bytes.count < maxBytes {
      guard cluster >= 2, Int(cluster) - 2 < layout.clusterCount else {
        throw FATError(part: "a chain of clusters")
      }
      bytes += try sectors.readAll(
        layout.dataStart + (Int(cluster) - 2) * layout.sectorsPerCluster, count: layout.sectorsPerCluster)
      let next = try follower(of: cluster)
      if next >= layout.endMark { break }
      cluster = next
    }
    return bytes
  }

  private mutating func follower(of cluster: UInt32) throws -> UInt32 {
    switch layout.width {
    case 12:
      let place = Int(cluster) + Int(cluster) / 2
      let pair = UInt32(try tableByte(place)) | UInt32(try tableByte(place + 1)) << 8
      return cluster.isMultiple(of: 2) ? pair & 0xFFF : pair >> 4
    case 16:
      let place = Int(cluster) * 2
      return UInt32(try tableByte(place)) | UInt32(try tableByte(place + 1)) << 8
    default:
      let place = Int(cluster) * 4
      var number: UInt32 = 0
      for index in 0..<4 { number |= UInt32(try tableByte(place + index)) << UInt32(8 * index) }
      return number & 0x0FFF_FFFF
    }
  }

  private mutating func tableByte(_ place: Int) throws -> UInt8 {
    let number = place / 512
    guard number < layout.tableSectors else { throw FATError(part: "the table of clusters") }
    if let known = tableSector, known.number == number, place % 512 < known.bytes.count {
      return known.bytes[place % 512]
    }
    let bytes = try sectors.read(layout.tableStart + number, count: 1)
    guard place % 512 < bytes.count else { throw FATError(part: "the table of clusters") }
    tableSector = (number, bytes)
    return bytes[place % 512]
  }

  private static func entries(in bytes: [UInt8]) -> [FileEntry] {
    var entries: [FileEntry] = []
    var longName = FATLongName()
    for start in stride(from: 0, to: bytes.count - 31, by: 32) {
      let raw = Array(bytes[start..<start + 32])
      if raw[0] == 0 { break }
      let attributes = raw[11]
      if raw[0] != 0xE5, attributes & 0x3F == 0x0F {
        longName.add(raw)
        continue
      }
      defer { longName = FATLongName() }
      // E5 marks a deleted entry, 2E the entries "." and "..", attribute 08 the name of the volume.
      guard raw[0] != 0xE5, raw[0] != 0x2E, attributes & 0x08 == 0 else { continue }
      let name = text(raw[0..<8])
      let ending = text(raw[8..<11])
      entries.append(
        FileEntry(
          name: ending.isEmpty ? name : "\(name).\(ending)", longName: longName.text(of: raw[0..<11]),
          isFolder: attributes & 0x10 != 0,
          cluster: UInt32(raw.little16(20)) << 16 | UInt32(raw.little16(26)),
          byteCount: attributes & 0x10 != 0 ? 0 : Int(raw.little32(28))))
    }
    return entries
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self).uppercased().split(separator: " ").joined(separator: " ")
  }
}

/// The positions of the parts of a FAT file system, in sectors from the start of the disk.
private struct FATLayout {
  var width = 16
  var sectorsPerCluster: Int
  var tableStart: Int
  var tableSectors: Int
  /// The first sector of the root folder on volumes of 12 and 16 bits, where its position is fixed.
  var rootStart: Int
  var rootSectors: Int
  /// The first cluster of the root folder on volumes of 32 bits, where it is a chain of clusters; nil on
  /// others.
  var rootCluster: UInt32?
  var dataStart: Int
  var clusterCount: Int

  /// The lowest number in the table that ends a chain or marks a bad cluster.
  var endMark: UInt32 {
    switch width {
    case 12: 0xFF7
    case 16: 0xFFF7
    default: 0x0FFF_FFF7
    }
  }

  /// The layout in a boot sector; nil if its values contradict each other.
  init?(bootSector: [UInt8], at start: Int) {
    guard bootSector.count >= 512, bootSector[510] == 0x55, bootSector[511] == 0xAA,
      bootSector[0] == 0xEB || bootSector[0] == 0xE9, bootSector.little16(11) == 512
    else { return nil }
    sectorsPerCluster = Int(bootSector[13])
    let tables = Int(bootSector[16])
    guard (1...2).contains(tables), sectorsPerCluster > 0, sectorsPerCluster.nonzeroBitCount == 1 else {
      return nil
    }
    let shortTable = Int(bootSector.little16(22))
    tableSectors = shortTable > 0 ? shortTable : Int(bootSector.little32(36))
    tableStart = start + Int(bootSector.little16(14))
    rootStart = tableStart + tables * tableSectors
    rootSectors = (Int(bootSector.little16(17)) * 32 + 511) / 512
    dataStart = rootStart + rootSectors
    let shortTotal = Int(bootSector.little16(19))
    let total = shortTotal > 0 ? shortTotal : Int(bootSector.little32(32))
    clusterCount = (total - (dataStart - start)) / sectorsPerCluster
    guard tableSectors > 0, clusterCount > 0 else { return nil }
    // By the specification, only the number of clusters determines the width.
    width = clusterCount < 4085 ? 12 : clusterCount < 65525 ? 16 : 32
    if width == 32 { rootCluster = bootSector.little32(44) }
  }
}

extension [UInt8] {
  /// The little-endian number in two bytes; 0 past the end.
  fileprivate func little16(_ place: Int) -> UInt16 {
    place >= 0 && place + 1 < count ? UInt16(self[place]) | UInt16(self[place + 1]) << 8 : 0
  }

  /// The little-endian number in four bytes; 0 past the end.
  fileprivate func little32(_ place: Int) -> UInt32 {
    UInt32(little16(place)) | UInt32(little16(place + 2)) << 16
  }
}

/// Assembles the long name of a file from its pieces of 13 characters. The pieces are in reverse order before
/// the entry with the short name.
private struct FATLongName {
  /// The offsets of a piece's characters, two bytes each.
  private static let places = [1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30]
  /// The maximum number of pieces, since a name has at most 255 characters.
  private static let maxPieces: UInt8 = 20

  private var units: [UInt16] = []
  /// The number of the latest piece. Piece 1 is the start of the name, and comes last. 0 means that there is
  /// no piece yet.
  private var number: UInt8 = 0
  private var sum: UInt8 = 0

  /// Adds the next piece. A piece that does not follow the latest one starts a new name, or is dropped.
  mutating func add(_ piece: [UInt8]) {
    guard piece.count == 32 else { return }
    let isFirst = piece[0] & 0x40 != 0
    let next = piece[0] & 0x3F
    guard (1...Self.maxPieces).contains(next), isFirst || next + 1 == number && piece[13] == sum else {
      self = FATLongName()
      return
    }
    let characters = Self.places.map { UInt16(piece[$0]) | UInt16(piece[$0 + 1]) << 8 }
    units = characters.prefix { $0 != 0 } + (isFirst ? [] : units)
    (number, sum) = (next, piece[13])
  }

  /// The complete name; nil if it is truncated or belongs to another short name.
  func text(of shortName: some Sequence<UInt8>) -> String? {
    let expected = shortName.reduce(UInt8(0)) { sum, byte in (sum >> 1 | sum << 7) &+ byte }
    guard number == 1, sum == expected, !units.isEmpty else { return nil }
    return String(decoding: units, as: UTF16.self)
  }
}
