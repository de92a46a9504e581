// SPDX-License-Identifier: Apache-2.0

/// The settings of a serial line.
public struct LineSettings: Hashable, Sendable {
  /// The parity bit after each byte, for error detection.
  public enum Parity: UInt8, Sendable {
    case none, odd, even
  }

  /// Bits per second.
  public var baud: UInt32
  /// The parity bit after each byte.
  public var parity: Parity
  /// The number of data bits in a byte: 7 or 8.
  public var dataBits: UInt8
  /// The number of stop bits after a byte: 1 or 2.
  public var stopBits: UInt8
  /// Whether the computer and the device control the flow by the lines RTS and CTS.
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

/// The fields of a USB control request, except its length.
public struct ControlRequest: Hashable, Sendable {
  /// The field `bmRequestType`: direction, type and recipient.
  public var type: UInt8
  /// The field `bRequest`.
  public var request: UInt8
  /// The field `wValue`.
  public var value: UInt16
  /// The field `wIndex`.
  public var index: UInt16

  /// A request with these fields.
  public init(type: UInt8, request: UInt8, value: UInt16, index: UInt16) {
    self.type = type
    self.request = request
    self.value = value
    self.index = index
  }
}

/// One exchange in a session with a meter.
public enum LinkOperation: Hashable, Sendable {
  /// Sends one packet: a HID output report without padding, one bulk transfer, or bytes for a serial line.
  case send([UInt8])
  /// Receives one packet of at most this many bytes: a HID input report, one bulk transfer, or at least one
  /// byte of a serial line.
  case receive(maxBytes: Int)
  /// Reads a HID feature report. The answer begins with the id of the report.
  case feature(id: UInt8, maxBytes: Int)
  /// Writes a HID feature report. The bytes begin with the id of the report.
  case setFeature([UInt8])
  /// Performs a USB control request that reads at most this many bytes.
  case controlIn(ControlRequest, maxBytes: Int)
  /// Performs a USB control request that writes these bytes.
  case controlOut(ControlRequest, [UInt8])
  /// Performs a SCSI command that reads this number of bytes, or fewer if the device sends fewer.
  case command([UInt8], reads: Int)
  /// Performs a SCSI command that writes data. The values are the bytes of the command, and the data.
  case commandWriting([UInt8], [UInt8])
  /// Changes the settings of the serial line.
  case setLine(LineSettings)
  /// Discards the bytes that a serial line has received and that were not read.
  case discard
  /// Reads the value of a characteristic of a Bluetooth meter.
  case readValue(GlucoseCharacteristic)
  /// Turns on the notifications or indications of a characteristic of a Bluetooth meter.
  case subscribe(GlucoseCharacteristic)
  /// Waits for a notification or an indication of a Bluetooth meter. The answer begins with the number of its
  /// characteristic, the least significant byte first.
  case notification
  /// Writes this request to the record access control point of a Bluetooth meter.
  case recordAccess(RecordAccess)
}

/// Why an exchange failed.
public enum TransportError: Error, Hashable, Sendable {
  /// Within the time limit, no bytes were received, or the device did not accept the bytes that were sent.
  case timedOut
  /// The device is no longer connected.
  case unplugged
  /// The device refused the exchange: a stalled endpoint, a SCSI command whose status is not "good", or an
  /// error of a Bluetooth meter.
  case stalled
  /// The device sent more bytes than fit in a packet.
  case overflow
  /// This link does not support the exchange: for example, a serial line has no feature reports. A Bluetooth
  /// meter does not have the characteristic.
  case unsupported
  /// The Bluetooth meter and this computer are not paired, or one of them lost the pairing.
  case notPaired
  /// A person or the system ended the program.
  case interrupted
  /// The session has taken too long. From then on, every exchange fails with this error.
  case overrun(Overrun)
  /// Any other error, with the message of the system's library.
  case failed(String)

  /// Why a session ended before the meter has sent everything.
  public enum Overrun: Hashable, Sendable {
    /// The meter sent no new record for two minutes.
    case nothingNew
    /// The session did not end within an hour.
    case tooLong
  }
}

/// The connection to one meter. Drivers access the meter only through this protocol.
public protocol Transport: AnyObject {
  /// Performs one exchange and returns the received bytes. They are empty for an exchange that only writes.
  ///
  /// - Parameters:
  ///   - exchange: what is sent or received.
  ///   - milliseconds: the maximum time to wait.
  func perform(_ exchange: LinkOperation, within milliseconds: Int) throws(TransportError) -> [UInt8]
}

/// Where the secret of a login is read from. The secret is read for each run and never stored.
package enum TokenSource: Hashable, Sendable {
  /// The first line of the file at this absolute path. Only its owner may be able to read it.
  case file(String)
  /// The first line of the output of a shell command.
  case command(String)
}

/// The files with which this computer proves its identity to a remote. The store keeps only their paths.
package struct ClientCertificate: Hashable, Sendable {
  /// The path of a PEM file with the certificate and the certificates of its signers.
  package let certificateFile: String
  /// The path of a PEM file with the private key. Only its owner may be able to read it.
  package let keyFile: String

  /// A certificate and its key, by their absolute paths.
  package init(certificateFile: String, keyFile: String) {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
  }
}
