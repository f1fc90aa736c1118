import Foundation
import Workload

/// All rounds for one number of diaries.
struct Benchmark {
  let options: Options
  let count: Int
  let workloads: [Workload]
  let folder: URL
  let lines: JSONLines

  func run() throws -> Results {
    var results = Results(isProcessorTime: options.isProcessorTime)
    for round in 1...options.rounds {
      try lines.writeHeading(count: count, round: round, options)
      try Round(options: options, count: count, workloads: workloads, folder: folder).run { printed in
        try lines.write(printed)
        for line in printed.split(separator: UInt8(ascii: "\n")) {
          results.add(try JSONDecoder().decode(Measurement.self, from: Data(line)))
        }
      }
    }
    return results
  }
}
