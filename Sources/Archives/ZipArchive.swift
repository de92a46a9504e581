// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook

/// The directory of a ZIP archive (APPNOTE.TXT 6.3.10 of PKWARE), with ZIP64. Nothing is unpacked to disk:
/// `ZipMemberSource` reads the members one at a time.
package struct ZipArchive {
  /// The maximum number of members. An export rarely has more than a few hundred files.
  package static let maxMembers = 20_000
  private static let maxDirectoryBytes = 16 << 20
  /// The maximum unpacked size of all members together.
  package static let maxTotalBytes: UInt64 = 64 << 30

  /// The members in the order of the directory, without folders.
  package let members: [ZipMember]
  /// The name of the file in messages.
  package let name: String
  let descriptor: Int32

  /// Whether these are the first bytes of a ZIP archive.
  package static func isArchive(_ head: some Collection<UInt8>) -> Bool {
    head.starts(with: [0x50, 0x4B, 0x03, 0x04]) || head.starts(with: [0x50, 0x4B, 0x05, 0x06])
  }

  /// Reads the directory of an open regular file, which must stay open while members are read.
  ///
  /// - Throws: `Failure` of category `badInput` for a damaged or malicious archive.
  package init(descriptor: Int32, name: String) throws {
    self.descriptor = descriptor
    self.name = name
    let file = ZipFile(descriptor: descriptor, name: name)
    let directory = try ZipDirectory(file)
    guard directory.count <= UInt64(Self.maxMembers), directory.size <= UInt64(Self.maxDirectoryBytes) else {
      throw Failure(.badInput, "\(name): the archive has more than \(Self.maxMembers) members")
    }
    let bytes = try file.bytes(at: directory.start, count: Int(directory.size))
    var entries = try Self.entries(bytes, base: directory.base, name: name)
    guard entries.count == directory.count else { throw file.damaged() }
    try Self.boundMembers(&entries, before: directory.start, name: name)
    members = entries.filter { !$0.isFolder }
  }

  private static func entries(_ bytes: [UInt8], base: UInt64, name: String) throws -> [ZipMember] {
    var entries: [ZipMember] = []
    var place = 0
    while place + 46 <= bytes.count, entries.count < maxMembers {
      guard let (member, length) = ZipMember.read(bytes, at: place, base: base) else {
        throw Failure(.badInput, "\(name): the archive's directory is damaged; download the file again")
      }
      entries.append(member)
      place += length
    }
    return entries
  }

  /// Sets the end of each member's bytes, and refuses archives whose members overlap or unpack to far too
  /// much.
  private static func boundMembers(_ entries: inout [ZipMember], before end: UInt64, name: String) throws {
    var limit = end
    for place in entries.indices.sorted(by: { entries[$0].offset > entries[$1].offset }) {
      let (needed, overflows) = entries[place].packedSize.addingReportingOverflow(ZipMember.headerLength)
      guard !overflows, entries[place].offset <= limit, limit - entries[place].offset >= needed else {
        throw Failure(
          .badInput, "\(name): members of the archive overlap, as in an archive that is made to harm")
      }
      entries[place].end = limit
      limit = entries[place].offset
    }
    var total: UInt64 = 0
    for entry in entries {
      let (sum, overflows) = total.addingReportingOverflow(entry.size)
      guard !overflows, sum <= maxTotalBytes else {
        throw Failure(.badInput, "\(name): the archive unpacks to more than 64 GiB")
      }
      total = sum
    }
  }
}

/// Reads a file at given offsets, independently of the file's current read position.
struct ZipFile {
  let descriptor: Int32
  let name: String

  func damaged() -> Failure {
    Failure(.badInput, "\(name): the ZIP archive is damaged or incomplete; download the file again")
  }

  var size: UInt64 {
    get throws {
      var status = stat()
      guard fstat(descriptor, &status) == 0, status.st_size >= 0 else { throw failure() }
      return UInt64(status.st_size)
    }
  }

  /// Reads up to `buffer.count` bytes; fewer only at the end of the file.
  func read(at place: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    var count = 0
    while count < buffer.count {
      guard let offset = off_t(exactly: place + UInt64(count)), let base = buffer.baseAddress else { break }
      let more = uninterrupted { pread(descriptor, base + count, buffer.count - count, offset) }
      guard more >= 0 else { throw failure() }
      if more == 0 { break }
      count += more
    }
    return count
  }

  func bytes(at place: UInt64, count: Int) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = try read(at: place, into: UnsafeMutableRawBufferPointer(buffer))
      if filled != count { throw damaged() }
    }
  }

  private func failure() -> Failure {
    Failure(.inputOutput, "\(name): cannot read: \(String(cString: strerror(errno)))")
  }
}

/// The offset and size of the central directory, and the number of its members.
private struct ZipDirectory {
  let count: UInt64
  let size: UInt64
  let start: UInt64
  /// The number of bytes before the archive, such as those of a self-extracting program. The offsets in the
  /// directory count from the first byte after them.
  let base: UInt64

  private static let endLength = 22
  private static let locatorLength = 20

  init(_ file: ZipFile) throws {
    let fileSize = try file.size
    // A comment of up to 64 KiB may follow the end record.
    let tailLength = Int(min(fileSize, UInt64(Self.endLength + 0xFFFF)))
    let tail = try file.bytes(at: fileSize - UInt64(tailLength), count: tailLength)
    guard let end = Self.endRecord(in: tail) else { throw file.damaged() }
    let endPlace = fileSize - UInt64(tailLength) + UInt64(end)
    var count = UInt64(tail.number(end + 10, 2))
    var size = UInt64(tail.number(end + 12, 4))
    var offset = UInt64(tail.number(end + 16, 4))
    var directoryEnd = endPlace
    let isZip64 = count == 0xFFFF || size == 0xFFFF_FFFF || offset == 0xFFFF_FFFF
    if isZip64, end >= Self.locatorLength, tail.number(end - Self.locatorLength, 4) == 0x0706_4B50 {
      let place = UInt64(tail.number(end - Self.locatorLength + 8, 8))
      guard place < endPlace else { throw file.damaged() }
      let record = try file.bytes(at: place, count: 56)
      guard record.number(0, 4) == 0x0606_4B50 else { throw file.damaged() }
      count = record.number(32, 8)
      size = record.number(40, 8)
      offset = record.number(48, 8)
      directoryEnd = place
    }
    guard size <= directoryEnd, offset <= directoryEnd - size, tail.number(end + 4, 2) == 0 else {
      throw file.damaged()
    }
    self.count = count
    self.size = size
    start = directoryEnd - size
    base = start - offset
  }

  /// The offset of the last end record whose comment ends at the end of the file; nil without one.
  private static func endRecord(in tail: [UInt8]) -> Int? {
    for place in stride(from: tail.count - endLength, through: 0, by: -1)
    where tail[place] == 0x50 && tail.number(place, 4) == 0x0605_4B50
      && Int(tail.number(place + 20, 2)) <= tail.count - place - endLength
    {
      return place
    }
    return nil
  }
}

extension [UInt8] {
  /// The little-endian number in `count` bytes; the caller must ensure that they exist.
  func number(_ place: Int, _ count: Int) -> UInt64 {
    var value: UInt64 = 0
    for index in 0..<count { value |= UInt64(self[place + index]) << UInt64(8 * index) }
    return value
  }
}
