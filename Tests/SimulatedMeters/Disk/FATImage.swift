// SPDX-License-Identifier: Apache-2.0

/// The sectors of a FAT file system with long names. The file system has one file, in a folder inside
/// another folder.
struct FATImage {
  /// The layout of the disk.
  enum Layout {
    /// FAT12 from the first sector.
    case small
    /// FAT16 in the first partition, with clusters of four sectors.
    case partitioned
  }

  /// A short name of at most eight and three characters, and a long one.
  struct Name {
    var short: String
    var long: String
  }

  private static let sectorSize = 512
  private static let rootEntries = 512
  private let layout: Layout
  private let sectorsInCluster: Int
  private let clusters: Int
  private var table: [Int]
  private var data: [[UInt8]]

  private init(_ layout: Layout) {
    self.layout = layout
    sectorsInCluster = layout == .small ? 1 : 4
    // Fewer than 4085 clusters are FAT12, more are FAT16.
    clusters = layout == .small ? 2000 : 4200
    let end = layout == .small ? 0xFFF : 0xFFFF
    table = [end & ~7, end] + [Int](repeating: 0, count: clusters)
    data = []
  }

  /// The sectors of a disk with one file in two folders.
  static func sectors(_ layout: Layout, folders: [Name], file: Name, content: [UInt8], label: String)
    -> [[UInt8]]
  {
    var image = FATImage(layout)
    // The file is fragmented: its clusters are not adjacent.
    var first = image.store(content, scattered: true)
    var entry = entry(file, attributes: 0x20, cluster: first, size: content.count)
    for folder in folders.reversed() {
      let own = image.nextCluster
      let dots = [(".", own), ("..", 0)].flatMap { name, cluster in
        shortEntry(name, attributes: 0x10, cluster: cluster, size: 0)
      }
      first = image.store(dots + deletedEntry + entry)
      entry = Self.entry(folder, attributes: 0x10, cluster: first, size: 0)
    }
    return image.sectors(root: shortEntry(label, attributes: 0x08, cluster: 0, size: 0) + entry)
  }
}

extension FATImage {
  /// The first free cluster.
  private var nextCluster: Int { data.count / sectorsInCluster + 2 }

  /// Stores bytes in clusters, and returns the first one; 0 for no bytes.
  private mutating func store(_ bytes: [UInt8], scattered: Bool = false) -> Int {
    guard !bytes.isEmpty else { return 0 }
    let size = Self.sectorSize * sectorsInCluster
    var previous = 0
    let first = nextCluster
    for start in stride(from: 0, to: bytes.count, by: size) {
      let cluster = nextCluster
      let part = Array(bytes[start..<min(start + size, bytes.count)])
      let padded = part + [UInt8](repeating: 0, count: size - part.count)
      data += stride(from: 0, to: size, by: Self.sectorSize).map {
        Array(padded[$0..<($0 + Self.sectorSize)])
      }
      if previous > 0 { table[previous] = cluster }
      table[cluster] = layout == .small ? 0xFFF : 0xFFFF
      previous = cluster
      if scattered {
        data += [[UInt8]](
          repeating: [UInt8](repeating: 0x2A, count: Self.sectorSize), count: sectorsInCluster)
      }
    }
    return first
  }

  private func sectors(root: [UInt8]) -> [[UInt8]] {
    let tableBytes = layout == .small ? packed : table.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    let tableSectors = Self.split(tableBytes)
    let rootSectors = Self.split(root, count: Self.rootEntries * 32 / Self.sectorSize)
    let used = 1 + 2 * tableSectors.count + rootSectors.count
    let empty = [UInt8](repeating: 0, count: Self.sectorSize)
    let total = used + clusters * sectorsInCluster
    let volume =
      [boot(total: total, tableSectors: tableSectors.count)] + tableSectors + tableSectors + rootSectors
      + data
      + [[UInt8]](repeating: empty, count: clusters * sectorsInCluster - data.count)
    return layout == .small ? volume : partition(total) + volume
  }

  /// The table of FAT12: twelve bits for each cluster, so that two clusters use three bytes.
  private var packed: [UInt8] {
    stride(from: 0, to: table.count, by: 2).flatMap { index -> [UInt8] in
      let (low, high) = (table[index], index + 1 < table.count ? table[index + 1] : 0)
      return [UInt8(low & 0xFF), UInt8(low >> 8 | (high & 0x0F) << 4), UInt8(high >> 4)]
    }
  }

