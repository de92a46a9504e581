// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Whether the system gives this process what the runtime needs and does not ask for politely.
enum SpareThreads {
  /// The queue's own thread, two that work, two for the network, and one that reads ahead.
  static let ofProgram = 6

  /// Those of a server: it has one for each processor, twice, since names are resolved by others.
  static var ofServer: Int { ofProgram + 2 * Host.processors }

  /// Why so many threads cannot run at once; nil where they can. They are started and wait for the end of a pipe.
  static func fault(threads: Int) -> String? {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { return filesFault() }
    // The queue's thread opens four of its own, and traps where it cannot.
    let others = [dup(ends[0]), dup(ends[0])]
    defer { for other in others where other >= 0 { close(other) } }
    guard !others.contains(-1) else {
      defer { for end in ends { close(end) } }
      return filesFault()
    }
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
          while read(descriptor, &byte, 1) < 0, errno == EINTR {}
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

  private static func filesFault() -> String {
    "cannot open a pipe: \(String(cString: strerror(errno))); allow more open files (ulimit -n)"
  }
}
