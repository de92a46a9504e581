// SPDX-License-Identifier: Apache-2.0

import Logbook

@testable import Meters

/// A disk with a FAT file system, made from folders and files. Sectors that were never written are zero.
struct FaultyFATImage: SectorSource {
  /// The fault of a long name: a checksum for another entry, a missing last piece, or two pieces in the wrong
  /// order.
  enum LongNameFault { case sum, cut, order }

  private(set) var sectors: [Int: [UInt8]] = [:]
  private let width: Int
  private let start: Int
  private let sectorsPerCluster: Int
  private let tableSectors: Int
  private let rootSectors: Int
  private let clusterCount: Int
  private var next = 2

  /// An empty file system of 12, 16 or 32 bits, which follows this many sectors of a partition table.
  init(width: Int, after start: Int = 0, sectorsPerCluster: Int = 2) {
    self.width = width
    self.start = start
    self.sectorsPerCluster = sectorsPerCluster
    clusterCount = width == 12 ? 2000 : width == 16 ? 20_000 : 70_000
    tableSectors = (clusterCount + 2) * width / 8 / 512 + 1
    rootSectors = width == 32 ? 0 : 4
    writeBoot()
    if width == 32 { _ = chain([UInt8](repeating: 0, count: 512)) }
  }

  func read(_ number: Int, count: Int) throws -> [UInt8] {
    (number..<number + count).flatMap { sectors[$0] ?? [UInt8](repeating: 0, count: 512) }
  }

  /// Writes `folder/REPORTS/name` files.
  mutating func write(
    _ files: [(name: String, bytes: [UInt8])], in folder: String, longName folderName: String? = nil,
    fault: LongNameFault? = nil
  ) {
    let entries = files.flatMap { Self.entry($0.name, 0x20, chain($0.bytes), $0.bytes.count) }
    let longName = [UInt8](repeating: 0x41, count: 11) + [0x0F] + [UInt8](repeating: 0, count: 20)
    let reports = chain(Self.entry(".", 0x10, 0, 0) + longName + entries)
    let model = chain(
      Self.entry("OLD.CSV", 0x20, 0, 0, deleted: true) + Self.entry("REPORTS", 0x10, reports, 0))
    let name = folderName.map { Self.longName($0, of: Self.entry(folder, 0x10, model, 0), fault) } ?? []
    put(root: Self.entry("METER", 0x08, 0, 0) + name + Self.entry(folder, 0x10, model, 0))
  }

  /// The directory entries with the pieces of a long name, in reverse order.
  private static func longName(_ name: String, of entry: [UInt8], _ fault: LongNameFault?) -> [UInt8] {
    var sum = entry.prefix(11).reduce(UInt8(0)) { (($0 & 1) << 7) &+ ($0 >> 1) &+ $1 }
    if fault == .sum { sum ^= 1 }
    var units = Array(name.utf16)
    if units.count % 13 != 0 { units.append(0) }
    units += [UInt16](repeating: 0xFFFF, count: (13 - units.count % 13) % 13)
    var pieces = stride(from: 0, to: units.count, by: 13).enumerated().map { index, start in
      let bytes = units[start..<start + 13].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
      let number = UInt8(index + 1) | (start + 13 == units.count ? 0x40 : 0)
      let marks: [UInt8] = [0x0F, 0, sum]
      let first: [UInt8] = [number] + bytes[..<10] + marks
      return first + bytes[10..<22] + [0, 0] + bytes[22...]
    }
    if fault == .cut { pieces.removeFirst() }
    if fault == .order { pieces.swapAt(0, 1) }
    return pieces.reversed().flatMap(\.self)
  }

  /// Writes a number into the file allocation table: the next cluster after this one.
  mutating func set(_ cluster: Int, to number: UInt32) {
    let bits = cluster * width
    var place = bits / 8
    let shift = UInt32(bits % 8)
    let mask: UInt32 = width == 12 ? 0xFFF : width == 16 ? 0xFFFF : 0x0FFF_FFFF
    var value = (number & mask) << shift
    var keep = ~(mask << shift)
    for _ in 0..<(width == 12 ? 2 : width / 8) {
      let sector = tableStart + place / 512
      var bytes = sectors[sector] ?? [UInt8](repeating: 0, count: 512)
      bytes[place % 512] = bytes[place % 512] & UInt8(keep & 0xFF) | UInt8(value & 0xFF)
      sectors[sector] = bytes
      (place, value, keep) = (place + 1, value >> 8, keep >> 8 | 0xFF00_0000)
    }
  }

  /// Changes one byte of a sector.
  mutating func change(_ sector: Int, _ place: Int, to byte: UInt8) {
    var bytes = sectors[sector] ?? [UInt8](repeating: 0, count: 512)
    bytes[place] = byte
    sectors[sector] = bytes
  }

