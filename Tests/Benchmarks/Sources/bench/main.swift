// Runs the participants in turn, several rounds, and prints the medians side by side.
import Foundation

let options = Options(Array(CommandLine.arguments.dropFirst()))
let folder = FileManager.default.temporaryDirectory.appendingPathComponent("trellis-bench-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)

let lines = try JSONLines(options.jsonFile)
var all: [(count: Int, results: Results)] = []
for count in options.counts {
  all.append((count, try Benchmark(options: options, count: count, folder: folder, lines: lines).run()))
  Table(results: all[all.count - 1].results, options: options).print(count: count)
  print()
}
if options.isGrowth { Growth(results: all).print() }

if options.wants("firstFetch") && !Round.canFetchFirst(options) {
  print(
    "firstFetch was left out: `swift build -c release --package-path Tests/Benchmarks` builds its programs, in minutes")
}

let differences = all.flatMap(\.results.differences)
for difference in differences { print(difference) }
if differences.isEmpty { print("all checksums are equal") }
try FileManager.default.removeItem(at: folder)
exit(differences.isEmpty ? 0 : 1)
