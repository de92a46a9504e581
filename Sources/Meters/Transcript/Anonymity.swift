// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A driver that can remove personal data from a transcript.
///
/// Serial numbers and values are inside frames with checksums, and often span packets. Only the driver knows the
/// frames, so only it can replace their content and recompute the checksums. A transcript with unknown frames is
/// refused.
package protocol AnonymisingDriver: MeterDriver {
  /// The same session with another serial number and other values, which do not depend on the original ones. Times, order,
  /// lengths, units and marks stay the same.
  ///
  /// - Throws: `Failure` if a part of the transcript is not understood, since it might hold personal data.
  static func anonymise(_ transcript: Transcript) throws -> Transcript
}

extension Transcript {
  /// The same session without personal data, if the driver supports it.
  ///
  /// - Throws: `Failure` of `.usage` if the driver does not support it.
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
