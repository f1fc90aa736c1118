// What an item of an operation costs with 1,000, 10,000 and 100,000 of them, in microseconds of processor time.
//
//   bench-growth [--most COUNT] [WORDS OF A NAME…]
import Foundation
import GrowthModel
import Trellis

var words = Array(CommandLine.arguments.dropFirst())
var most = 100_000
if let place = words.firstIndex(of: "--most"), words.indices.contains(place + 1) {
  most = Int(words[place + 1]) ?? most
  words.removeSubrange(place...place + 1)
}
let counts = [1_000, 10_000, 100_000, 1_000_000].filter { $0 <= most }

func cell(_ text: String) -> String { String(repeating: " ", count: max(1, 12 - text.count)) + text }

print("microseconds of processor time" + counts.map { cell("\($0)") }.joined() + cell("growth"))
for operation in operations where words.isEmpty || words.allSatisfy(operation.name.contains) {
  var costs: [Double] = []
  for count in counts where count <= max(operation.most, most == 100_000 ? 0 : most) {
    let folder = FileManager.default.temporaryDirectory.appending(path: "growth-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let container = try PersistentContainer(
      model: .growth, store: .sqlite(at: folder.appending(path: "store"), durability: .relaxed))
    costs.append(try operation.run(count, container))
    container.close()
  }
  let growth = (costs.last ?? 0) / max(0.001, costs.first ?? 1)
  let cells = costs.map { cell(String(format: "%.2f", $0)) } + counts.dropFirst(costs.count).map { _ in cell("-") }
  print(operation.name)
  print(String(repeating: " ", count: 30) + cells.joined() + cell(String(format: "%.2f", growth)))
}
