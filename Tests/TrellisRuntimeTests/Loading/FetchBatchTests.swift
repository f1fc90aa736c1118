import Testing
import Trellis

@testable import TrellisRuntime

@Suite("What a context remembers of its fetches") struct FetchBatchTests {
  @Test("fetching the same objects again and again takes no more memory") func repeated() throws {
    let context = try makeContext()
    for _ in 0..<40 { _ = Node(in: context) }
    try context.save()
    for _ in 0..<2_000 { _ = try context.fetch(Node.all) }
    #expect(context.graph.batches.count < 500)
    let nodes = try context.fetch(Node.all)
    #expect(nodes.allSatisfy { context.graph.batches[$0.state.batch] != nil }, "those in use are kept")
  }
}
