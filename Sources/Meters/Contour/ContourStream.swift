// SPDX-License-Identifier: Apache-2.0

/// What the bytes from a meter make up.
enum ContourToken: Hashable {
  case frame(ContourFrame)
  /// Something that began like a frame and is none.
  case damaged
  case endOfTransmission, enquiry, acknowledge, refuse
}

/// Takes the stream apart that the reports carry. A frame of exactly 60 bytes fills one report and nothing follows
/// it, so the end of a frame is found in the stream alone.
struct ContourStream {
  /// Longer than any frame: a header of a Contour Next USB has about 300 bytes.
  static let longestFrame = 1024

  private var bytes: [UInt8] = []

  /// Takes the bytes of one report.
  mutating func add(_ payload: ArraySlice<UInt8>) { bytes += payload }

  /// Forgets what has come.
  mutating func clear() { bytes = [] }

  /// The next token, or nil until more has come. Bytes that are no token and in no frame are dropped.
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
