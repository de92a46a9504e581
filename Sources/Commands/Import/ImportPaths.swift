// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Glibc
import Logbook

/// The files that the arguments of `import` name. A folder means all files in it and in its subfolders.
struct ImportPaths {
  /// One file to import.
  struct FoundInput {
    let path: String
    /// The named folder in which the file was found; nil if a person named the file itself.
    let folder: String?
  }

  /// The maximum number of files. A folder of downloads does not reach it.
  private static let maxFiles = 100_000

  private(set) var places: [FoundInput] = []
  /// The folders that a person named, in their order.
  private(set) var folders: [String] = []
  /// Subfolders that are assigned to another person. Their files are left out.
  private(set) var leftOut: [(folder: String, owner: String)] = []
  private let persons: PersonList
  /// The store that a person chose; nil if the folder decides about the store.
  private let store: String?

  /// - Parameters:
  ///   - depth: how many levels of folders are searched; nil for all.
  ///   - persons: the persons of this computer. If another person's folder is inside a searched folder, it is
  ///     left out.
  ///   - store: the store that a person chose; nil if the folder decides about the store.
  /// - Throws: `Failure` if a folder cannot be read.
  init(_ paths: [String], depth: Int?, persons: PersonList = PersonList(), into store: String? = nil) throws {
    (self.persons, self.store) = (persons, store)
    for path in paths {
      guard path != "-", Self.type(of: path, followsLinks: true) == S_IFDIR else {
        places.append(FoundInput(path: path, folder: nil))
        continue
      }
      folders.append(path)
      try walk(path, in: path, depth: depth ?? Int.max)
    }
  }

  /// Adds the files of a folder, sorted by name. The files of a subfolder are inserted where the subfolder's
  /// name sorts among the other names. Links to folders, hidden files and special files are left out.
  private mutating func walk(_ folder: String, in root: String, depth: Int) throws {
    for name in try Self.names(in: folder) {
      let path = folder.hasSuffix("/") ? folder + name : folder + "/" + name
      let type = try Self.typeOfEntry(path)
      if type == S_IFDIR {
        guard depth > 1 else { continue }
        if let owner = otherOwner(of: path, in: root) {
          leftOut.append((path, owner))
        } else {
          try walk(path, in: root, depth: depth - 1)
        }
      } else if type == S_IFREG || (type == S_IFLNK && Self.type(of: path, followsLinks: true) == S_IFREG) {
        guard places.count < Self.maxFiles else {
          throw Failure(.badInput, "\(root): more than \(Self.maxFiles) files; import a smaller folder")
        }
        places.append(FoundInput(path: path, folder: root))
      }
    }
  }

  /// The name of another person to whom a folder is assigned. It is nil if there is none, if the folder on
  /// the command line has the same owner, or if that person's store was chosen.
  private func otherOwner(of folder: String, in root: String) -> String? {
    guard persons.all.count > 1, let owner = persons.owner(ofPath: Host.resolved(folder)) else { return nil }
    if let store, Host.resolved(owner.store) == Host.resolved(store) { return nil }
    return owner == persons.owner(ofPath: Host.resolved(root)) ? nil : owner.name
  }

  private static func type(of path: String, followsLinks: Bool) -> mode_t? {
    var status = stat()
    let bytes = PathText.bytes(path)
    let result = followsLinks ? stat(bytes, &status) : lstat(bytes, &status)
    return result == 0 ? status.st_mode & S_IFMT : nil
  }

  /// The file type of an entry of a folder; nil if the entry was removed in the meantime.
  ///
  /// - Throws: `Failure` if the type cannot be read, so that no file is left out unnoticed.
  private static func typeOfEntry(_ path: String) throws -> mode_t? {
    var status = stat()
    guard lstat(PathText.bytes(path), &status) == 0 else {
      if errno == ENOENT { return nil }
      throw failure(path, "cannot be examined")
    }
    return status.st_mode & S_IFMT
  }

  private static func failure(_ path: String, _ what: String) -> Failure {
    let reason = errno
    return Failure(
      reason == EACCES ? .permission : .inputOutput,
      "\(PathText.shown(path)): \(what): \(String(cString: strerror(reason)))")
  }

  private static func names(in folder: String) throws -> [String] {
    guard let stream = opendir(PathText.bytes(folder)) else { throw failure(folder, "cannot open") }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      // `readdir` returns nil at the end and on an error. Only on an error does it set `errno`.
      errno = 0
      guard let entry = readdir(stream) else {
        guard errno == 0 else { throw failure(folder, "cannot be read") }
        break
      }
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { PathText.text($0) }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }
}
