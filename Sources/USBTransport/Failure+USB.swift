// SPDX-License-Identifier: Apache-2.0

import Logbook

extension USBBus {
  /// A command that gives people and cron jobs the permission to open meters.
  ///
  /// - Parameters:
  ///   - isShared: whether the rules include cables and chips whose ids other devices share.
  ///   - ids: the ids of a device that no driver knows, and for which there is no other rule.
  package static func permissionCommand(isShared: Bool, ids: String? = nil) -> String {
    let options = (isShared ? " --shared" : "") + (ids.map { " --usb " + $0 } ?? "")
    return "glucoport meter udev-rules\(options) | sudo tee /etc/udev/rules.d/70-glucoport.rules "
      + "&& sudo udevadm control --reload && sudo udevadm trigger"
  }
}

extension Failure {
  /// Permission for a device's file is missing; the message states the command that gives it.
  ///
  /// - Parameter isShared: whether other devices share its ids, so that the default rules omit it.
  static func noPermission(_ node: String, isShared: Bool) -> Failure {
    let command = USBBus.permissionCommand(isShared: isShared)
    return Failure(.permission, "opening the meter: Permission denied: \(node); run: \(command)")
  }

  /// A device that has disappeared.
  static func gone(_ node: String) -> Failure {
    Failure(.unavailable, "opening the meter: \(node) has disappeared; plug the meter in and retry")
  }

  /// A device that another program uses.
  static func inUse(_ node: String) -> Failure {
    Failure(.unavailable, "opening the meter: another program uses \(node); close it and retry")
  }

  /// A device without the interface that a link needs.
  static func noInterface(_ what: String) -> Failure {
    Failure(.protocolViolation, "opening the meter: the device has no \(what); is it in the right mode?")
  }
}
