// SPDX-License-Identifier: Apache-2.0

import CZlib
package import Logbook

/// One file in a ZIP archive, from the archive's directory.
package struct ZipMember {
  /// The size of the fixed part of the header before a member's bytes.
  static let headerLength: UInt64 = 30
  /// The maximum ratio of unpacked to packed size. Real exports of megabytes reach 10 to 40; repeated lines
  /// of text reach 1000.
  static let maxRatio: UInt64 = 250
  private static let smallSize: UInt64 = 16 << 20

  /// The path in the archive.
  package let name: String
  /// The unpacked size in bytes.
  package let size: UInt64
  let packedSize: UInt64
  let method: UInt16
  let flags: UInt16
  let checksum: UInt32
  /// When the member was last written; nil if the directory states no valid time.
  package let time: ZipTime?
  /// The Unix file type and permissions; 0 from systems without them.
  private let mode: UInt32
  /// The offset of the member's header in the file.
  let offset: UInt64
  /// The end of the member's bytes in the file: the offset of the next member or of the directory.
  var end: UInt64 = 0

  var isFolder: Bool { name.hasSuffix("/") && size == 0 }

  /// Whether the member is hidden, or a file of the system such as a resource fork of macOS.
  package var isHidden: Bool {
    name.split(separator: "/").contains { ($0.hasPrefix(".") && $0 != "..") || $0 == "__MACOSX" }
  }

  /// The reason why the member cannot be read; nil if it can be read.
  package var refusal: String? {
    if flags & 1 != 0 { return "it is encrypted; unpack the archive with its password" }
    if name.split(separator: "/", omittingEmptySubsequences: false).contains("..") || name.hasPrefix("/")
      || name.contains("\\") || name.contains("\0")
    {
      return "its name leads out of the archive"
    }
    if mode & 0o170000 == 0o120000 { return "it is a link" }
    if method != 0, method != 8 {
      return "it is packed in a way that is not supported; pack it again with zip"
    }
    if method == 0, size != packedSize { return "its sizes contradict each other" }
    if size > Self.smallSize, size / Self.maxRatio > packedSize {
      return "it unpacks to more than \(Self.maxRatio) times its size, as a file that is made to harm"
    }
    return nil
  }

  /// Parses an entry of the directory, and returns it with its length in bytes; nil for a damaged entry.
  ///
  /// - Parameter base: the position in the file from which the entry's offset counts.
  static func read(_ bytes: [UInt8], at place: Int, base: UInt64) -> (ZipMember, length: Int)? {
    guard bytes.number(place, 4) == 0x0201_4B50 else { return nil }
    let nameLength = Int(bytes.number(place + 28, 2))
    let extraLength = Int(bytes.number(place + 30, 2))
    let length = 46 + nameLength + extraLength + Int(bytes.number(place + 32, 2))
    guard place + length <= bytes.count else { return nil }
    var packedSize = bytes.number(place + 20, 4)
    var size = bytes.number(place + 24, 4)
    var offset = bytes.number(place + 42, 4)
    let extra = place + 46 + nameLength
    let extras = extra..<extra + extraLength
    readLargeSizes(bytes, extras, &size, &packedSize, &offset)
    let (start, overflows) = offset.addingReportingOverflow(base)
    if overflows { return nil }
    // The upper byte of "version made by" is the system: 3 is Unix, 19 macOS.
    let system = bytes[place + 5]
    let attributes = UInt32(bytes.number(place + 38, 4))
    let member = ZipMember(
      name: String(decoding: bytes[(place + 46)..<extra], as: UTF8.self), size: size, packedSize: packedSize,
      method: UInt16(bytes.number(place + 10, 2)), flags: UInt16(bytes.number(place + 8, 2)),
      checksum: UInt32(bytes.number(place + 16, 4)), time: ZipTime.read(bytes, at: place, extra: extras),
      mode: system == 3 || system == 19 ? attributes >> 16 : 0, offset: start)
    return (member, length)
  }

  /// Reads sizes that exceed 32 bits from the ZIP64 field.
  private static func readLargeSizes(
    _ bytes: [UInt8], _ extras: Range<Int>, _ size: inout UInt64, _ packedSize: inout UInt64,
    _ offset: inout UInt64
  ) {
    guard let field = ZipExtraField.all(in: bytes, extras).first(where: { $0.id == 1 }) else { return }
    var next = field.content.lowerBound
    func read(_ value: inout UInt64) {
      guard value == 0xFFFF_FFFF, next + 8 <= field.content.upperBound else { return }
      value = bytes.number(next, 8)
      next += 8
    }
    read(&size)
    read(&packedSize)
    read(&offset)
  }
}

