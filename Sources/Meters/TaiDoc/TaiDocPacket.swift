// SPDX-License-Identifier: Apache-2.0

/// A packet of TaiDoc's protocol: 51, command, four bytes of data, direction, sum. Both directions use the same form.
struct TaiDocPacket: Hashable {
  /// The number of bytes of every packet.
  static let length = 8

  /// The sender of a packet, in the byte before the sum.
  enum Sender: UInt8 {
    case host = 0xA3
    case meter = 0xA5
  }

  /// The command, also in its answer.
  var command: UInt8
  /// Four bytes.
  var data: [UInt8]

  init(_ command: UInt8, _ data: [UInt8] = [0, 0, 0, 0]) {
    self.command = command
    self.data = data
  }

  /// The packet as sent.
  func bytes(from sender: Sender) -> [UInt8] {
    let head = [0x51, command] + data + [sender.rawValue]
    return head + [Self.sum(head)]
  }

  /// The first complete packet of the meter, which is removed with the bytes before it; nil if there is none.
  ///
  /// After an invalid packet or a wrong sum, the search continues at the next byte that may begin a packet.
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
