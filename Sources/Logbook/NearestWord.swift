// SPDX-License-Identifier: Apache-2.0

/// Finds the word that was probably meant.
package enum NearestWord {
  /// The nearest of these words; nil if none is close. The beginning of a word is close to it.
  package static func of(_ word: String, among words: [String]) -> String? {
    let nearest = words.map { (name: $0, distance: distance(word, $0)) }.min { $0.distance < $1.distance }
    if let nearest, nearest.distance <= (max(word.count, nearest.name.count) + 1) / 3 { return nearest.name }
    return word.count > 1 ? words.first { $0.hasPrefix(word) } : nil
  }

  /// The number of letters to insert, remove, replace, or exchange with their neighbour.
  package static func distance(_ first: String, _ second: String) -> Int {
    let (from, to) = (Array(first), Array(second))
    var rows = [Array(0...to.count)]
    for i in from.indices {
      var row = [i + 1]
      for j in to.indices {
        var best = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (from[i] == to[j] ? 0 : 1))
        if i > 0, j > 0, from[i] == to[j - 1], from[i - 1] == to[j] {
          best = min(best, rows[i - 1][j - 1] + 1)
        }
        row.append(best)
      }
      rows.append(row)
    }
    return rows[from.count][to.count]
  }
}
