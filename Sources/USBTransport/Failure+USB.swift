// SPDX-License-Identifier: Apache-2.0

import Logbook

extension USBBus {
  /// The one command that gives people and their cron jobs the permission to open meters.
  ///
  /// - Parameters:
  ///   - isShared: whether the rules are also for cables and chips whose ids other devices use, too.
  ///   - ids: the ids of a device that no driver knows, for which there is else no rule.
  package static func permissionCommand(isShared: Bool, ids: String? = nil) -> String {
    let options = (isShared ? " --shared" : "") + (ids.map { " --usb " + $0 } ?? "")
    return "glucoport meter udev-rules\(options) | sudo tee /etc/udev/rules.d/70-glucoport.rules "
      + "&& sudo udevadm control --reload && sudo udevadm trigger"
  }
}

extension Failure {
  /// No permission for a device's file, with the one command that gives it.
  ///
  /// - Parameter isShared: whether others use the device's ids, too, so that no rule is printed for it unasked.
  static func noPermission(_ node: String, isShared: Bool) -> Failure {
    let command = USBBus.permissionCommand(isShared: isShared)
    return Failure(.permission, "opening the meter: Permission denied: \(node); run: \(command)")
  }

  /// A device that is gone.
  static func gone(_ node: String) -> Failure {
    Failure(.unavailable, "opening the meter: \(node) has disappeared; plug the meter in and retry")
  }

  /// A device that something else uses.
  static func inUse(_ node: String) -> Failure {
    Failure(.unavailable, "opening the meter: another program uses \(node); close it and retry")
  }

  /// A device without what a link needs.
  static func noInterface(_ what: String) -> Failure {
    Failure(.protocolViolation, "opening the meter: the device has no \(what); is it in the right mode?")
  }
}
