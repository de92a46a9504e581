// SPDX-License-Identifier: Apache-2.0

/// How a serial line is set.
public struct LineSettings: Hashable, Sendable {
  /// A check bit behind each byte.
  public enum Parity: UInt8, Sendable {
    case none, odd, even
  }

  /// Bits a second.
  public var baud: UInt32
  /// The check bit behind each byte.
  public var parity: Parity
  /// 7 or 8.
  public var dataBits: UInt8
  /// 1 or 2.
  public var stopBits: UInt8
  /// Whether each side holds the other back by RTS and CTS.
  public var hasHardwareFlowControl: Bool

  /// A line of this speed, with eight bits, one stop bit and no parity unless said otherwise.
  public init(
    baud: UInt32, parity: Parity = .none, dataBits: UInt8 = 8, stopBits: UInt8 = 1,
    hasHardwareFlowControl: Bool = false
  ) {
    self.baud = baud
    self.parity = parity
    self.dataBits = dataBits
    self.stopBits = stopBits
    self.hasHardwareFlowControl = hasHardwareFlowControl
  }
}

/// The five fields of a USB control request, without its length.
public struct ControlRequest: Hashable, Sendable {
  /// Direction, type and recipient, as `bmRequestType` has them.
  public var type: UInt8
  /// What is asked: `bRequest`.
  public var request: UInt8
  /// `wValue`.
  public var value: UInt16
  /// `wIndex`.
  public var index: UInt16

  /// A request with these fields.
  public init(type: UInt8, request: UInt8, value: UInt16, index: UInt16) {
    self.type = type
    self.request = request
    self.value = value
    self.index = index
  }
}

/// One step of a session with a meter.
public enum LinkOperation: Hashable, Sendable {
  /// Hands over one packet: a HID output report without padding, one bulk transfer, or bytes for a serial line.
  case send([UInt8])
  /// Waits for one packet of at most so many bytes: a HID input report, one bulk transfer, or what has come over a
  /// serial line, at least one byte.
  case receive(maxBytes: Int)
  /// Reads a HID feature report; the answer begins with its id.
  case feature(id: UInt8, maxBytes: Int)
  /// Writes a HID feature report; the bytes begin with its id.
  case setFeature([UInt8])
  /// A control request that reads.
  case controlIn(ControlRequest, maxBytes: Int)
  /// A control request that writes.
  case controlOut(ControlRequest, [UInt8])
  /// A SCSI command that reads exactly so many bytes, or fewer where the device sends fewer.
  case command([UInt8], reads: Int)
  /// A SCSI command that writes.
  case commandWriting([UInt8], [UInt8])
  /// Sets the serial line.
  case setLine(LineSettings)
  /// Drops what a serial line has received and nobody read.
  case discard
}

/// Why an exchange did not happen.
public enum TransportError: Error, Hashable, Sendable {
  /// Nothing came, or nothing was taken, within the time.
  case timedOut
  /// The device is not there any more.
  case unplugged
  /// The device refused: a stalled endpoint, or a SCSI command that ended with another status than good.
  case stalled
  /// More came than a packet may hold.
  case overflow
  /// This link has no such exchange: a feature report of a serial line.
  case unsupported
  /// A person, or the system, ended the program meanwhile.
  case interrupted
  /// The session goes on for too long. Every step fails so from then on.
  case overrun(Overrun)
  /// Anything else, in the words of the system's library.
  case failed(String)

  /// Why a session is over before the meter has sent everything.
  public enum Overrun: Hashable, Sendable {
    /// The meter sent no new record for two minutes.
    case nothingNew
    /// It did not end within an hour.
    case tooLong
  }
}

/// The connection to one meter: what a driver uses, and all that it may do.
public protocol Transport: AnyObject {
  /// Does one step, and returns what came; empty for a step that only writes.
  ///
  /// - Parameters:
  ///   - exchange: the step.
  ///   - milliseconds: how long to wait at most.
  func perform(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8]
}
