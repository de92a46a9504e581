// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BluetoothTransport
import CommandParts
import Doctor
import Logbook
import LogbookStore
import Meters
import Remotes
import USBTransport

/// The command `doctor`, which checks what an import, a meter and an upload need. It prints the commands for
/// repairs.
struct DoctorCommand: AsyncParsableCommand, ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "doctor", "Check program, store, clock, meters, remote and jobs; change nothing.",
    examples: "glucoport doctor --deep --against backup.db", "glucoport doctor --deep --online --json")

  @OptionGroup var storeOptions: StoreOptions

  @Flag(help: "Check every page, reference and attachment of the store.")
  var deep = false

  @Option(
    help: ArgumentHelp(
      "With --deep, compare readings and records with those of another copy of the store.", valueName: "copy")
  )
  var against: String?

  @Flag(help: "Ask the server for its logbook, and compare the clocks.")
  var online = false

  @Flag(help: "Print one JSON object per line.")
  var json = false

  func validate() throws {
    guard deep || against == nil else { throw ValidationError("--against needs --deep.") }
  }

  func run() async throws {
    let output = Output()
    let persons = self.persons
    if against != nil, persons.count > 1 { throw StoreOptions.failure(without: persons) }
    var statuses: [ExitStatus] = []
    if persons.count < 2 { statuses += try await check(nil, output) }
    for person in persons where persons.count > 1 {
      if !json { output.line("\(displayed(person.name)):") }
      statuses += try await check(person.name, isFirst: person == persons[0], output)
    }
    try output.finish()
    let status = ExitStatus.of(statuses)
    if status != .done { throw status }
  }

  /// The persons whose stores are checked. The list is empty if a single store is chosen. It is also empty if
  /// the list of persons cannot be read, which a finding then reports.
  private var persons: [Person] {
    if storeOptions.isChosen { return [] }
    do { return try PersonList.load().all } catch { return [] }
  }

  /// Prints the findings about one store. Findings about the computer are only printed with the first store.
  ///
  /// - Parameter person: the name of the person, if several stores are checked.
  private func check(_ person: String?, isFirst: Bool = true, _ output: Output) async throws -> [ExitStatus] {
    var options = storeOptions
    if let person { options.person = person }
    let facts = await DoctorFacts(store: options, isDeep: deep, against: against, isOnline: online).gather()
    let findings = Checkup(facts).findings.filter { isFirst || !$0.area.isOfComputer }
    for finding in findings {
      try output.result(asJSON: json, DoctorObject(finding, person), orLines: [DoctorText.line(finding)])
    }
    return findings.map(DoctorText.status)
  }
}

extension Finding.Area {
  /// Whether findings of this check are about the computer, and so equal for every store.
  fileprivate var isOfComputer: Bool { [.program, .usb, .bluetooth, .udev].contains(self) }
}

/// A finding as a line of text, and as an exit status.
enum DoctorText {
  static func line(_ finding: Finding) -> String {
    let state = finding.state.rawValue
    let blanks = String(repeating: " ", count: max(1, 6 - state.count))
    let fix = finding.fix.map { "; run: \(displayed($0))" } ?? ""
    return "\(state)\(blanks)\(finding.area.rawValue): \(displayed(finding.detail))\(fix)"
  }

  /// The exit status of the command if this is the worst finding.
  static func status(_ finding: Finding) -> ExitStatus {
    switch finding.state {
    case .ok, .note: .done
    case .warn: .failed
    case .fail: finding.category.map(ExitStatus.init) ?? .failed
    }
  }
}

/// A finding, as `doctor --json` prints it; glucoport-json(5) documents its members.
private struct DoctorObject: Encodable {
  let check: String
  let state: String
  let detail: String
  let fix: String?
  let person: String?

  init(_ finding: Finding, _ person: String?) {
    self.person = person
    check = finding.area.rawValue
    state = finding.state.rawValue
    detail = PathText.shown(finding.detail)
    fix = finding.fix
  }
}

/// Gathers what the checks examine: from this machine, from the store and, if requested, from the remote.
struct DoctorFacts {
  let store: StoreOptions
  let isDeep: Bool
  let against: String?
  let isOnline: Bool

  func gather() async -> Facts {
    let content = examined
    let user = Host.userID
    let now = Host.now()
    var remote: RemoteFacts?
    var clock = ClockFacts(now: now, release: Release.date, isKept: ClockSynchronisation.isKept)
    if case .examined(let examination) = content.content {
      clock.lastSuccess = [examination.lastImport, examination.remote?.lastSuccess].compactMap(\.self).max()
      remote = examination.remote.map { Self.facts($0, user: user, now: now) }
      if isOnline, let access = examination.remote {
        let answer = await ask(access)
        clock.serverLead = answer.lead
        remote?.answer = answer.result
      }
    }
    var facts = Facts(
      program: program, folders: content.path.map { FolderFacts.of($0, user: user) }, store: content,
      clock: clock, usb: usb, udev: udev, remote: remote,
      jobs: .of(user: Host.userName, configuration: Host.configurationFolder, hasRemote: remote != nil),
      backups: backups(content, now: now))
    facts.bluetooth = bluetooth
    if case .examined(let examination) = content.content {
      facts.sources = examination.sources.map { SourceFacts.of($0, user: user, now: now) }
      facts.jobs.hasSources = !facts.sources.isEmpty
    }
    return facts
  }

