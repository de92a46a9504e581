// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import LogbookStore
import Testing

@testable import Doctor

/// A computer without faults. Each test adds one fault to it.
enum HealthyComputer {
  static let user: UInt32 = 1000
  static let store = "/home/anna/.local/share/glucoport/logbook.db"
  static let now: Int64 = 1_800_000_000
  static let rules = [
    RuleFacts.mark, #"ACTION=="remove", GOTO="glucoport_end""#, "",
    #"SUBSYSTEM=="usb", ATTR{idVendor}=="1a79", MODE="0660", GROUP="plugdev", TAG+="uaccess""#,
    #"LABEL="glucoport_end""#,
  ]

  static var remote: ExaminedRemote {
    var remote = ExaminedRemote(
      access: RemoteAccess(kind: "glucoport", url: "https://host.example", token: .file("/home/anna/token")),
      logbook: "id")
    remote.lastSuccess = now - 60
    return remote
  }

  static var folders: FolderFacts {
    FolderFacts(
      user: user, store: store,
      folder: FileFact(path: PathText.folder(of: store), kind: .folder, owner: user, mode: 0o700),
      files: ["", "-wal", "-shm"].map { FileFact(path: store + $0, owner: user, mode: 0o600, size: 1 << 20) },
      fileSystem: FileSystemFact(kind: .local, freeBytes: 1 << 40),
      names: ["logbook.db", "logbook.db-upload"])
  }

  static var remoteFacts: RemoteFacts {
    RemoteFacts(
      remote, user: user, tokenFile: FileFact(path: "/home/anna/token", owner: user, mode: 0o600), now: now)
  }

  static var facts: Facts {
    var examination = StoreExamination()
    examination.schema = 7
    return Facts(
      program: ProgramFacts(version: "1.0.0", sqlite: .oldest, libusb: "1.0.26", hasZones: true),
      folders: folders,
      store: StoreFacts(path: store, content: .examined(examination)),
      clock: ClockFacts(now: now, release: now - 86400, lastSuccess: now - 60),
      usb: MeterFacts(.success([meter()])),
      udev: RuleFacts(
        expected: rules, files: [.init(path: "/etc/udev/rules.d/70-glucoport.rules", text: text(rules))],
        command: "install"),
      remote: remoteFacts,
      jobs: JobFacts(user: "anna", units: ["glucoport-upload.timer"], hasRemote: true),
      backups: BackupFacts(
        last: BackupNote(madeAt: now - 86400, path: "/home/anna/backup/a.db", size: 1, sha256: ""),
        isThere: true,
        now: now))
  }

  static func meter(
    hasNode: Bool = true, mayOpen: Bool = true, obstacle: String? = nil, kernelDrivers: [String] = ["usbhid"]
  ) -> MeterFacts.Meter {
    MeterFacts.Meter(
      place: "Contour at 1-1", node: "/dev/bus/usb/001/002", hasNode: hasNode, mayOpen: mayOpen,
      obstacle: obstacle, kernelDrivers: kernelDrivers, permissionCommand: "permit")
  }

  static func text(_ lines: [String]) -> String { lines.map { $0 + "\n" }.joined() }

  /// The findings that are not `ok`, after a change.
  static func wrong(_ change: (inout Facts) -> Void) -> [Finding] {
    var facts = facts
    change(&facts)
    return Checkup(facts).findings.filter { $0.state != .ok }
  }
}

/// Runs `body` with a temporary folder, which is removed afterwards.
func withFolder(_ body: (URL) throws -> Void) throws {
  let folder = FileManager.default.temporaryDirectory.appending(path: "glucoport-\(UUID().uuidString)")
  try FileManager.default.createDirectory(
    at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  let result = Result { try body(folder) }
  try FileManager.default.removeItem(at: folder)
  try result.get()
}
