// SPDX-License-Identifier: Apache-2.0

import Logbook
import Report

extension ReportContents {
  /// The contents of a report from a view.
  ///
  /// - Parameters:
  ///   - dates: the first and the last date of the period.
  ///   - device: the selected device; nil for all.
  init(_ view: StatsView, dates: (first: String, last: String), device: String?, isAnonymised: Bool) {
    self.init(
      result: view.result, days: view.days,
      devices: view.devices.map { device in
        let name = [device.vendor, device.model].filter { !$0.isEmpty }.joined(separator: " ")
        return ReportDevice(name: name, serialNumber: device.serial)
      },
      targets: view.targets, unit: view.unit, zone: view.zone.name, dates: dates, device: device,
      version: Release.version, isAnonymised: isAnonymised)
    // The name of a phone often contains the name of its owner.
    sourceName = { isAnonymised ? SourceTitle.format($0.format) : SourceTitle.text($0) }
  }
}
