import BenchModel
import Trellis
import Workload

extension TrellisBench {
  func fetch(_ container: PersistentContainer, _ ids: [ObjectID<Diary>]) throws {
    try fetchAll(container)
    try snapshots(container)
    try byID(container, ids)
    try latestByEmotion(container)
    try searchText(container)
  }

  private func fetchAll(_ container: PersistentContainer) throws {
    let context = container.newContext()
    var held: [Diary] = []
    func fetchAndRead() throws -> Int {
      held = try context.fetch(Diary.all)
      return held.reduce(0) { $0 &+ $1.sum }
    }
    try report.run("fetchAll", items: count, buildsData: true, fetchAndRead)
    try report.run("fetchAllAgain", items: count, fetchAndRead)
  }

  private func snapshots(_ container: PersistentContainer) throws {
    try report.run("snapshots", items: count) {
      try withContext(container) { try $0.snapshots(of: Diary.all).reduce(0) { $0 &+ $1.sum } }
    }
  }

  private func byID(_ container: PersistentContainer, _ ids: [ObjectID<Diary>]) throws {
    var chance = Generator(seed: 7)
    let order = chance.shuffled(below: count)
    let context = container.newContext()
    func readEach() throws -> Int {
      try order.reduce(0) { $0 &+ Int(try context.object(with: ids[$1])?.intensity ?? 0) }
    }
    try report.run("byID", items: count, readEach)
    guard settings.wants("byIDRegistered") || settings.wants("byIDInDictionary") else { return }
    let held = try context.fetch(Diary.all)
    try report.run("byIDRegistered", items: count, readEach)
    try report.run("byIDInDictionary", items: count, readEach)
    withExtendedLifetime(held) {}
  }

  private func latestByEmotion(_ container: PersistentContainer) throws {
    try report.run("latestByEmotion", items: settings.latestQueries) {
      let context = container.newContext()
      var chance = Generator(seed: 8)
      return try (0..<settings.latestQueries).reduce(0) { sum, _ in
        let emotion = Emotion.allCases[chance.below(emotions.count)]
        let request = Diary.where { $0.emotion == emotion }.sorted { $0.createdAt.descending }
        return sum &+ Int(try context.first(request)?.createdAt ?? 0)
      }
    }
  }

  private func searchText(_ container: PersistentContainer) throws {
    try report.run("searchText", items: count) {
      let request = Diary.where { $0.content.contains(searchedTexts[0]) || $0.content.contains(searchedTexts[1]) }
      return try withContext(container) { try $0.fetch(request).reduce(0) { $0 &+ Int($1.intensity) &+ 1 } }
    }
  }
}

extension Diary {
  /// Every value, so that none can be left unread.
  var sum: Int {
    content.utf8.count &+ emotion.rawValue.utf8.count &+ Int(createdAt) &+ Int(intensity) &+ (isFavorite ? 1 : 0)
      &+ Int(id.uuid.0)
  }
}

extension Diary.Snapshot {
  var sum: Int {
    content.utf8.count &+ emotion.rawValue.utf8.count &+ Int(createdAt) &+ Int(intensity) &+ (isFavorite ? 1 : 0)
      &+ Int(id.uuid.0)
  }
}
