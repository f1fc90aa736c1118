// Runs the participants in turn, several rounds, and prints the medians side by side.
import Foundation
import Workload

let options = Options(Array(CommandLine.arguments.dropFirst()))
let folder = FileManager.default.temporaryDirectory.appendingPathComponent("trellis-bench-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)

let lines = try JSONLines(options.jsonFile)
var all: [(count: Int, results: Results)] = []
for count in options.counts {
  let workloads = options.isGrowth ? Growth.affordable(options.workloads, after: all) : options.workloads
  let benchmark = Benchmark(options: options, count: count, workloads: workloads, folder: folder, lines: lines)
  all.append((count, try benchmark.run()))
  if !options.isGrowth { Table(results: all[all.count - 1].results, options: options).print(count: count) }
}
if options.isGrowth { Growth(results: all).print() }

if options.workloads.contains(.firstFetch200) && !Round.canFetchFirst(200) {
  print("firstFetch200 was left out: `swift build -c release --package-path Tests/Benchmarks` builds its program")
}

let differences = all.flatMap(\.results.differences)
for difference in differences { print(difference) }
if differences.isEmpty { print("all checksums are equal") }
try FileManager.default.removeItem(at: folder)
exit(differences.isEmpty ? 0 : 1)
