// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

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

  /// The folder of a file.
  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// The names in a folder, sorted; none if it cannot be read.
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
