/// The keys in the copy of the rows of one table, which are numbered in the order of the table.
struct RowKeys {
  /// Rows with numbers that follow each other.
  private struct Run {
    let first: Int64
    var count: Int64
    let key: Int64
  }

  private var runs: [Run] = []
  private var others: [RowIdentity: Int64] = [:]

  /// Adds a row. Numbers rise from one to the next.
  mutating func append(_ identity: RowIdentity, key: Int64) {
    guard case .number(let number) = identity else { return others[identity] = key }
    if let last = runs.last, number == last.first &+ last.count, key == last.key &+ last.count {
      runs[runs.count - 1].count += 1
    } else {
      runs.append(Run(first: number, count: 1, key: key))
    }
  }

  /// The key of a row; nil for one that is not there.
  ///
  /// - Complexity: O(log *n*) for rows with numbers.
  func key(of identity: RowIdentity) -> Int64? {
    guard case .number(let number) = identity else { return others[identity] }
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].first <= number { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return nil }
    let run = runs[low - 1]
    let distance = number &- run.first
    return distance >= 0 && distance < run.count ? run.key + distance : nil
  }
}