/// Unpacks one member of a ZIP archive: at most the stated number of bytes, with the checksum verified.
package final class ZipMemberSource: ByteSource {
  private let file: ZipFile
  private let member: ZipMember
  private let name: String
  private var stream = z_stream()
  private let input: UnsafeMutableRawBufferPointer
  /// The offset of the next packed byte. `packedLeft` is the number of remaining packed bytes.
  private var place: UInt64 = 0
  private var packedLeft: UInt64 = 0
  private var left: UInt64
  private var checksum: UInt = 0
  private var hasEnded = false

  /// - Parameter name: the member with its archive, for messages.
  /// - Throws: `Failure` for a member with a damaged header.
  package init(_ member: ZipMember, of archive: ZipArchive, name: String) throws {
    self.member = member
    self.name = name
    file = ZipFile(descriptor: archive.descriptor, name: archive.name)
    left = member.size
    input = .allocate(byteCount: 64 * 1024, alignment: 16)
    // Negative window bits mean raw data without a zlib header.
    guard inflateInit2_(&stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
      throw Failure(.inputOutput, "\(name): cannot start decompressing")
    }
    try rewind()
  }

  deinit {
    inflateEnd(&stream)
    input.deallocate()
  }

  /// Restarts at the first byte.
  package func rewind() throws {
    let header = try file.bytes(at: member.offset, count: Int(ZipMember.headerLength))
    guard header.number(0, 4) == 0x0403_4B50, inflateReset(&stream) == Z_OK else { throw damaged() }
    place = member.offset + ZipMember.headerLength + header.number(26, 2) + header.number(28, 2)
    packedLeft = member.packedSize
    guard place <= member.end, member.end - place >= packedLeft else { throw damaged() }
    left = member.size
    stream.avail_in = 0
    checksum = crc32(0, nil, 0)
    hasEnded = false
  }

  package func read(into buffer: UnsafeMutableRawBufferPointer) throws -> ReadOutcome {
    if hasEnded { return .end }
    let count = try member.method == 0 ? copy(into: buffer) : inflate(into: buffer)
    if count == 0 {
      hasEnded = true
      guard left == 0, checksum == UInt(member.checksum) else { throw damaged() }
      return .end
    }
    guard UInt64(count) <= left else { throw damaged() }
    left -= UInt64(count)
    checksum = crc32_z(checksum, buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), count)
    return .bytes(count)
  }

  private func copy(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let wanted = Int(min(UInt64(buffer.count), packedLeft))
    let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
    let count = wanted == 0 ? 0 : try file.read(at: place, into: part)
    if count < wanted { throw damaged() }
    (place, packedLeft) = (place + UInt64(count), packedLeft - UInt64(count))
    return count
  }

  /// Unpacks some bytes, and returns their number; 0 at the end of the data.
  private func inflate(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    // The buffer has room for one more byte than stated, so that excess data is noticed.
    let room = UInt32(min(UInt64(buffer.count), left + 1, 1 << 30))
    stream.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.avail_out = room
    while stream.avail_out == room {
      if stream.avail_in == 0, packedLeft > 0 {
        let wanted = Int(min(UInt64(input.count), packedLeft))
        let count = try file.read(at: place, into: UnsafeMutableRawBufferPointer(rebasing: input[..<wanted]))
        if count < wanted { throw damaged() }
        (place, packedLeft) = (place + UInt64(count), packedLeft - UInt64(count))
        stream.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.avail_in = UInt32(count)
      }
      switch CZlib.inflate(&stream, Z_NO_FLUSH) {
      case Z_OK: break
      case Z_STREAM_END: return Int(room - stream.avail_out)
      // No input is left: the data is truncated.
      default: throw damaged()
      }
    }
    return Int(room - stream.avail_out)
  }

  private func damaged() -> Failure {
    Failure(.badInput, "\(name): the member is damaged; download the archive again")
  }
}

