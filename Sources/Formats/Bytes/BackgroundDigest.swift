// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Computes a digest on a separate thread while the reader continues. On a processor without instructions for SHA-256,
/// hashing would take a quarter of the reader's time.
struct BackgroundDigest {
  private struct Work {
    var digest = Digest()
    var piece: [UInt8] = []
  }

  private let thread = SideThread(Work(), name: "digest")

  /// Adds bytes, which the caller may change after the return. Waits for the previous bytes, so that a fast reader
  /// cannot accumulate them.
  func update(_ bytes: UnsafeRawBufferPointer) {
    thread.afterwards { work in
      work.piece.removeAll(keepingCapacity: true)
      work.piece.append(contentsOf: bytes)
    }
    thread.begin { work in
      let piece = work.piece
      piece.withUnsafeBytes { work.digest.update($0) }
    }
  }

  /// The digest of all bytes so far.
  var digest: Digest { thread.afterwards { $0.digest } }
}
