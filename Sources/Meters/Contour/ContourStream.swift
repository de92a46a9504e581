// SPDX-License-Identifier: Apache-2.0

/// A unit of the stream of bytes from a meter.
enum ContourToken: Hashable {
  case frame(ContourFrame)
  /// A damaged frame.
  case damaged
  case endOfTransmission, enquiry, acknowledge, refuse
}

/// Splits the stream that the reports carry. A frame of exactly 60 bytes fills one report, and no further one follows.
/// So only the stream determines the end of a frame.
struct ContourStream {
  /// Above the longest frame: a header of a Contour Next USB has about 300 bytes.
  static let longestFrame = 1024

  private var bytes: [UInt8] = []

  /// Adds the bytes of one report.
  mutating func add(_ payload: ArraySlice<UInt8>) { bytes += payload }

  /// Discards the received bytes.
  mutating func clear() { bytes = [] }

  /// The next token; nil until more bytes arrive. Bytes outside of tokens and frames are dropped.
  mutating func next() -> ContourToken? {
    while let byte = bytes.first {
      if byte == ContourByte.startOfText { return nextFrame() }
      bytes.removeFirst()
      switch byte {
      case ContourByte.endOfTransmission: return .endOfTransmission
      case ContourByte.enquiry: return .enquiry
      case ContourByte.acknowledge: return .acknowledge
      case ContourByte.refuse: return .refuse
      default: continue
      }
    }
    return nil
  }

  private mutating func nextFrame() -> ContourToken? {
    let end = bytes.firstIndex { $0 == ContourByte.endOfText || $0 == ContourByte.endOfBlock }
    guard let end, end + 5 <= bytes.count else {
      guard bytes.count > Self.longestFrame else { return nil }
      clear()
      return .damaged
    }
    let frame = ContourFrame(bytes[..<(end + 5)])
    bytes.removeFirst(end + 5)
    return frame.map(ContourToken.frame) ?? .damaged
  }
}
