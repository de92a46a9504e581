// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Doctor
import Formats
import Foundation
import Logbook
import LogbookStore

/// The settings of this computer that are not in the store. A backup takes them to another computer. They
/// name the file or the command from which the remote's token is read, but do not contain the token.
struct BackupSettings: Codable, Equatable {
  /// A person in the list of `person list`.
  struct Owner: Codable, Equatable {
    let name: String
    let folders: [String]
    let meters: [String]
  }

  /// The person to whom the store belongs; nil if it belongs to none.
  let person: Owner?
  /// The paired Bluetooth meters, each as its address and name. The other computer must pair them again.
  let bluetoothMeters: [String]?
  /// The address of the remote; nil if the store has none.
  let remote: String?
  /// The path of the file with the remote's token; nil if there is none.
  let tokenFile: String?
  /// The command that prints the remote's token; nil if there is none.
  let tokenCommand: String?
  /// The paths of the certificates and keys for the remote.
  let certificates: [String]
  /// The names of the enabled timers and services of glucoport.
  let units: [String]
  /// The crontabs that start glucoport.
  let crontabs: [String]
  /// The environment variables of glucoport with the values that they had when `backup` ran.
  let environment: [String: String]

  enum CodingKeys: String, CodingKey {
    case person, remote, certificates, units, crontabs, environment
    case bluetoothMeters = "bluetooth_meters"
    case tokenFile = "token_file"
    case tokenCommand = "token_command"
  }

  /// The end of the name of a file with settings. The name of the backup precedes it.
  static let suffix = ".settings.json"
  private static let variables = ["GLUCOPORT_PERSON", "GLUCOPORT_STORE", "GLUCOPORT_TIMEZONE"]

  /// Reads the settings of this computer.
  init(of store: Store) throws {
    let owner = try PersonList.load().owner(ofStore: store.path)
    person = owner.map { Owner(name: $0.name, folders: $0.folders, meters: $0.meters) }
    bluetoothMeters = try PairedMeters.load().all.map { "\($0.address) \($0.name)" }
    let access = try store.remote()?.access
    remote = access?.url
    switch access?.token {
    case .file(let path)?: (tokenFile, tokenCommand) = (path, nil)
    case .command(let command)?: (tokenFile, tokenCommand) = (nil, command)
    case nil: (tokenFile, tokenCommand) = (nil, nil)
    }
    certificates = [
      access?.authorities, access?.clientCertificate?.certificateFile, access?.clientCertificate?.keyFile,
    ].compactMap(\.self)
    let jobs = Self.jobs
    units = Set(jobs.units.compactMap { $0.split(separator: "/").last.map(String.init) }).sorted()
    crontabs = jobs.crontabs
    var environment: [String: String] = [:]
    for name in Self.variables { environment[name] = Host.environment(name) }
    self.environment = environment
  }

  /// The settings in the file next to a backup; nil if there is no such file.
  ///
  /// - Throws: `Failure` of category `badInput` if the file has no such settings.
  static func next(to backup: String) throws(Failure) -> BackupSettings? {
    guard let bytes = Host.bytes(of: backup + suffix) else { return nil }
    do {
      return try JSONDecoder().decode(BackupSettings.self, from: Data(bytes))
    } catch {
      throw Failure(.badInput, "\(displayed(backup + suffix)): not the settings of a backup; move it away")
    }
  }

  private static var jobs: JobFacts {
    JobFacts.of(user: Host.userName, configuration: Host.configurationFolder, hasRemote: false)
  }

  /// Lists which of these settings this computer lacks: one line for each, with a command or a path.
  ///
  /// - Parameter store: the path of the restored store.
  func missing(for store: String) throws -> [String] {
    var lines = certificates.filter { Host.bytes(of: $0) == nil }.map {
      "the certificate or key \(displayed($0)) is not here"
    }
    if let person, try !PersonList.load().all.contains(where: { $0.name == person.name }) {
      let folders = person.folders.flatMap { ["--folder", $0] }
      let words = ["glucoport", "person", "add", person.name, "--store", Host.absolute(store)] + folders
      lines.append("the person: \(words.map(\.shellWord).joined(separator: " "))")
      lines += person.meters.map { meter in
        let words = ["glucoport", "person", "assign", meter, person.name]
        return "the meter: \(words.map(\.shellWord).joined(separator: " "))"
      }
    }
    let paired = try PairedMeters.load().all.map(\.address)
    lines += (bluetoothMeters ?? []).filter { meter in !paired.contains { meter.hasPrefix($0) } }.map {
      "the Bluetooth meter \(displayed($0)): glucoport meter pair"
    }
    let present = Set(Self.jobs.units.compactMap { $0.split(separator: "/").last.map(String.init) })
    let units = units.filter { !present.contains($0) }
    if !units.isEmpty {
      lines.append(
        "the units: glucoport setup, then systemctl --user enable --now \(units.map(\.shellWord).joined(separator: " "))"
      )
    }
    lines += crontabs.map { "the crontab \(displayed($0)) had glucoport" }
    for (name, value) in environment.sorted(by: { $0.key < $1.key }) where Host.environment(name) != value {
      lines.append("the variable \(name)=\(value.shellWord)")
    }
    return lines.map { "  needed: " + $0 }
  }
}