  private var tableStart: Int { start + 8 }
  private var dataStart: Int { tableStart + 2 * tableSectors + rootSectors }

  private mutating func chain(_ bytes: [UInt8]) -> Int {
    let first = next
    let size = sectorsPerCluster * 512
    let clusters = max(1, (bytes.count + size - 1) / size)
    for index in 0..<clusters {
      // Every second cluster stays free, so that chains are not contiguous.
      let cluster = first + 2 * index
      set(cluster, to: index == clusters - 1 ? 0x0FFF_FFFF : UInt32(cluster + 2))
      write(bytes.dropFirst(index * size).prefix(size), at: dataStart + (cluster - 2) * sectorsPerCluster)
    }
    next = first + 2 * clusters
    return first
  }

  private mutating func write(_ bytes: ArraySlice<UInt8>, at sector: Int) {
    let padded = Array(bytes) + [UInt8](repeating: 0, count: (512 - bytes.count % 512) % 512)
    for index in 0..<padded.count / 512 {
      sectors[sector + index] = Array(padded[index * 512..<index * 512 + 512])
    }
  }

  private mutating func put(root: [UInt8]) {
    write(root[...], at: width == 32 ? dataStart : tableStart + 2 * tableSectors)
  }

  private mutating func writeBoot() {
    var boot = [UInt8](repeating: 0, count: 512)
    boot.replaceSubrange(0..<3, with: [0xEB, 0x3C, 0x90])
    let total = dataStart - start + clusterCount * sectorsPerCluster
    func put(_ place: Int, _ count: Int, _ number: Int) {
      for index in 0..<count { boot[place + index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
    }
    put(11, 2, 512)
    put(13, 1, sectorsPerCluster)
    put(14, 2, 8)
    put(16, 1, 2)
    put(17, 2, rootSectors * 16)
    put(total < 65536 ? 19 : 32, total < 65536 ? 2 : 4, total)
    put(width == 32 ? 36 : 22, width == 32 ? 4 : 2, tableSectors)
    put(44, 4, width == 32 ? 2 : 0)
    put(510, 2, 0xAA55)
    sectors[start] = boot
    guard start > 0 else { return }
    boot = [UInt8](repeating: 0, count: 512)
    put(0x1BE + 8, 4, start)
    put(510, 2, 0xAA55)
    sectors[0] = boot
  }

  private static func entry(
    _ name: String, _ attributes: UInt8, _ cluster: Int, _ size: Int, deleted: Bool = false
  ) -> [UInt8] {
    let parts = name.hasPrefix(".") ? [Substring(name)] : name.split(separator: ".")
    func padded(_ text: Substring, _ width: Int) -> [UInt8] {
      Array(text.utf8) + [UInt8](repeating: 0x20, count: width - text.utf8.count)
    }
    var bytes = padded(parts[0], 8) + padded(parts.count > 1 ? parts[1] : "", 3) + [attributes]
    bytes += [UInt8](repeating: 0, count: 20)
    if deleted { bytes[0] = 0xE5 }
    for index in 0..<2 {
      bytes[20 + index] = UInt8(truncatingIfNeeded: cluster >> (16 + 8 * index))
      bytes[26 + index] = UInt8(truncatingIfNeeded: cluster >> (8 * index))
    }
    for index in 0..<4 { bytes[28 + index] = UInt8(truncatingIfNeeded: size >> (8 * index)) }
    return bytes
  }
}

/// A transport to the disk image. It refuses its first commands, and accepts only commands that read.
final class DiskTransport: Transport {
  private let image: FaultyFATImage
  private var attention = true
  private var refusals: Int
  private(set) var sectorsRead = 0

  /// - Parameter refusals: the number of commands that it refuses because it is not ready.
  init(_ image: FaultyFATImage, refusals: Int = 0) {
    self.image = image
    self.refusals = refusals
  }

  func perform(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8] {
    guard case .command(let command, let count) = exchange else { throw .unsupported }
    if command[0] == 0x03 {
      attention = false
      return [0x70, 0, 6] + [UInt8](repeating: 0, count: 15)
    }
    if attention { throw .stalled }
    if refusals > 0 {
      refusals -= 1
      throw .stalled
    }
    switch command[0] {
    case 0x00: return []
    case 0x28:
      let start = command[2..<6].reduce(0) { $0 << 8 | Int($1) }
      let sectors = Int(command[7]) << 8 | Int(command[8])
      guard count == sectors * 512, let bytes = try? image.read(start, count: sectors) else { throw .stalled }
      sectorsRead += sectors
      return bytes
    default: throw .stalled
    }
  }
}
