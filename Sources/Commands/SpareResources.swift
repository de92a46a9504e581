// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Glibc
import Logbook
import LogbookServer
import ServerStore

private let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

/// The numbers of further threads and open files that the runtime needs. It traps or hangs if it does not get
/// them.
package struct SpareResources {
  /// The queue's own thread, two worker threads, two for the network, and one that reads ahead. An upload has
  /// 17 files open, and an import from a simulated meter 27.
  package static let ofProgram = SpareResources(threads: 6, files: 64)

  /// The needs of a server. For each processor: a thread that waits for the network, with three files, and
  /// one that resolves names. Also a file for each connection and each listening socket, and those of its
  /// storage.
  ///
  /// - Parameter databaseConnections: the connections to a database, each with a thread and a socket.
  static func ofServer(_ settings: ServerSettings, databaseConnections: Int = 0) -> SpareResources {
    let sockets = settings.addresses.count + settings.systemSockets.count
    return SpareResources(
      threads: ofProgram.threads + 2 * Host.processors + databaseConnections,
      files: ofProgram.files + 3 * Host.processors + settings.maxConnections + sockets + databaseConnections
        + EmbeddedStorage.maxFiles(requests: settings.maxRequests))
  }

  let threads: Int
  let files: Int

  /// Why this process cannot get them; nil if it can. A limit that the process may raise is raised.
  package func fault() -> String? { filesFault() ?? threadsFault() }

  /// No file is opened to test this. Each second libdispatch opens a file for each of its worker threads to
  /// examine them. It traps if it cannot (`_dispatch_workq_count_runnable_workers` in its workqueue.c, in
  /// Swift 6.3).
  private func filesFault() -> String? {
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

  /// The threads are started, and wait for the end of a pipe.
  private func threadsFault() -> String? {
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
