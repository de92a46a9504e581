// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Glibc
import Logbook
import LogbookServer
import ServerStore

private let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

/// The numbers of threads and open files that a run needs in addition to the present ones. If they are not
/// available, the Swift runtime traps or hangs.
package struct ResourceLimits {
  /// The needs of a command: a thread for the queue, two workers, two for the network, and one that reads
  /// ahead. As measured, an upload has 17 files open, and an import from a simulated meter 27.
  package static let ofProgram = ResourceLimits(threads: 6, files: 64)

  /// The needs of a server. Each processor needs a network thread with three files, and a thread that
  /// resolves names. Each connection and each listening socket needs a file, and the storage needs some more.
  ///
  /// - Parameter databaseConnections: the number of connections to a database. Each needs a thread and a
  ///   socket.
  static func ofServer(_ settings: ServerSettings, databaseConnections: Int = 0) -> ResourceLimits {
    let sockets = settings.addresses.count + settings.systemSockets.count
    return ResourceLimits(
      threads: ofProgram.threads + 2 * Host.processors + databaseConnections,
      files: ofProgram.files + 3 * Host.processors + settings.maxConnections + sockets + databaseConnections
        + EmbeddedStorage.maxFiles(requests: settings.maxRequests))
  }

  let threads: Int
  let files: Int

  /// Why this process cannot get the resources; nil if it can. A limit on open files is raised if that is
  /// allowed.
  package func shortage() -> String? { filesShortage() ?? threadsShortage() }

  /// Why too few files can be opened; nil if there are enough free descriptors. They are counted without
  /// opening a file. Each second, libdispatch opens a file for each of its worker threads, and traps if that
  /// fails. (`_dispatch_workq_count_runnable_workers` in its workqueue.c, in Swift 6.3.)
  private func filesShortage() -> String? {
    var limit = rlimit()
    guard getrlimit(openFiles, &limit) == 0 else { return nil }
    let spare = Self.closedDescriptors(below: limit.rlim_cur, atMost: files)
    guard spare < files else { return nil }
    let missing = rlim_t(files - spare)
    if limit.rlim_max - limit.rlim_cur >= missing {
      limit.rlim_cur += missing
      if setrlimit(openFiles, &limit) == 0 { return nil }
    }
    return "only \(spare) more files can be open at once, and \(files) are needed; allow more (ulimit -n)"
  }

  private static func closedDescriptors(below limit: rlim_t, atMost count: Int) -> Int {
    var closed = 0
    for descriptor in 0..<Int32(clamping: limit) where fcntl(descriptor, F_GETFD) < 0 {
      closed += 1
      if closed == count { break }
    }
    return closed
  }

  /// Why the threads cannot be started; nil if they can. They are started as a test, and wait until the test
  /// closes a pipe.
  private func threadsShortage() -> String? {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { return "cannot open a pipe: \(String(cString: strerror(errno)))" }
    var running: [pthread_t] = []
    var reason: Int32 = 0
    for _ in 0..<threads where reason == 0 {
      var thread = pthread_t()
      let end = UnsafeMutableRawPointer(bitPattern: Int(ends[0]) + 1)
      reason = pthread_create(
        &thread, nil,
        { end in
          var byte: UInt8 = 0
          let descriptor = Int32(Int(bitPattern: end) - 1)
          _ = uninterrupted { read(descriptor, &byte, 1) }
          return nil
        }, end)
      if reason == 0 { running.append(thread) }
    }
    close(ends[1])
    for thread in running { pthread_join(thread, nil) }
    close(ends[0])
    return reason == 0
      ? nil
      : "cannot start a thread: \(String(cString: strerror(reason))); allow more processes (ulimit -u) or memory (ulimit -v)"
  }
}
