// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Formats
import Ingest
import Logbook
import LogbookStore
import Meters

/// `glucoport import --meter`, and the import of a recorded session with `--transcript`.
extension ImportCommand {
  /// Refuses several kinds of input at once, and options that have no effect on the given kind.
  func validateSource() throws {
    let sources = [!paths.isEmpty, meter, transcript != nil].filter { $0 }.count
    if sources == 0 {
      throw ValidationError("Name a file, - for standard input, or --meter.")
    }
    if sources > 1 { throw ValidationError("Use only one of files, --meter and --transcript.") }
    if !meter, ifPresent || all || meterOptions.isGiven {
      throw ValidationError("--driver, --usb, --serial, --bluetooth, --all and --if-present need --meter.")
    }
    if paths.isEmpty, let name = optionOfExports {
      throw ValidationError("\(name) is only for files, not for meters.")
    }
  }

  /// The first given option that has an effect only on exports in files; nil if there is none.
  var optionOfExports: String? {
    let ofExports: [(String, Bool)] = [
      ("--format", format != nil), ("--unit", unit != nil), ("--date-order", dateOrder != nil),
      ("--device", device != nil), ("--map", !map.isEmpty), ("--rejects", rejects != nil),
      ("--rejects-append", rejectsAppend),
      ("--kind", kind != nil), ("--where", !rowsWhere.isEmpty), ("--depth", depth != nil), ("--force", force),
      ("--last-line", lastLine != nil), ("--exported", exported != nil),
    ]
    return ofExports.first { $0.1 }?.0
  }

  /// Reads the meter or the transcript that the options name, and stores its readings.
  func importMeter(_ output: Output) throws -> ExitStatus {
    try namingRejections(output) {
      try transcript.map { try importTranscript($0.path, output) } ?? importPlugged(output)
    }
  }

  /// Reads one plugged meter, and stores its readings for the person to whom the meter is assigned. The
  /// result is nil if the meter's serial number is not the requested one.
  func importMeter(
    _ meter: PluggedMeter, by opener: MeterOpener, among persons: PersonList, _ output: Output
  ) throws -> ExitStatus? {
    let progress = ProgressMeter(output, isQuiet: quiet || json)
    defer { progress.clear() }
    var isMeant = false
    let status = try namingRejections(output) {
      var target: ImportTarget?
      let report = try opener.perform(meters: [meter], ifPresent: ifPresent) { meter, connection in
        connection.onProgress = { progress.show(MeterProgress.text(meter.place, $0, $1)) }
        let require = connection.onIdentity
        connection.onIdentity = { identity in
          try require(identity)
          isMeant = true
          _ = try MeterOwner(identity, meter, persons).required()
        }
        connection.storedPosition = { identity in
          var one = self
          one.storeOptions.person = try MeterOwner(identity, meter, persons).required().name
          return try one.storedPosition(of: identity)
        }
        let contents = try meter.driver.init().read(connection)
        // The meter's owner is looked up first. The readings go into the owner's store, and the zone of this
        // store applies to the times of the meter.
        var one = self
        one.storeOptions.person = try MeterOwner(contents.identity, meter, persons).required().name
        let own = try ImportTarget(one, output)
        target = own
        let report = try store(meter.driver, connection, .meter, own, contents)
        try markImported(of: meter)
        return report
      }
      progress.clear()
      guard let report, let target else { return .done }
      isMeant = true
      return try show(report, in: target.store, output)
    }
    return isMeant ? status : nil
  }

  private func importPlugged(_ output: Output) throws -> ExitStatus {
    let opener = MeterOpener(meterOptions, readsAgain: true)
    let progress = ProgressMeter(output, isQuiet: quiet || json)
    defer { progress.clear() }
    let target = try ImportTarget(self, output)
    func storeContents(_ meter: PluggedMeter, _ connection: MeterConnection) throws -> ImportReport {
      connection.onProgress = { progress.show(MeterProgress.text(meter.place, $0, $1)) }
      let require = connection.onIdentity
      connection.onIdentity = { identity in
        try require(identity)
        if !yes { try MeterOwner(identity, meter, PersonList.load()).requireStore(target.path) }
      }
      connection.storedPosition = storedPosition
      let report = try store(meter.driver, connection, .meter, target)
      try markImported(of: meter)
      return report
    }
    let report = ifPresent ? try opener.performIfPresent(storeContents) : try opener.perform(storeContents)
    progress.clear()
    guard let report else { return .done }
    return try show(report, in: target.store, output)
  }

  /// The position in the meter's memory up to which the store has all readings; nil to read the whole memory.
  /// It is nil if an option concerns readings that are stored already.
  private func storedPosition(of meter: MeterIdentity) throws -> MeterPosition? {
    if all || again || timezone != nil { return nil }
    return try storeOptions.existing()?.meterPosition(of: meter.device)
  }

  /// For a paired Bluetooth meter, stores the time of the import in the list of paired meters.
  private func markImported(of meter: PluggedMeter) throws {
    guard let address = meter.bluetoothAddress, !dryRun else { return }
    try PairedMeters.change { $0.markRead(address: address, at: Host.now()) }
  }

  private func importTranscript(_ path: String, _ output: Output) throws -> ExitStatus {
    let bytes = try TranscriptFile.read(path)
    let transcript = try Transcript(bytes: bytes, named: path)
    let (driver, connection) = try transcript.replay(named: path)
    var digest = Digest()
    bytes.withUnsafeBytes { digest.update($0) }
    let source = MeterSource(name: PathText.shown(path), digest: digest.hexadecimal())
    let target = try ImportTarget(self, output)
    let require = connection.onIdentity
    connection.onIdentity = { identity in
      try require(identity)
      if !yes {
        try MeterOwner(identity, PersonList.load()).requireStore(target.path)
      }
    }
    return try show(store(driver, connection, source, target), in: target.store, output)
  }

  private func store(
    _ driver: any MeterDriver.Type, _ connection: MeterConnection, _ source: MeterSource,
    _ target: ImportTarget, _ contents: MeterContents? = nil
  ) throws -> ImportReport {
    let times = MeterTimes(
      zone: target.options.zone, zoneBasis: timezone == nil ? .logbook : .given, now: target.options.now)
    let ingestor = MeterIngestor(
      driver.init(), connection, source: source, times: times, clock: Host.now, contents: contents)
    let report = try ImportSession(policy: policy, clock: Host.now).run(ingestor, into: target.store)
    try target.finish()
    return report
  }
}
