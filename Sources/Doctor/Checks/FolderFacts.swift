// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The store's folder and the files in it.
package struct FolderFacts: Sendable {
  /// The user id of this process.
  package var user: UInt32
  /// The path of the store.
  package var store: String
  /// The folder of the store; nil if it does not exist yet.
  package var folder: FileFact?
  /// The store, its log (`-wal`), the log's index (`-shm`) and the lock files of `upload` and `fetch`, if
  /// they exist.
  package var files: [FileFact]
  /// If the store's path is a link, the file to which the link leads; otherwise nil.
  package var target: FileFact?
  /// The file system of the folder; nil if the system does not report it.
  package var fileSystem: FileSystemFact?
  /// The file by which a folder above the store is recognised as one that a program copies to other
  /// computers. Nil if there is no such file.
  package var syncMarker: String?
  /// The names of all files in the folder. Among them, `leftovers` searches for files that are not needed.
  package var names: [String]

  /// A folder with its files.
  package init(
    user: UInt32, store: String, folder: FileFact?, files: [FileFact] = [], target: FileFact? = nil,
    fileSystem: FileSystemFact? = nil, syncMarker: String? = nil, names: [String] = []
  ) {
    self.user = user
    self.store = store
    self.folder = folder
    self.files = files
    self.target = target
    self.fileSystem = fileSystem
    self.syncMarker = syncMarker
    self.names = names
  }

  /// The facts about the folder of the store at a path.
  package static func of(_ store: String, user: UInt32) -> FolderFacts {
    let folder = PathText.folder(of: store)
    return FolderFacts(
      user: user, store: store, folder: .at(folder, followsLink: true),
      files: ["", "-wal", "-shm", "-upload", "-fetch"].compactMap { .at(store + $0) },
      target: .at(store, followsLink: true), fileSystem: .of(folder), syncMarker: marker(above: folder),
      names: SystemText.names(folder))
  }

  /// Files by which a folder is recognised as one that Syncthing, Dropbox, Nextcloud, ownCloud, Seafile or
  /// Resilio copies to other computers.
  private static let markers = [
    ".stfolder", ".dropbox", ".dropbox.cache", ".sync_journal.db", "._sync_journal.db", ".owncloudsync.log",
    ".nextcloudsync.log", ".seafile-data", ".sync",
  ]

  private static func marker(above folder: String) -> String? {
    var next = folder
    while true {
      for marker in markers where FileFact.at(next + "/" + marker) != nil { return next + "/" + marker }
      let above = PathText.folder(of: next)
      if above == next || next == "." { return nil }
      next = above
    }
  }
}

extension FolderFacts {
  /// The problems of the folder and the files. If there are none, one finding states that they are protected.
  var findings: [Finding] {
    guard let folder else {
      return [Finding(.folders, .ok, "\(shown(PathText.folder(of: store))) is created with the first store")]
    }
    let found = permissions(folder) + files.flatMap(permissions) + place + room
    let text = "\(shown(folder.path)) and the files in it are readable only for their owner"
    return found.isEmpty ? [Finding(.folders, .ok, text)] : found
  }

  private func permissions(_ file: FileFact) -> [Finding] {
    if file.kind == .link {
      let target = target.map { _ in "" } ?? ", which leads nowhere"
      return [Finding(.folders, .note, "\(shown(file.path)) is a symbolic link\(target)")]
        + (file.path == store ? self.target.map(permissions) ?? [] : [])
    }
    if file.owner != user { return [foreign(file)] }
    // In a folder with the sticky bit, such as that for temporary files, users cannot replace the files of
    // others.
    let isShared = file.kind == .folder && file.mode & 0o1000 != 0
    if file.mode & 0o022 != 0, !isShared {
      let what = file.kind == .folder ? "replace the store in it" : "change it"
      return [open(file, .fail, what, .permission)]
    }
    guard file.mode & 0o077 != 0 else { return [] }
    return [
      isShared
        ? shared(file) : open(file, .warn, file.kind == .folder ? "see the names of its files" : "read it")
    ]
  }

