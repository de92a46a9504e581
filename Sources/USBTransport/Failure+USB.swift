// SPDX-License-Identifier: Apache-2.0

import Logbook

extension Failure {
  /// No permission for a device's file, with the one command that gives it.
  static func noPermission(_ node: String) -> Failure {
    Failure(
      .permission,
      """
      opening the meter: no permission for \(node); run: glucoport meter udev-rules | \
      sudo tee /etc/udev/rules.d/70-glucoport.rules && sudo udevadm control --reload && sudo udevadm trigger
      """)
  }

  /// A device that is gone.
  static func gone(_ node: String) -> Failure {
    Failure(.unavailable, "opening the meter: \(node) is not there any more; plug the meter in and retry")
  }

  /// A device that something else uses.
  static func inUse(_ node: String) -> Failure {
    Failure(.unavailable, "opening the meter: another program uses \(node); end it and retry")
  }

  /// A device without what a link needs.
  static func noInterface(_ what: String) -> Failure {
    Failure(.protocolViolation, "opening the meter: the device has no \(what); is it in the right mode?")
  }
}
