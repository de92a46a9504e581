// SPDX-License-Identifier: Apache-2.0

import CLinux
import Foundation
import Glibc
package import Logbook

/// The machine as the commands see it: clock, environment, terminal, files and system zone. Other code of the
/// commands gets these only from here.
package enum Host {
  /// The host's clock in UTC seconds.
  package static func now() -> Int64 { Int64(Glibc.time(nil)) }

  /// A random id for a new item: a UUID of version 4.
  package static func randomUUID() -> String { UUID().uuidString.lowercased() }

  /// A random tick for a reading that a person types. The tick distinguishes two typed readings of the same
  /// second.
  package static func randomTick() -> Int64 { Int64.random(in: Device.typedTicks) }

  /// Sets the umask, so that only their owner can access the files and folders that this process creates.
  package static func keepFilesPrivate() { umask(0o077) }

  /// Makes the C library map each buffer of 128 KiB or more separately. The memory of such a buffer then
  /// returns to the system as soon as it is freed. Otherwise, the library would raise the limit with each
  /// freed buffer, and an import would keep memory that it no longer uses.
  package static func returnsLargeBuffers() { _ = mallopt(M_MMAP_THRESHOLD, 128 * 1024) }

  /// Makes all threads allocate from one heap. Call this before other threads exist.
  ///
  /// Otherwise, the C library creates a separate heap for each thread. Such a heap grows by single pages with
  /// a system call each, and keeps what the thread has freed. A server should keep separate heaps, since its
  /// threads allocate at the same time.
  package static func shareHeap() { _ = mallopt(M_ARENA_MAX, 1) }

  /// The arguments of this process after the program's name, in the notation of `PathText`; nil if they
  /// cannot be read.
  ///
  /// The copy in `/proc/self/cmdline` is preferred. Swift looks for the arguments in memory directly before
  /// the environment. It finds none if a preloaded library has called `setenv` before `main`, which moves the
  /// environment.
  package static let arguments: [String]? = {
    if let words = kernelArguments { return Array(words.dropFirst()) }
    guard CommandLine.argc > 0 else { return nil }
    return CommandLine.arguments.indices.dropFirst().compactMap { index in
      CommandLine.unsafeArgv[index].map { PathText.text($0) }
    }
  }()

  /// All words of `/proc/self/cmdline`, with the program's name; nil if the file cannot be read.
  private static var kernelArguments: [String]? {
    let descriptor = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4 << 10)
    while true {
      let count = uninterrupted { read(descriptor, &piece, piece.count) }
      guard count >= 0 else { return nil }
      if count == 0 { break }
      bytes.append(contentsOf: piece[..<count])
    }
    // The kernel ends each argument with a NUL byte. Without one at the end, the bytes are not complete.
    guard bytes.last == 0 else { return nil }
    return bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false).map {
      PathText.text(Array($0))
    }
  }

  /// The value of an environment variable in the notation of `PathText`; nil if it is unset or empty.
  package static func environment(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return PathText.text(value)
  }

  /// The number of processors that the system uses; at least 1.
  package static var processors: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

  /// Whether a file descriptor is that of a terminal.
  package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// The width of a terminal in columns; 80 if the terminal does not report it.
  package static func terminalColumns(_ descriptor: Int32) -> Int {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// The default folder for stores and servers: `glucoport` in the XDG data folder. It is nil if the
  /// environment has no absolute path for it, since a relative path would name another folder in each working
  /// directory.
  package static var dataFolder: String? {
    dataHome.map { $0 + "/glucoport" }
  }

  /// The XDG data folder; nil if the environment has no absolute path of it or of the home folder.
  package static var dataHome: String? {
    absolutePath("XDG_DATA_HOME") ?? absolutePath("HOME").map { $0 + "/.local/share" }
  }

  /// The XDG state folder; nil if the environment has no absolute path of it or of the home folder.
  package static var stateHome: String? {
    absolutePath("XDG_STATE_HOME") ?? absolutePath("HOME").map { $0 + "/.local/state" }
  }

  /// The XDG configuration folder, where programs look for a user's settings. It is nil if the environment
  /// has no absolute path of it or of the home folder.
  package static var configurationFolder: String? {
    absolutePath("XDG_CONFIG_HOME") ?? absolutePath("HOME").map { $0 + "/.config" }
  }

  /// The effective user id, which decides what this process may access.
  package static var userID: UInt32 { geteuid() }

  /// The login name of the effective user; nil if the system has none for the id.
  package static var userName: String? { getpwuid(geteuid()).map { PathText.text($0.pointee.pw_name) } }

  /// Whether the system has a group of this name.
  package static func hasGroup(_ name: String) -> Bool { getgrnam(name) != nil }

  private static func absolutePath(_ name: String) -> String? {
    environment(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  /// The IANA name of the system's zone; nil if the system has none. The variable TZ is not read, since a
  /// cron job or a shell may set it to any value.
  static var systemZone: String? {
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/etc/localtime", &target, target.count)
    if count > 0 {
      let path = String(decoding: target.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if let range = path.range(of: "zoneinfo/") { return String(path[range.upperBound...]) }
    }
    if let bytes = FileManager.default.contents(atPath: "/etc/timezone") {
      let name = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
      if !name.isEmpty { return name }
    }
    return nil
  }
}

extension Host {
  /// The absolute path of the running program.
  ///
  /// - Throws: `Failure` if the system does not return it.
  package static func program() throws(Failure) -> String {
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
  package static func makeFolder(_ path: String) throws(Failure) {
    if access(PathText.bytes(path), F_OK) == 0 { return }
    let parent = PathText.folder(of: path)
    if parent != path, parent != "." { try makeFolder(parent) }
    guard mkdir(PathText.bytes(path), 0o700) == 0 || errno == EEXIST else {
      let reason = errno
      throw Failure(
        reason == EACCES || reason == EPERM ? .permission : .cannotCreate,
        "\(path): cannot create the folder: \(String(cString: strerror(reason)))")
    }
  }

  /// Makes a path absolute. A relative path starts in the current folder.
  package static func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return path }
    guard let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    return PathText.text(folder) + "/" + path
  }

  /// Whether two paths lead to the same existing file or folder, even through links.
  package static func isSameFile(_ one: String, _ other: String) -> Bool {
    var (first, second) = (stat(), stat())
    return stat(PathText.bytes(one), &first) == 0 && stat(PathText.bytes(other), &second) == 0
      && first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }

  /// Whether there is a regular file at a path. A link to a regular file does not count.
  package static func isRegularFile(_ path: String) -> Bool { type(of: path) == S_IFREG }

  /// Whether this user may execute the file at a path.
  static func isExecutable(_ path: String) -> Bool { access(PathText.bytes(path), X_OK) == 0 }

  /// Whether there is a symbolic link at a path.
  package static func isLink(_ path: String) -> Bool { type(of: path) == S_IFLNK }

  /// The type of the file or folder at a path, where a link is not followed; nil if the path does not exist.
  private static func type(of path: String) -> mode_t? {
    var status = stat()
    return lstat(PathText.bytes(path), &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  /// A path as a setting stores it. It is absolute, since the next run may start in another folder.
  package static func standardPath(_ path: String) -> String { URL(filePath: path).standardizedFileURL.path }

  /// An absolute path with all links followed. If the file does not exist, only the links of its folder are
  /// followed.
  package static func resolved(_ path: String) -> String {
    let path = absolute(path)
    if let real = PathText.real(path) { return real }
    guard let folder = PathText.real(PathText.folder(of: path)), let name = path.split(separator: "/").last
    else {
      return path
    }
    return folder == "/" ? "/\(name)" : "\(folder)/\(name)"
  }

  /// Ignores SIGPIPE. If the reader of the output has ended, a write then fails with an error, and no signal
  /// ends the program.
  package static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

  /// Whether there is a folder at a path, or a link to one.
  package static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(PathText.bytes(path), &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// The sorted names of the files and folders in a folder; none if the folder cannot be read.
  package static func names(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      names.append(withUnsafeBytes(of: entry.pointee.d_name) { PathText.text(Array($0.prefix { $0 != 0 })) })
    }
    return names.filter { $0 != "." && $0 != ".." }.sorted()
  }

  /// All bytes of a file, which must be small; nil if it cannot be read.
  package static func bytes(of path: String) -> [UInt8]? {
    FileManager.default.contents(atPath: path).map { Array($0) }
  }
}

/// The host's clock, checked against times that are certainly past.
package enum TrustedClock {
  /// The host's time in UTC seconds. If it is before the release of this program or the last import, the
  /// clock is wrong. Then the result is nil, and a message is printed.
  package static func now(after lastImport: Int64?, _ output: Output) -> Int64? {
    let now = Host.now()
    if now >= max(Release.date, lastImport ?? Release.date) { return now }
    output.message(
      "glucoport: the clock of this computer shows \(DeviceTime(seconds: now).text)Z, which is in the past; timestamps are not checked"
    )
    return nil
  }
}

/// The output of `--version`.
package enum Release {
  /// The number of this version.
  package static let version = "0.1.0"
  /// When this version was released, in UTC seconds: 2026-11-21. A host clock that shows an earlier time is
  /// wrong.
  package static let date: Int64 = 1_795_219_200
}

extension Host {
  /// The absolute path of the program that a shell would start for a name. It is stored for jobs, which may
  /// have another PATH.
  ///
  /// - Throws: `Failure` of category `missingInput` if there is no such program.
  package static func program(named name: String) throws(Failure) -> String {
    let candidates =
      name.contains("/")
      ? [absolute(name)]
      : (environment("PATH") ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":").map { "\($0)/\(name)" }
    for path in candidates where path.hasPrefix("/") {
      if isRegularFile(resolved(path)), isExecutable(path) { return path }
    }
    if name.contains("/"), access(PathText.bytes(name), F_OK) == 0 {
      throw Failure(.permission, "\(name): the program is not executable; run: chmod +x \(name.shellWord)")
    }
    throw Failure(.missingInput, "\(name): No such program")
  }
}
