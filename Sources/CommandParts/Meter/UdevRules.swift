// SPDX-License-Identifier: Apache-2.0

package import Logbook
import Meters

/// Rules for udev that make meters accessible. Each rule is for exactly one pair of USB ids that a driver
/// knows.
///
/// The tag `uaccess` grants access to the person at the computer, and the group grants it to cron jobs. All
/// other users get no access.
package enum UdevRules {
  /// The lines of a file with rules for the models of these drivers. With `shared`, they include ids that
  /// other products use, too.
  ///
  /// - Parameter others: devices that a driver opens only on request, since no driver knows their ids.
  package static func lines(
    _ drivers: [any MeterDriver.Type], group: String, shared: Bool, others: [USBArgument] = []
  ) -> [String] {
    var seen: Set<String> = []
    // The rules apply to all events except the removal. If they applied only to the arrival, a later event,
    // such as the binding of a driver, would reset the access.
    var lines = ["# Blood-glucose meters, by glucoport.", "ACTION==\"remove\", GOTO=\"glucoport_end\""]
    for driver in drivers {
      let own = driver.models.filter { shared || !$0.isShared }.flatMap { model in
        rules(for: model, group: group).filter { seen.insert($0).inserted }
      }
      if !own.isEmpty { lines += ["", "# \(driver.name)"] + own }
    }
    for device in others {
      let rules = [rule(for: device, group), terminalRule(for: device, group)]
      lines += ["", "# \(device.text)"] + rules.filter { seen.insert($0).inserted }
    }
    return lines + ["", "LABEL=\"glucoport_end\""]
  }

  /// Whether a text is a valid name of a group. Such a text cannot add other content to a rule.
  package static func isGroup(_ name: String) -> Bool {
    let letters = name.utf8.allSatisfy { byte in
      (byte >= 0x61 && byte <= 0x7A) || (byte >= 0x30 && byte <= 0x39) || byte == 0x2D || byte == 0x5F
    }
    return letters && !name.isEmpty && name.utf8.count <= 32 && name.first?.isNumber == false
      && name.first != "-"
  }

  private static func rules(for model: MeterModel, group: String) -> [String] {
    let ids = (model.vendorID, model.productID)
    let device = deviceMatch(ids) + access(group)
    // A shared id may be that of a cable or another product, so the rule must not start an import.
    let start = model.isShared || model.obstacle != nil ? "" : ", " + importStart
    switch model.link {
    case .terminal: return [deviceMatch(ids) + ignoredByModems, terminalMatch(ids) + access(group) + start]
    case .cdc: return [device + ", " + ignoredByModems + start]
    // The desktop must not mount the disk, since the driver may be unable to open a mounted one.
    case .disk:
      return [device + start, "SUBSYSTEM==\"block\", \(match("ATTRS", ids)), ENV{UDISKS_IGNORE}=\"1\""]
    case .hid, .bulk, .cp2110: return [device + start]
    case .bluetooth: return []
    }
  }
}

extension UdevRules {
  private typealias IDs = (vendor: UInt16, product: UInt16)

  /// The part of a rule that makes ModemManager ignore the device. It would probe each serial line for a
  /// modem, and the meter would not answer during the probe.
  private static let ignoredByModems = "ENV{ID_MM_DEVICE_IGNORE}=\"1\""

  /// The part of a rule that starts the import in the service manager of each user that is logged in. A unit
  /// that is not installed is ignored. The import is not started by udev itself, which would kill it and give
  /// it no network.
  private static let importStart = "TAG+=\"systemd\", ENV{SYSTEMD_USER_WANTS}+=\"glucoport-meter.service\""

  private static func rule(for device: USBArgument, _ group: String) -> String {
    deviceMatch((device.vendorID, device.productID)) + access(group) + ", " + ignoredByModems
  }

  private static func terminalRule(for device: USBArgument, _ group: String) -> String {
    terminalMatch((device.vendorID, device.productID)) + access(group)
  }

  private static func deviceMatch(_ ids: IDs) -> String {
    "SUBSYSTEM==\"usb\", ENV{DEVTYPE}==\"usb_device\", \(match("ATTR", ids)), "
  }

  private static func terminalMatch(_ ids: IDs) -> String {
    "SUBSYSTEM==\"tty\", \(match("ATTRS", ids)), "
  }

  private static func match(_ attribute: String, _ ids: IDs) -> String {
    [("idVendor", ids.vendor), ("idProduct", ids.product)]
      .map { "\(attribute){\($0.0)}==\"\(MeterModel.digits($0.1))\"" }.joined(separator: ", ")
  }

  private static func access(_ group: String) -> String {
    "MODE=\"0660\", GROUP=\"\(group)\", TAG+=\"uaccess\""
  }
}
