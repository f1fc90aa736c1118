import Foundation
import Workload

extension Floor {
  /// Every diary in a document, by the standard coder.
  func documentWrite(_ store: FloorStore) -> Work {
    {
      try write(rows(), to: store)
      return count
    }
  }

  private func rows() -> [DiaryRow] {
    var rows: [DiaryRow] = []
    makeDiaries(count) { diary, _ in
      rows.append(
        DiaryRow(
          key: Int64(rows.count + 1), id: diary.id, emotion: emotions[diary.emotion], content: diary.content,
          createdAt: diary.createdAt, intensity: diary.intensity, isFavorite: diary.isFavorite))
    }
    return rows
  }

  private func write(_ rows: [DiaryRow], to store: FloorStore) throws {
    try JSONEncoder().encode(rows).withUnsafeBytes { try writeFile($0, to: store.path) }
  }

  private func read(_ store: FloorStore) throws -> [DiaryRow] {
    try JSONDecoder().decode([DiaryRow].self, from: Data(contentsOf: URL(fileURLWithPath: store.path)))
  }

  func documentOpen(_ store: FloorStore) -> Work {
    { try read(store).reduce(0) { $0 &+ $1.sum } }
  }

  /// The whole document, as often as one of its values is changed.
  func documentSaveOne(_ store: FloorStore) throws -> Work {
    let rows = try read(store)
    return {
      var rows = rows
      for turn in 0..<documentSaves {
        rows[turn].intensity += 1
        try write(rows, to: store)
      }
      return rows.reduce(0) { $0 &+ $1.intensity }
    }
  }

  // MARK: Without a file

  /// An array of values, as a program without a store would keep them.
  func memoryInsert(_ store: FloorStore) -> Work {
    {
      store.diaries = rows()
      return count
    }
  }

  /// Every value as an object of its own, which may be changed without the others.
  func memoryFetchAll(_ store: FloorStore) -> Work {
    { store.diaries.map(Diary.init).reduce(0) { $0 &+ $1.sum } }
  }

  func memoryFilterSort(_ store: FloorStore) -> Work {
    {
      let found = store.diaries.filter { $0.intensity > leastIntensity && $0.isFavorite }
        .sorted { ($0.createdAt, $0.key) > ($1.createdAt, $1.key) }
      return orderedSum(found.map(Diary.init).map { Int($0.createdAt) })
    }
  }
}

extension Diary {
  fileprivate convenience init(_ row: DiaryRow) {
    self.init()
    key = row.key
    id = row.id
    emotion = row.emotion
    content = row.content
    createdAt = row.createdAt
    intensity = row.intensity
    isFavorite = row.isFavorite
  }
}
