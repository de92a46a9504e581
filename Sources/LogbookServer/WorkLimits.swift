// SPDX-License-Identifier: Apache-2.0

/// Limits concurrent work in total and for each login, so that many clients cannot exhaust the memory and no login
/// blocks the others.
actor WorkLimits {
  private let max: Int
  private let maxPerLogin: Int
  private var taken = 0
  private var takenByLogin: [String: Int] = [:]

  init(max: Int, perLogin: Int) {
    self.max = max
    maxPerLogin = perLogin
  }

  /// Reserves an amount for a login; false if it does not fit. The only work of the server always fits.
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
