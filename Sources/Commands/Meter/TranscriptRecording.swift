// SPDX-License-Identifier: Apache-2.0

import Logbook
import Meters
import USBTransport

/// The recording of one session into a file: written as the session goes on or, without the person, when it is over.
final class TranscriptRecording {
  /// What was recorded; nil before the meter was opened, and after it turned out to be another one.
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
    if meter.isUnknown { empty.link = meter.model.link.kind }
    if isAnonymous { _ = try empty.anonymised(by: meter.driver) }
    let file = try TranscriptFile(creating: path)
    (self.file, driver, transcript) = (file, meter.driver, empty)
    if !isAnonymous { try file.write(empty.head) }
    let start = ContinuousClock.now
    return RecordingTransport(
      transport, milliseconds: { Int((ContinuousClock.now - start) / .milliseconds(1)) },
      note: { step in
        self.transcript?.steps.append(step)
        // Of a meter that was dropped the good-bye still goes.
        if !self.isAnonymous, self.file != nil { try file.write(Transcript.line(step)) }
      })
  }

  /// Ends the recording where the session turns out to be with another meter than the one that is meant.
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
  /// - Throws: `Failure`; a session that its driver cannot make anonymous is not kept.
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
