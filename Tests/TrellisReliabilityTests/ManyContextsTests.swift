#if os(Linux)
  import Dispatch
  import Foundation
  import Synchronization
  import Testing
  import Trellis
  import TrellisTestSupport

  @Suite("Many contexts are held at once") struct ManyContextsTests {
    /// The songs in the store, of 1,000 bytes each.
    private static let songs = TestSettings.number("TRELLIS_SONGS", or: 300)
    private static let contexts = 100

    /// The descriptors of the store's file and of those beside it.
    private func descriptors(_ folder: URL) throws -> Int {
      let own = "/proc/self/fd"
      return try FileManager.default.contentsOfDirectory(atPath: own).count { name in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(own)/\(name)"))?.hasPrefix(folder.path) == true
      }
    }

    private func residentMegabytes() throws -> Int {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
      return (line.flatMap { $0.split(separator: " ").dropFirst().first.flatMap { Int($0) } } ?? 0) / 1024
    }

    /// `TRELLIS_SONGS=30000` makes a file of 30 MB; `TRELLIS_FIGURES=1` prints what the contexts need.
    @Test("each reads the whole store, and together they have a few descriptors open") func descriptorsStayFew() throws
    {
      let store = try ClubStore(.sqlite)
      let container = try store.open()
      defer { container.close() }
      do {
        let context = container.newContext()
        let text = String(repeating: "x", count: 1_000)
        for number in 0..<Self.songs { _ = Song(in: context, title: "\(text)\(number)") }
        try context.save()
      }
      let figures: Int? = TestSettings.number("TRELLIS_FIGURES")
      func tell(_ moment: String) throws {
        guard figures != nil else { return }
        print("\(moment): \(try residentMegabytes()) MB, \(try descriptors(store.folder)) descriptors")
      }
      try tell("before")
      do {
        let contexts = (0..<Self.contexts).map { _ in container.newContext() }
        // Each context is used by one iteration alone.
        nonisolated(unsafe) let shared = contexts
        let counts = Mutex<[Int]>([])
        DispatchQueue.concurrentPerform(iterations: Self.contexts) { number in
          var count = -1
          if let titles = try? shared[number].values(of: Song.all, { $0.title }) {
            count = titles.count { !$0.isEmpty }
          }
          counts.withLock { $0.append(count) }
        }
        #expect(counts.withLock { $0 } == Array(repeating: Self.songs, count: Self.contexts))
        #expect(try descriptors(store.folder) <= 20)
        try tell("while \(Self.contexts) contexts are held")
        withExtendedLifetime(contexts) {}
      }
      try tell("after")
    }
  }
#endif
