import Foundation
import Workload

/// What the command line asks for.
struct Options {
  static let usage = """
    usage: bench [--n COUNT] [--rounds COUNT] [--only WORKLOAD,…] [--participants NAME,…] [--durable]
                 [--processor-time] [--json FILE]
           bench --quick            2,000 diaries, one round: whether everything works and all checksums are equal
           bench --growth [--million]  1,000, 10,000 and 100,000 diaries; and 1,000,000 where that takes less than a
                                    minute: how the cost of an item grows

    --processor-time  the time that the process has used of all processors, instead of the time that has passed: it varies less
                 beside other programs, and says nothing about waiting for the disk
    --durable    every commit reaches the disk; without it the commits of a power cut's last seconds may be lost.
                 smallSavesDurable is durable in any case.
    --json FILE  writes each measurement as a line of JSON
    """

  var count = 100_000
  private var chosenRounds: Int?
  var isDurable = false
  var isGrowth = false
  var isProcessorTime = false
  var isMillion = false
  var workloads = Workload.allCases
  var participants: [String] = []
  var jsonFile: String?

  init(_ arguments: [String]) {
    var words = arguments[...]
    while let word = words.popFirst() {
      guard read(word, &words) else {
        print(Self.usage)
        exit(64)
      }
    }
  }

  private mutating func read(_ word: String, _ words: inout ArraySlice<String>) -> Bool {
    switch word {
    case "--quick": (count, chosenRounds) = (2_000, 1)
    case "--durable": isDurable = true
    case "--growth": isGrowth = true
    case "--processor-time": isProcessorTime = true
    case "--million": (isGrowth, isMillion) = (true, true)
    default: return read(word, value: words.popFirst())
    }
    return true
  }

  private mutating func read(_ word: String, value: String?) -> Bool {
    guard let value else { return false }
    switch word {
    // The workloads that take a tenth of the diaries, or a hundred of them, need that many.
    case "--n": count = max(1_000, Int(value) ?? count)
    case "--rounds": chosenRounds = max(1, Int(value) ?? 1)
    case "--only":
      let names = list(value)
      workloads = names.compactMap(Workload.init)
      return workloads.count == names.count
    case "--participants": participants = list(value)
    case "--json": jsonFile = value
    default: return false
    }
    return true
  }

  private func list(_ text: String) -> [String] { text.split(separator: ",").map(String.init) }

  /// The numbers of diaries to measure.
  var counts: [Int] {
    guard isGrowth else { return [count] }
    return [1_000, 10_000, 100_000] + (isMillion ? [1_000_000] : [])
  }

  /// How often each participant takes its turn.
  var rounds: Int { chosenRounds ?? (isGrowth ? 1 : 5) }

  func wants(participant: String) -> Bool { participants.isEmpty || participants.contains(participant) }
}
