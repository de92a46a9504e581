// SPDX-License-Identifier: Apache-2.0

/// A packet of TaiDoc's protocol, the same in both directions: 51, command, four bytes of data, direction, sum.
struct TaiDocPacket: Hashable {
  /// How many bytes every packet has.
  static let length = 8

  /// Who sends it: the byte before the sum.
  enum Sender: UInt8 {
    case host = 0xA3
    case meter = 0xA5
  }

  /// What is asked, or answered.
  var command: UInt8
  /// Four bytes.
  var data: [UInt8]

  /// A packet with this data; four zeros where none is given.
  init(_ command: UInt8, _ data: [UInt8] = [0, 0, 0, 0]) {
    self.command = command
    self.data = data
  }

  /// The packet as it goes over the line.
  func bytes(from sender: Sender) -> [UInt8] {
    let head = [0x51, command] + data + [sender.rawValue]
    return head + [Self.sum(head)]
  }

  /// The first packet of the meter in these bytes, which are dropped up to its end; nil where none has come whole.
  ///
  /// What is no packet, or has a wrong sum, is skipped up to the next byte that may begin one.
  static func next(in bytes: inout [UInt8]) -> TaiDocPacket? {
    var start = 0
    while start + length <= bytes.count {
      let piece = bytes[start..<start + length]
      if piece.first == 0x51, piece[start + 6] == Sender.meter.rawValue,
        sum(piece.dropLast()) == piece[start + 7]
      {
        let packet = TaiDocPacket(piece[start + 1], Array(piece[start + 2..<start + 6]))
        bytes.removeFirst(start + length)
        return packet
      }
      start += 1
    }
    bytes.removeFirst(start)
    return nil
  }

  private static func sum(_ bytes: some Sequence<UInt8>) -> UInt8 { bytes.reduce(0, &+) }
}
