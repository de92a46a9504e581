// SPDX-License-Identifier: Apache-2.0

/// Bounds what is under way at one time, in all and for each login, so that many clients do not exhaust the memory, and
/// none of them keeps the others out.
actor WorkLimits {
  private let max: Int
  private let maxPerLogin: Int
  private var taken = 0
  private var takenByLogin: [String: Int] = [:]

  init(max: Int, perLogin: Int) {
    self.max = max
    maxPerLogin = perLogin
  }

  /// Takes so much for a login; false when there is no room for it. What is alone always has room.
  func take(_ amount: Int, for login: String) -> Bool {
    let own = takenByLogin[login] ?? 0
    guard taken == 0 || taken + amount <= max, own == 0 || own + amount <= maxPerLogin else { return false }
    taken += amount
    takenByLogin[login] = own + amount
    return true
  }

  func release(_ amount: Int, for login: String) {
    taken -= amount
    let own = (takenByLogin[login] ?? 0) - amount
    takenByLogin[login] = own > 0 ? own : nil
  }
}
