// SPDX-License-Identifier: Apache-2.0

import Logbook
import Meters
import USBTransport

/// The recording of one session in a file. It is written during the session; an anonymous one is written
/// after its end.
final class TranscriptRecording {
  /// The transcript so far; nil before the meter is opened, and after it turned out to be another one.
  private(set) var transcript: Transcript?

  private let path: String
  private let isAnonymous: Bool
  private var file: TranscriptFile?
  private var driver: (any MeterDriver.Type)?

  init(to path: String, isAnonymous: Bool) {
    self.path = path
    self.isAnonymous = isAnonymous
  }

  /// Begins with a meter that was just opened.
  func begin(_ meter: PluggedMeter, _ transport: any Transport) throws -> any Transport {
    let (vendorID, productID) = (meter.device.vendorID, meter.device.productID)
    var empty = Transcript(
      driver: meter.driver.id, vendorID: vendorID, productID: productID, startedAt: Host.now())
    if meter.isUnknown || meter.bluetooth != nil { empty.link = meter.model.link.kind }
    if isAnonymous { _ = try empty.anonymised(by: meter.driver) }
    let file = try TranscriptFile(creating: path)
    (self.file, driver, transcript) = (file, meter.driver, empty)
    if !isAnonymous { try file.write(empty.head) }
    let start = ContinuousClock.now
    return RecordingTransport(
      transport, milliseconds: { Int((ContinuousClock.now - start) / .milliseconds(1)) },
      note: { step in
        self.transcript?.steps.append(step)
        // After a recording was dropped, the end of the session is still sent to the meter.
        if !self.isAnonymous, self.file != nil { try file.write(Transcript.line(step)) }
      })
  }

  /// Ends the recording if the session turns out to be with another meter than the requested one.
  func check(_ connection: MeterConnection) {
    let recognise = connection.onIdentity
    connection.onIdentity = { identity in
      do {
        try recognise(identity)
      } catch {
        self.drop()
        throw error
      }
    }
  }

  /// Completes the file.
  ///
  /// - Throws: `Failure`. A session that its driver cannot make anonymous is not kept.
  func finish() throws {
    guard let file, let driver, let transcript else { return }
    if isAnonymous {
      do {
        try file.write(transcript.anonymised(by: driver).text)
      } catch {
        drop()
        throw error
      }
    }
    try file.close()
  }

  private func drop() {
    file?.remove()
    (file, transcript) = (nil, nil)
  }
}
