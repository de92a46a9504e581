// SPDX-License-Identifier: Apache-2.0

import CZlib
import Logbook

/// Unpacks one member of a ZIP archive: at most the stated number of bytes, with the checksum verified.
package final class ZipMemberSource: ByteSource {
  private let file: ZipFile
  private let member: ZipMember
  private let name: String
  private var stream = z_stream()
  private let input: UnsafeMutableRawBufferPointer
  /// The offset of the next packed byte, and the number of remaining packed bytes.
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

  /// Unpacks some bytes; 0 at the end of the data.
  private func inflate(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    // Room for one more byte than stated reveals excess data.
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
