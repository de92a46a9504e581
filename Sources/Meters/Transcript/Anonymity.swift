// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A driver that can take the person out of a transcript.
///
/// Serial numbers and values are inside frames with checksums, and often across packets. Only the driver knows the
/// frames, so only it can replace what is inside and make the checksums again; a transcript whose frames nobody knows
/// is not changed at all.
package protocol AnonymisingDriver: MeterDriver {
  /// The same session with a meter of another serial number that measured other values, from which nothing can be
  /// derived. Times, order, lengths, units and marks stay.
  ///
  /// - Throws: `Failure` where something in the transcript cannot be understood: what it might report is not known.
  static func anonymise(_ transcript: Transcript) throws -> Transcript
}

extension Transcript {
  /// The same session without the person, where its driver knows how.
  ///
  /// - Throws: `Failure` of `.usage` where the driver does not.
  package func anonymised(by driver: any MeterDriver.Type) throws -> Transcript {
    guard let driver = driver as? any AnonymisingDriver.Type else {
      throw Failure(
        .usage,
        "the driver '\(driver.id)' cannot anonymise a transcript, because it cannot recalculate the meter's checksums; "
          + "record without --anonymise, and do not share the file")
    }
    var transcript = try driver.anonymise(self)
    transcript.isAnonymised = true
    return transcript
  }
}
