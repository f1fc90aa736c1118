import Foundation

/// Deterministic data: every participant builds the same rows from the same generator (splitmix64).
public struct Generator {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  public mutating func below(_ n: Int) -> Int { Int(next() % UInt64(n)) }

  public mutating func uuid() -> UUID {
    let pair = (next(), next())
    return withUnsafeBytes(of: pair) { UUID(uuid: $0.load(as: uuid_t.self)) }
  }
}

public let emotions = ["happy", "sad", "angry", "calm", "anxious", "grateful", "tired", "excited"]
public let tagCount = 200

let words = [
  "오늘은", "아침", "커피", "산책", "friend", "늦잠", "비가", "회의", "lunch", "맑음", "영화", "책을", "읽었다", "run", "기분이", "좋았다", "조금",
  "피곤", "coding", "저녁",
]

public struct DiaryData {
  public var id: UUID, emotion: String, content: String, createdAt: Double, intensity: Int, isFavorite: Bool
}

public struct ImageData {
  public var id: UUID, imagePath: String, byteCount: Int, position: Int
}

/// `count` diaries, each with three images.
public func makeDiaries(
  _ count: Int, seed: UInt64 = 42, _ body: (Int, DiaryData, [ImageData]) throws -> Void
) rethrows {
  var g = Generator(seed: seed)
  for i in 0..<count {
    let emotion = emotions[g.below(emotions.count)]
    var content = ""
    for w in 0..<12 {
      if w > 0 { content += " " }
      content += words[g.below(words.count)]
    }
    let diary = DiaryData(
      id: g.uuid(), emotion: emotion, content: content, createdAt: 700_000_000 + Double(g.below(100_000_000)),
      intensity: g.below(10), isFavorite: g.below(5) == 0)
    var images: [ImageData] = []
    for position in 0..<3 {
      images.append(
        ImageData(
          id: g.uuid(), imagePath: "images/\(i)/\(position).png", byteCount: 1000 + g.below(1_000_000),
          position: position))
    }
    try body(i, diary, images)
  }
}

/// The two tags of a diary, by number.
public func tags(of diary: Int) -> [Int] { [diary % tagCount, (diary / 3 + 7) % tagCount].uniqued() }

extension Array where Element == Int {
  func uniqued() -> [Int] { count == 2 && self[0] == self[1] ? [self[0]] : self }
}

/// Runs the workloads that the command line asks for and prints one JSON line for each.
public struct Report {
  public let participant: String
  private let only: Set<String>

  public init(_ participant: String) {
    self.participant = participant
    only = Set(CommandLine.arguments.dropFirst(2))
  }

  /// Runs one workload: seconds, and the checksum of what was read. What builds the data runs always.
  public func run(_ workload: String, items: Int, _ body: () throws -> Int) rethrows {
    guard only.isEmpty || only.contains(workload) || ["insert", "tagAll"].contains(workload) else { return }
    let start = DispatchTime.now().uptimeNanoseconds
    let sum = try body()
    let seconds = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
    print(
      "{\"participant\":\"\(participant)\",\"workload\":\"\(workload)\",\"items\":\(items),\"seconds\":\(String(format: "%.6f", seconds)),\"checksum\":\(sum)}"
    )
  }

  /// Prints a figure that is no time.
  public func figure(_ workload: String, _ value: Double) {
    print(
      "{\"participant\":\"\(participant)\",\"workload\":\"\(workload)\",\"value\":\(String(format: "%.3f", value))}")
  }
}

/// Bytes of memory that the process has in use; 0 where the system does not tell.
public func residentBytes() -> Int {
  guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
  let fields = text.split(separator: " ")
  return fields.count > 1 ? (Int(fields[1]) ?? 0) * 4096 : 0
}

/// How many diaries: the first argument.
public func count() -> Int { Int(CommandLine.arguments.dropFirst().first ?? "") ?? 100_000 }

/// Whether every commit reaches the disk: `BENCH_DURABLE=1`.
public var isDurable: Bool { ProcessInfo.processInfo.environment["BENCH_DURABLE"] == "1" }

/// A path for a fresh database, in `BENCH_DIR` or the temporary folder.
public func databasePath(_ name: String) -> String {
  let folder = ProcessInfo.processInfo.environment["BENCH_DIR"] ?? NSTemporaryDirectory()
  let path = folder + "/" + name
  for suffix in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: path + suffix) }
  return path
}
