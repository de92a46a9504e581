// SPDX-License-Identifier: Apache-2.0

/// Rejects implausible amounts from a remote, as imports reject them. The check is necessary: a server only
/// checks the format of a client's data, and other programs can write anything to a Nightscout site.
package enum PullGate {
  /// Removes implausible readings and records from a page, and counts them in `notTaken` by the reason.
  ///
  /// - Parameter known: returns the state of the record with this guid in the store. An amount that this
  ///   state already has is accepted, since a person confirmed it with `--force`.
  package static func filter(_ page: inout ChangePage, known: (String) throws -> RecordState?) rethrows {
    filterReadings(&page)
    var records: [RemoteRecord] = []
    for record in page.records {
      guard PlausibleAmounts.fault(of: record.state.fields, record.state.kind) != nil,
        let fault = fault(of: record.state, known: try known(record.guid))
      else {
        records.append(record)
        continue
      }
      page.notTaken[fault, default: 0] += 1
    }
    page.records = records
  }

  /// Why a reading from a remote is implausible; nil if it is plausible.
  package static func fault(of reading: Reading) -> String? {
    if let fault = PlausibleAmounts.fault(of: reading) { return fault }
    guard reading.kind != .ketone, let quantity = reading.measurement.quantity, quantity.number <= 0 else {
      return nil
    }
    return "a glucose value of 0 \(quantity.unit.name)"
  }

  /// Why an amount in a record from a remote is implausible; nil if all amounts are plausible.
  ///
  /// - Parameter known: the same record in the store; nil if the store does not have it.
  package static func fault(of state: RecordState, known: RecordState?) -> String? {
    var fields = state.fields
    for (name, value) in known?.fields.values ?? [:] where fields[name] == value { fields[name] = nil }
    return PlausibleAmounts.fault(of: fields, state.kind)
  }

  private static func filterReadings(_ page: inout ChangePage) {
    let faults = page.readings.readings.map(fault)
    guard faults.contains(where: { $0 != nil }) else { return }
    var (kept, foreign) = ([Reading](), Set<Int>())
    for (place, reading) in page.readings.readings.enumerated() {
      if let fault = faults[place] {
        page.notTaken[fault, default: 0] += 1
      } else {
        if page.foreign.contains(place) { foreign.insert(kept.count) }
        kept.append(reading)
      }
    }
    (page.readings.readings, page.foreign) = (kept, foreign)
  }
}