/// When a member of a ZIP archive was last written, as the archive's directory states it.
package enum ZipTime: Hashable, Sendable {
  /// An instant in UTC seconds, from an extra field of Unix, macOS or Windows.
  case instant(Int64)
  /// The local time of the computer that packed the archive (APPNOTE.TXT 4.4.6).
  case local(DeviceTime)

  /// The beginning of 1981 in seconds. Programs that know no time write one of 1980, the first year that the
  /// format can state.
  private static let earliest: Int64 = 347_155_200

  /// The time in UTC seconds. It is nil for a time of 1980 or before, and for one in the future: both are not
  /// the times of files.
  ///
  /// - Parameters:
  ///   - zone: the zone of a local time.
  ///   - now: the host's clock in UTC seconds.
  package func seconds(in zone: LogbookZone, now: Int64) -> Int64? {
    let seconds: Int64
    switch self {
    case .instant(let instant): seconds = instant
    case .local(let time):
      var zone = zone
      seconds = zone.placement(of: time).instant(of: time).seconds
    }
    guard seconds >= Self.earliest, StoredAge.seconds(of: seconds, now: now) != nil else { return nil }
    return seconds
  }

  /// The time in an entry of the directory; nil if it has none.
  ///
  /// - Parameters:
  ///   - place: the index of the entry's first byte.
  ///   - extra: the indexes of the entry's extra fields.
  static func read(_ bytes: [UInt8], at place: Int, extra: Range<Int>) -> ZipTime? {
    for field in ZipExtraField.all(in: bytes, extra) {
      if let instant = instant(bytes, field) { return .instant(instant) }
    }
    let (time, date) = (Int(bytes.number(place + 12, 2)), Int(bytes.number(place + 14, 2)))
    let shown = DeviceTime(
      year: 1980 + date >> 9, month: date >> 5 & 15, day: date & 31, hour: time >> 11, minute: time >> 5 & 63,
      second: 2 * (time & 31))
    return shown.map(ZipTime.local)
  }

  /// The time of the last change in a field; nil if the field has none.
  private static func instant(_ bytes: [UInt8], _ field: ZipExtraField) -> Int64? {
    let (start, count) = (field.content.lowerBound, field.content.count)
    switch field.id {
    // "UT" of Info-ZIP: flags, then the time of the last change, which bit 0 of the flags announces.
    case 0x5455 where count >= 5 && bytes[start] & 1 == 1: return Int64(bytes.number(start + 1, 4))
    // "UX" of macOS and of older programs: the time of the last access, then that of the last change.
    case 0x5855 where count >= 8: return Int64(bytes.number(start + 4, 4))
    // NTFS: four reserved bytes, then attributes. Attribute 1 begins with the time of the last change in
    // units of 100 nanoseconds since 1601.
    case 0x000A where count >= 16 && bytes.number(start + 4, 2) == 1:
      return Int64(bytes.number(start + 8, 8) / 10_000_000) - 11_644_473_600
    default: return nil
    }
  }
}

/// An extra field in an entry of a ZIP directory.
struct ZipExtraField {
  let id: UInt64
  /// The indexes of the field's content.
  let content: Range<Int>

  /// The fields in a part of the directory, up to the first damaged one.
  static func all(in bytes: [UInt8], _ part: Range<Int>) -> [ZipExtraField] {
    var fields: [ZipExtraField] = []
    var place = part.lowerBound
    while place + 4 <= part.upperBound {
      let end = place + 4 + Int(bytes.number(place + 2, 2))
      guard end <= part.upperBound else { break }
      fields.append(ZipExtraField(id: bytes.number(place, 2), content: place + 4..<end))
      place = end
    }
    return fields
  }
}
