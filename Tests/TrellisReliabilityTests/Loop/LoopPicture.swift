@testable import TrellisSaveLoop

/// What a store of the save loop holds, read without Trellis.
struct LoopPicture: Equatable {
  struct Parent: Equatable {
    var writer: String
    var number: Int64
    var children: Int64
  }

  /// How often each writer has saved, and all together.
  var counters: [String: Int64] = [:]
  /// In the order of writers and numbers.
  var parents: [Parent] = []
  /// All there are, with a parent or without.
  var children: Int64 = 0

  /// How often a writer has saved.
  func saves(of writer: String) -> Int64 { counters[writer] ?? 0 }

  /// What is there of a save without the rest of it; empty when each save is there wholly or not at all.
  var halves: [String] {
    var found: [String] = []
    let writers = counters.filter { $0.key != SaveLoop.shared }.sorted { $0.key < $1.key }
    let sum = writers.reduce(0) { $0 + $1.value }
    if sum != saves(of: SaveLoop.shared) {
      found.append("\(saves(of: SaveLoop.shared)) saves in all, \(sum) by writers")
    }
    let wanted = writers.flatMap { writer, count in
      (max(1, count - SaveLoop.kept + 1)...max(1, count)).map { Parent(writer: writer, number: $0, children: 2) }
    }
    if parents != wanted { found.append("parents differ: \(difference(wanted))") }
    if children != 2 * Int64(parents.count) { found.append("\(children) children of \(parents.count) parents") }
    return found
  }

  private func difference(_ wanted: [Parent]) -> String {
    let missing = wanted.filter { !parents.contains($0) }
    let additional = parents.filter { !wanted.contains($0) }
    return "\(missing.count) missing (\(missing.first.map { "\($0)" } ?? "")), \(additional.count) wrong "
      + "(\(additional.first.map { "\($0)" } ?? ""))"
  }
}