  private func open(
    _ file: FileFact, _ state: Finding.State, _ what: String, _ category: FailureCategory? = nil
  ) -> Finding {
    Finding(
      .folders, state, "\(shown(file.path)) has mode \(file.octal): other users may \(what)",
      fix: "chmod \(file.kind == .folder ? "700" : "600") \(quoted(file.path))", category)
  }

  /// The finding for a folder that all users share, such as that for temporary files. Its mode is right, so
  /// the advice is to move the store.
  private func shared(_ folder: FileFact) -> Finding {
    Finding(
      .folders, .warn,
      "\(shown(folder.path)) is a folder for all users; keep the store in a folder of mode 0700 that belongs to you"
    )
  }

  private func foreign(_ file: FileFact) -> Finding {
    if user == 0 {
      return Finding(
        .folders, .note,
        "\(shown(file.path)) belongs to user \(file.owner); run this as that user, and not as root",
        fix: "sudo -u '#\(file.owner)' glucoport doctor --store \(quoted(store))")
    }
    if file.kind == .folder, file.owner == 0, file.mode & 0o1000 != 0 { return shared(file) }
    return Finding(
      .folders, .fail, "\(shown(file.path)) belongs to user \(file.owner), not to you (\(user))",
      fix: file.kind == .folder ? nil : "sudo chown \(user) \(quoted(file.path))", .permission)
  }

  private var place: [Finding] {
    var found: [Finding] = []
    switch fileSystem?.kind {
    case .network(let name):
      found.append(
        Finding(
          .folders, .fail,
          "the store is on \(name): SQLite's locks do not work there, and two computers would damage it; keep it on a local disk, and sync by 'glucoport serve'",
          .configuration))
    case .userSpace:
      found.append(
        Finding(
          .folders, .warn,
          "the store is on a FUSE file system; if others share it, SQLite's locks do not work there: keep it on a local disk"
        ))
    case .local, nil: break
    }
    if let syncMarker {
      found.append(
        Finding(
          .folders, .warn,
          "\(shown(syncMarker)) shows that another program copies the folder of the store; a copy that is made during a write is damaged: move the store, and sync by 'glucoport serve'"
        ))
    }
    return found
  }

  /// The findings about free space. A migration, a backup in the same folder and the log of a long import
  /// need it.
  private var room: [Finding] {
    guard let fileSystem else { return [] }
    if fileSystem.isReadOnly {
      return [
        Finding(
          .folders, .fail, "the file system of \(shown(store)) is read-only: nothing can be stored",
          .permission)
      ]
    }
    let size = files.first { $0.path == store }?.size ?? 0
    let needed = max(2 * size, 16 << 20)
    guard fileSystem.freeBytes < needed else { return [] }
    let free = "\(fileSystem.freeBytes >> 20) MiB are free on the disk of the store"
    if fileSystem.freeBytes < 1 << 20 {
      return [Finding(.folders, .fail, free + ": nothing can be stored; free some space", .inputOutput)]
    }
    return [Finding(.folders, .warn, free + "; \(needed >> 20) MiB are needed for safe imports and backups")]
  }

  /// The finding about files next to the store that may no longer be needed. These are files with rejected
  /// rows, partial files, and copies from before a migration.
  var leftovers: [Finding] {
    let found = names.filter { name in
      name.hasSuffix(".rejects") || name.hasSuffix(".part") || name.contains(".db.before-")
        || name.contains(".db-journal")
    }
    guard !found.isEmpty else { return [Finding(.leftovers, .ok, "there are no leftover files")] }
    let folder = folder?.path ?? PathText.folder(of: store)
    let list = found.prefix(5).map(shown).joined(separator: ", ") + (found.count > 5 ? ", …" : "")
    return [
      Finding(
        .leftovers, .note, "\(shown(folder)) holds files that may no longer be needed: \(list)",
        fix: "ls -l \(quoted(folder))")
    ]
  }

  private func shown(_ path: String) -> String { PathText.shown(path) }
}