  private func backups(_ store: StoreFacts, now: Int64) -> BackupFacts? {
    guard case .examined = store.content, let path = store.path else { return nil }
    do {
      let last = try BackupNotes(storePath: path).notes().last
      let file = last.flatMap { $0.path.isEmpty ? nil : $0.path }
      return BackupFacts(
        last: last, isThere: file.map { FileFact.at($0, followsLink: true) != nil }, now: now)
    } catch {
      return BackupFacts(last: nil, isThere: nil, now: now, problem: error)
    }
  }

  private static func facts(_ remote: ExaminedRemote, user: UInt32, now: Int64) -> RemoteFacts {
    var facts = RemoteFacts.of(remote, user: user, now: now)
    facts.authorities = remote.access.authorities.map { path in
      Result { () throws(Failure) in try CertificateFiles.check(authorities: path) }
    }
    facts.clientCertificate = remote.access.clientCertificate.map { client in
      Result { () throws(Failure) in try CertificateFiles.check(client, at: now) }
    }
    return facts
  }

  private var program: ProgramFacts {
    ProgramFacts(
      version: Release.version, sqlite: SQLiteLibrary.version, missingOptions: SQLiteLibrary.missing,
      libusb: USBBus.libraryVersion,
      hasZones: FileFact.at("/usr/share/zoneinfo/Europe/Madrid", followsLink: true) != nil)
  }

  private var examined: StoreFacts {
    do {
      let path = try store.path
      let log = FileFact.at(path + "-wal")?.size ?? 0
      do {
        if let against { try StoreExaminer(path: against).requireOwnSchema(isWritten: false) }
        let examination = try StoreExaminer(path: path).examine(isDeep: isDeep, against: against)
        return StoreFacts(path: path, content: examination.map { .examined($0) } ?? .none, logBytes: log)
      } catch {
        return StoreFacts(path: path, content: .refused(Self.failure(error)), logBytes: log)
      }
    } catch {
      return StoreFacts(path: nil, content: .refused(Self.failure(error)))
    }
  }

  private var usb: MeterFacts {
    let bus = USBBus()
    return MeterFacts(
      Result {
        PluggedMeter.meters(in: try bus.devices(), drivers: DriverRegister.all, shared: true).map { meter in
          MeterFacts.Meter(
            place: displayed(meter.model.isShared ? "cable at \(meter.device.port)" : meter.place),
            node: meter.node, hasNode: meter.mayOpen || FileFact.at(meter.node) != nil,
            mayOpen: meter.mayOpen,
            obstacle: meter.model.obstacle, kernelDrivers: meter.device.kernelDrivers,
            obstruction: bus.obstruction(to: meter.device, meter.model.link),
            permissionCommand: USBBus.permissionCommand(isShared: meter.model.isShared))
        }
      }.mapError(Self.failure))
  }

  /// The state of Bluetooth. bluetoothd is only asked if a meter was paired.
  private var bluetooth: BluetoothFacts {
    BluetoothFacts(
      Result {
        let listed = try PairedMeters.load().all
        let known = listed.isEmpty ? [] : try BluetoothMeters().bus().devices()
        return listed.map { meter in
          BluetoothFacts.Meter(
            name: "\(displayed(meter.name)) (\(meter.address))",
            isPaired: known.contains { $0.isPaired && $0.address.uppercased() == meter.address.uppercased() },
            readAt: meter.readAt)
        }
      }.mapError(Self.failure))
  }

  private var udev: RuleFacts {
    let files = RuleFacts.installed()
    return RuleFacts(
      expected: UdevRules.lines(DriverRegister.all, group: "plugdev", shared: false), files: files,
      unknownGroups: RuleFacts.groups(in: files).filter { !Host.hasGroup($0) }.sorted(),
      command: USBBus.permissionCommand(isShared: false))
  }

  private func ask(_ remote: ExaminedRemote) async -> (result: Result<String, Failure>, lead: Int64?) {
    do {
      let logbook = try await remote.access.connect { try await $0.logbook() }
      guard logbook.id == remote.logbook else {
        throw Failure(.otherLogbook(id: logbook.id), host: remote.access.url)
      }
      return (.success(RemoteText.line(logbook)), logbook.time.map { $0 - Host.now() })
    } catch {
      return (.failure(Self.failure(error)), nil)
    }
  }

  private static func failure(_ error: any Error) -> Failure {
    error as? Failure ?? Failure(.inputOutput, "\(error)")
  }
}
