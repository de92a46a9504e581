// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Rules for udev: one for each id that a driver knows, each on that very id.
///
/// The person at the seat gets in by `uaccess`, a cron job by the group; nobody else does.
enum UdevRules {
  static func lines(_ drivers: [any MeterDriver.Type], group: String, shared: Bool) -> [String] {
    var seen: Set<String> = []
    var lines = ["# Blood-glucose meters, by glucoport.", "ACTION==\"remove\", GOTO=\"glucoport_end\""]
    for driver in drivers {
      let own = driver.models.filter { shared || !$0.isShared }.flatMap { model in
        rules(for: model, group: group).filter { seen.insert($0).inserted }
      }
      if !own.isEmpty { lines += ["", "# \(driver.name)"] + own }
    }
    return lines + ["", "LABEL=\"glucoport_end\""]
  }

  /// Whether this can be the name of a group, and nothing else.
  static func isGroup(_ name: String) -> Bool {
    let letters = name.utf8.allSatisfy { byte in
      (byte >= 0x61 && byte <= 0x7A) || (byte >= 0x30 && byte <= 0x39) || byte == 0x2D || byte == 0x5F
    }
    return letters && !name.isEmpty && name.utf8.count <= 32 && name.first?.isNumber == false
      && name.first != "-"
  }

  private static func rules(for model: MeterModel, group: String) -> [String] {
    let ids = [("idVendor", model.vendorID), ("idProduct", model.productID)]
    func match(_ attribute: String) -> String {
      ids.map { "\(attribute){\($0.0)}==\"\(MeterListing.digits($0.1))\"" }.joined(separator: ", ")
    }
    let access = "MODE=\"0660\", GROUP=\"\(group)\", TAG+=\"uaccess\""
    let device = "SUBSYSTEM==\"usb\", ENV{DEVTYPE}==\"usb_device\", \(match("ATTR")), \(access)"
    switch model.link {
    case .terminal: return ["SUBSYSTEM==\"tty\", \(match("ATTRS")), \(access)"]
    // A disk that the desktop mounts is one that a driver may not have.
    case .disk: return [device, "SUBSYSTEM==\"block\", \(match("ATTRS")), ENV{UDISKS_IGNORE}=\"1\""]
    default: return [device]
    }
  }
}