  private func boot(total: Int, tableSectors: Int) -> [UInt8] {
    let short = total < 65536 ? total : 0
    let hidden = layout == .small ? 0 : 8
    var bytes: [UInt8] = [0xEB, 0x3C, 0x90] + Array("MSDOS5.0".utf8)
    bytes += Self.little(Self.sectorSize, 2) + [UInt8(sectorsInCluster)] + Self.little(1, 2) + [2]
    bytes += Self.little(Self.rootEntries, 2) + Self.little(short, 2) + [0xF8] + Self.little(tableSectors, 2)
    bytes += Self.little(63, 2) + Self.little(255, 2) + Self.little(hidden, 4)
    bytes += Self.little(short == 0 ? total : 0, 4) + [0x80, 0, 0x29] + Self.little(0x2024_0101, 4)
    bytes += Array("ACCUCHEK   ".utf8) + Array((layout == .small ? "FAT12   " : "FAT16   ").utf8)
    return bytes + [UInt8](repeating: 0, count: 510 - bytes.count) + [0x55, 0xAA]
  }

  /// The sectors before the first partition.
  private func partition(_ total: Int) -> [[UInt8]] {
    let entry = [0x00, 0, 0, 0, 0x06, 0, 0, 0] + Self.little(8, 4) + Self.little(total, 4)
    let table = [UInt8](repeating: 0, count: 446) + entry + [UInt8](repeating: 0, count: 48) + [0x55, 0xAA]
    return [table] + [[UInt8]](repeating: [UInt8](repeating: 0, count: Self.sectorSize), count: 7)
  }

  private static func split(_ bytes: [UInt8], count: Int? = nil) -> [[UInt8]] {
    let sectors = count ?? (bytes.count + sectorSize - 1) / sectorSize
    let padded = bytes + [UInt8](repeating: 0, count: sectors * sectorSize - bytes.count)
    return (0..<sectors).map { Array(padded[($0 * sectorSize)..<(($0 + 1) * sectorSize)]) }
  }

  private static func little(_ number: Int, _ size: Int) -> [UInt8] {
    (0..<size).map { UInt8(number >> ($0 * 8) & 0xFF) }
  }
}

// MARK: - Entries of folders

extension FATImage {
  /// The entries of a long name, followed by that of the short name. A checksum of the short name connects
  /// them.
  private static func entry(_ name: Name, attributes: UInt8, cluster: Int, size: Int) -> [UInt8] {
    let short = shortEntry(name.short, attributes: attributes, cluster: cluster, size: size)
    let sum = short.prefix(11).reduce(UInt8(0)) { (($0 & 1) << 7) &+ ($0 >> 1) &+ $1 }
    var units = Array(name.long.utf16)
    if units.count % 13 != 0 { units.append(0) }
    units += [UInt16](repeating: 0xFFFF, count: (13 - units.count % 13) % 13)
    let parts = stride(from: 0, to: units.count, by: 13).map { Array(units[$0..<($0 + 13)]) }
    let long = parts.enumerated().reversed().flatMap { index, part -> [UInt8] in
      let bytes = part.flatMap { little(Int($0), 2) }
      let order = UInt8(index + 1) | (index == parts.count - 1 ? 0x40 : 0)
      let marks: [UInt8] = [0x0F, 0, sum]
      let first: [UInt8] = [order] + bytes[..<10] + marks
      return first + bytes[10..<22] + [0, 0] + bytes[22...]
    }
    return long + short
  }

  private static func shortEntry(_ name: String, attributes: UInt8, cluster: Int, size: Int) -> [UInt8] {
    let isDots = name.allSatisfy { $0 == "." }
    let parts = isDots ? [Substring(name)] : name.split(separator: ".")
    let padded = { (text: Substring, width: Int) in
      Array(text.utf8.prefix(width)) + [UInt8](repeating: 0x20, count: max(0, width - text.utf8.count))
    }
    let isLabel = attributes == 0x08
    let field =
      isLabel ? padded(Substring(name), 11) : padded(parts[0], 8) + padded(parts.count > 1 ? parts[1] : "", 3)
    return field + [attributes, 0, 0] + [UInt8](repeating: 0, count: 12) + little(cluster, 2)
      + little(size, 4)
  }

  /// The entry of a deleted file.
  private static let deletedEntry: [UInt8] =
    [0xE5] + shortEntry("LDER.CSV", attributes: 0x20, cluster: 9, size: 100).dropFirst()
}
