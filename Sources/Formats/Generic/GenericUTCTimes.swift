// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Detects an input whose times all have the offset `+00:00`. They may be from the clock of a phone in
/// London. Or a program wrote them in UTC, so that their days and hours are not those of the person.
struct GenericUTCTimes {
  private let zone: LogbookZone
  /// Whether some time is an instant in the logbook's zone, or does not state the offset `+00:00`.
  private(set) var hasOthers = false
  private var instants: ClosedRange<Int64>?

  init(zone: LogbookZone) { self.zone = zone }

  /// Adds the time of a reading, a dose or a meal.
  ///
  /// - Parameter isInstant: whether the input states an instant, for which the logbook's zone gives the shown
  ///   time.
  @inline(__always) mutating func observe(_ time: ShownTime, isInstant: Bool) {
    guard !hasOthers else { return }
    guard !isInstant, time.utcOffset == 0 else { return hasOthers = true }
    let seconds = time.deviceTime.seconds
    let known = instants ?? seconds...seconds
    instants = min(known.lowerBound, seconds)...max(known.upperBound, seconds)
  }

  /// Whether all times are in UTC, and the logbook's zone has another offset at the first or the last of the
  /// times.
  var differFromZone: Bool {
    guard !hasOthers, let instants else { return false }
    return [instants.lowerBound, instants.upperBound].contains { zone.offset(atUTC: $0) != 0 }
  }
}

extension GenericFormat {
  /// The warning about times that may all be in UTC; nil if there is no such doubt.
  var doubtAboutUTC: String? {
    guard utcTimes.differFromZone else { return nil }
    var names = options.columns.isEmpty ? finding.namesInCommands : options.columns
    var command = ""
    if let time = names.removeValue(forKey: GenericRole.time.name) {
      names[GenericRole.utc.name] = time
      var options = options
      (options.columns, options.format) = (names, nil)
      command =
        "; to show them in that zone, run 'glucoport undo', and import them with: "
        + ImportHint(options: options).command
    }
    return
      "all times have the offset +00:00; if they are in UTC, and of no clock, hours and days are not those of "
      + options.zone.name + command
  }
}
