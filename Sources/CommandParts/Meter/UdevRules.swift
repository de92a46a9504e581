// SPDX-License-Identifier: Apache-2.0

package import Logbook
import Meters

/// Rules for udev: one for each id that a driver knows, for exactly that id.
///
/// `uaccess` gives access to the person at the seat, and the group gives it to cron jobs. All other users
/// have none.
package enum UdevRules {
  /// - Parameter others: devices that no driver knows, but that a driver opens on request.
  package static func lines(
    _ drivers: [any MeterDriver.Type], group: String, shared: Bool, others: [USBArgument] = []
  ) -> [String] {
    var seen: Set<String> = []
    // The rules apply to all events except the removal. Otherwise the binding of a driver, for example, would
    // undo them.
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

  /// Whether this is a valid name of a group, and nothing else.
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
    // A cable does not identify the meter at its end, so nothing can be imported automatically.
    let start = model.isShared || model.obstacle != nil ? "" : ", " + importStart
    switch model.link {
    case .terminal: return [deviceMatch(ids) + ignoredByModems, terminalMatch(ids) + access(group) + start]
    case .cdc: return [device + ", " + ignoredByModems + start]
    // A driver may not be able to open a disk that the desktop has mounted.
    case .disk:
      return [device + start, "SUBSYSTEM==\"block\", \(match("ATTRS", ids)), ENV{UDISKS_IGNORE}=\"1\""]
    case .hid, .bulk, .cp2110: return [device + start]
    case .bluetooth: return []
    }
  }
}

extension UdevRules {
  private typealias IDs = (vendor: UInt16, product: UInt16)

  /// ModemManager would probe every serial line for a modem, and the meter would not answer to that.
  private static let ignoredByModems = "ENV{ID_MM_DEVICE_IGNORE}=\"1\""

  /// Starts the import of each user whose service manager runs; a unit that is not installed is ignored. udev
  /// would kill a program that it runs itself, and gives it no network.
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
