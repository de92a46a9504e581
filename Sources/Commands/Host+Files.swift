// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Logbook

extension Host {
  /// The path of this program.
  ///
  /// - Throws: `Failure` if the system does not return it.
  static func program() throws(Failure) -> String {
    var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = target.withUnsafeMutableBytes { bytes in
      bytes.bindMemory(to: CChar.self).baseAddress.map { readlink("/proc/self/exe", $0, bytes.count) } ?? -1
    }
    guard count > 0 else {
      throw Failure(.inputOutput, "cannot find the path of this program; is /proc mounted?")
    }
    return PathText.text(Array(target[..<count]))
  }

  /// Creates a folder and missing parent folders, accessible only to their owner.
  ///
  /// - Throws: `Failure`: `permission`, `cannotCreate`.
  static func makeFolder(_ path: String) throws(Failure) {
    if access(PathText.bytes(path), F_OK) == 0 { return }
    let parent = folder(of: path)
    if parent != path, parent != "." { try makeFolder(parent) }
    guard mkdir(PathText.bytes(path), 0o700) == 0 || errno == EEXIST else {
      let reason = errno
      throw Failure(
        reason == EACCES || reason == EPERM ? .permission : .cannotCreate,
        "\(path): cannot create the folder: \(String(cString: strerror(reason)))")
    }
  }

  /// An absolute path. A relative path starts in the current folder.
  static func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return path }
    guard let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    return PathText.text(folder) + "/" + path
  }

  /// Whether two paths lead to one file or folder that exists, also by a link.
  static func isSameFile(_ one: String, _ other: String) -> Bool {
    var (first, second) = (stat(), stat())
    return stat(PathText.bytes(one), &first) == 0 && stat(PathText.bytes(other), &second) == 0
      && first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }

  /// Whether a path is that of a regular file, and of no link.
  static func isRegularFile(_ path: String) -> Bool { type(of: path) == S_IFREG }

  /// Whether this user may run the file of a path.
  static func isExecutable(_ path: String) -> Bool { access(PathText.bytes(path), X_OK) == 0 }

  /// Whether a path is that of a symbolic link.
  static func isLink(_ path: String) -> Bool { type(of: path) == S_IFLNK }

  /// The type of what is at a path, without following a link; nil for nothing.
  private static func type(of path: String) -> mode_t? {
    var status = stat()
    return lstat(PathText.bytes(path), &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  /// The path as it is stored: an absolute one, since the next run may start in another folder.
  static func lasting(_ path: String) -> String { URL(filePath: path).standardizedFileURL.path }

  /// An absolute path without links, as far as its folder exists.
  static func resolved(_ path: String) -> String {
    let path = absolute(path)
    if let real = PathText.real(path) { return real }
    guard let folder = PathText.real(folder(of: path)), let name = path.split(separator: "/").last else {
      return path
    }
    return folder == "/" ? "/\(name)" : "\(folder)/\(name)"
  }

  /// The folder in which a file is.
  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Lets the program go on after the reader of its output has ended: a write then fails, instead of a signal.
  static func outlivesReader() { signal(SIGPIPE, SIG_IGN) }

  /// Whether there is a folder of this path.
  static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(PathText.bytes(path), &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// The names in a folder, sorted; none where it cannot be read.
  static func names(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      names.append(withUnsafeBytes(of: entry.pointee.d_name) { PathText.text(Array($0.prefix { $0 != 0 })) })
    }
    return names.filter { $0 != "." && $0 != ".." }.sorted()
  }

  /// The bytes of a small file; nil if it cannot be read.
  static func bytes(of path: String) -> [UInt8]? {
    FileManager.default.contents(atPath: path).map { Array($0) }
  }
}
