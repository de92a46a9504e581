// SPDX-License-Identifier: Apache-2.0

/// The settings of a serial line.
public struct LineSettings: Hashable, Sendable {
  /// A check bit after each byte.
  public enum Parity: UInt8, Sendable {
    case none, odd, even
  }

  /// Bits per second.
  public var baud: UInt32
  /// The check bit after each byte.
  public var parity: Parity
  /// 7 or 8.
  public var dataBits: UInt8
  /// 1 or 2.
  public var stopBits: UInt8
  /// Whether each side controls the flow by RTS and CTS.
  public var hasHardwareFlowControl: Bool

  /// A line with this speed. By default it has eight bits, one stop bit and no parity.
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
  /// Direction, type and recipient: `bmRequestType`.
  public var type: UInt8
  /// The request: `bRequest`.
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
  /// Sends one packet: a HID output report without padding, one bulk transfer, or bytes for a serial line.
  case send([UInt8])
  /// Receives one packet of at most this many bytes: a HID input report, one bulk transfer, or at least one byte of a
  /// serial line.
  case receive(maxBytes: Int)
  /// Reads a HID feature report; the answer begins with its id.
  case feature(id: UInt8, maxBytes: Int)
  /// Writes a HID feature report; the bytes begin with its id.
  case setFeature([UInt8])
  /// A control request that reads.
  case controlIn(ControlRequest, maxBytes: Int)
  /// A control request that writes.
  case controlOut(ControlRequest, [UInt8])
  /// A SCSI command that reads exactly this many bytes, or fewer if the device sends fewer.
  case command([UInt8], reads: Int)
  /// A SCSI command that writes.
  case commandWriting([UInt8], [UInt8])
  /// Sets the serial line.
  case setLine(LineSettings)
  /// Deletes the received bytes of a serial line that were not read.
  case discard
  /// Reads the value of a characteristic of a Bluetooth meter.
  case readValue(GlucoseCharacteristic)
  /// Turns on the notifications or indications of a characteristic.
  case subscribe(GlucoseCharacteristic)
  /// Waits for a notification or an indication. The answer begins with the number of its characteristic, the least
  /// significant byte first.
  case notification
  /// Writes to the record access control point.
  case recordAccess(RecordAccess)
}

/// Why an exchange failed.
public enum TransportError: Error, Hashable, Sendable {
  /// Nothing was received or accepted within the time.
  case timedOut
  /// The device is not connected any more.
  case unplugged
  /// The device refused: a stalled endpoint, a SCSI command with another status than good, or an error of a Bluetooth
  /// meter.
  case stalled
  /// More bytes came than a packet may hold.
  case overflow
  /// This link has no such exchange, as a serial line has no feature report. Of a Bluetooth meter: it does not have the
  /// characteristic.
  case unsupported
  /// The Bluetooth meter and this computer are not paired, or one of them lost the pairing.
  case notPaired
  /// A person or the system ended the program.
  case interrupted
  /// The session takes too long. From then on every step fails with this error.
  case overrun(Overrun)
  /// Any other error, in the words of the system's library.
  case failed(String)

  /// Why a session ended before the meter has sent everything.
  public enum Overrun: Hashable, Sendable {
    /// The meter sent no new record for two minutes.
    case nothingNew
    /// The session did not end within an hour.
    case tooLong
  }
}

/// The connection to one meter, with everything that a driver uses and may do.
public protocol Transport: AnyObject {
  /// Performs one step, and returns the received bytes; empty for a step that only writes.
  ///
  /// - Parameters:
  ///   - exchange: the step.
  ///   - milliseconds: the maximum time to wait.
  func perform(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8]
}

/// The origin of the secret of a login. The secret is never stored, but read for each run.
package enum TokenSource: Hashable, Sendable {
  /// The first line of a file that only its owner may read, by its absolute path.
  case file(String)
  /// The first line of the output of a shell command.
  case command(String)
}

/// The files by which this computer proves its identity to a remote. The store only keeps their paths.
package struct ClientCertificate: Hashable, Sendable {
  /// The certificate and those of its signers, in PEM.
  package let certificateFile: String
  /// Its private key in PEM, which only its owner may read.
  package let keyFile: String

  /// A certificate and its key, by their absolute paths.
  package init(certificateFile: String, keyFile: String) {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
  }
}
