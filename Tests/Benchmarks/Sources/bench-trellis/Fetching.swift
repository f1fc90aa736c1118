import BenchModel
import Trellis
import Workload

extension TrellisBench {
  func fetchAll(_ store: TrellisStore) throws -> Work {
    { try store.withContext { try $0.fetch(Diary.all).reduce(0) { $0 &+ $1.sum } } }
  }

  func fetchAllAgain(_ store: TrellisStore) throws -> Work {
    let context = try store.newContext(), held = try context.fetch(Diary.all)
    return {
      try withExtendedLifetime(held) { try context.fetch(Diary.all).reduce(0) { $0 &+ $1.sum } }
    }
  }

  func snapshots(_ store: TrellisStore) throws -> Work {
    let container = try store.container()
    return { try container.newContext().snapshots(of: Diary.all).reduce(0) { $0 &+ $1.sum } }
  }

  private func shuffledIDs(_ store: TrellisStore) throws -> [ObjectID<Diary>] {
    let ids = try store.newContext().ids(of: Diary.all)
    var chance = Generator(seed: 7)
    return chance.shuffled(below: count).map { ids[$0] }
  }

  func byID(_ store: TrellisStore) throws -> Work {
    let ids = try shuffledIDs(store)
    return { try store.withContext { try sum(of: ids, $0) } }
  }

  /// In one transaction.
  func byIDPinned(_ store: TrellisStore) throws -> Work {
    let ids = try shuffledIDs(store)
    return { try store.newContext().pinned { try sum(of: ids, $0) } }
  }

  /// Objects that are in memory.
  func byIDRegistered(_ store: TrellisStore) throws -> Work {
    let ids = try shuffledIDs(store)
    let context = try store.newContext(), held = try context.fetch(Diary.all)
    return { try withExtendedLifetime(held) { try sum(of: ids, context) } }
  }

  private func sum(of ids: [ObjectID<Diary>], _ context: ManagedObjectContext) throws -> Int {
    try ids.reduce(0) { $0 &+ Int(try context.object(with: $1)?.intensity ?? 0) }
  }

  func latestByEmotion(_ store: TrellisStore) throws -> Work {
    let container = try store.container(), queries = settings.items(.latestByEmotion)
    return {
      let context = container.newContext()
      var chance = Generator(seed: 8)
      return try (0..<queries).reduce(0) { sum, _ in
        let emotion = Emotion.allCases[chance.below(emotions.count)]
        let request = Diary.where { $0.emotion == emotion }.sorted { $0.createdAt.descending }
        return sum &+ Int(try context.first(request)?.createdAt ?? 0)
      }
    }
  }

  func searchText(_ store: TrellisStore) throws -> Work {
    {
      let request = Diary.where { $0.content.contains(searchedTexts[0]) || $0.content.contains(searchedTexts[1]) }
      return try store.withContext { try $0.fetch(request).reduce(0) { $0 &+ Int($1.intensity) &+ 1 } }
    }
  }

  func filterSort(_ store: TrellisStore) throws -> Work {
    {
      let request = Diary.where {
        $0.intensity > Int64(leastIntensity)
        $0.isFavorite == true
      }.sorted { $0.createdAt.descending }
      return try store.withContext { orderedSum(try $0.fetch(request).map { Int($0.createdAt) }) }
    }
  }

  /// As ``access(_:_:)``, for accesses that write a value made of the number of the turn.
  @inline(__always)
  func writes(_ store: TrellisStore, _ body: @escaping (Diary, Int) -> Void) throws -> Work {
    try access(store) { object, turn in
      body(object, turn)
      return turn
    }
  }

  /// The access to a property of few objects, again and again.
  @inline(__always)
  func access(_ store: TrellisStore, _ body: @escaping (Diary, Int) -> Int) throws -> Work {
    let context = try store.newContext()
    let objects = try context.fetch(Diary.all.limit(accessedObjects))
    return {
      // The objects are not retained from turn to turn: that costs more than the access, and the same on all sides.
      let unretained = objects.map(Unmanaged.passUnretained)
      var sum = 0
      for round in 0..<accessRounds {
        for object in unretained { sum &+= object._withUnsafeGuaranteedRef { body($0, round) } }
      }
      withExtendedLifetime((objects, context)) {}
      return sum
    }
  }

  /// The objects are held in an array and by their context.
  func bytesPerObject(_ store: TrellisStore) throws -> Work {
    if isMemory { _ = try insert(store)() }
    let context = try store.newContext()
    // Fills the caches of SQLite.
    _ = try context.snapshots(of: Diary.all)
    return {
      let before = bytesInUse()
      let all = try context.fetch(Diary.all)
      let bytes = bytesInUse() - before
      return withExtendedLifetime((all, context)) { bytes / all.count }
    }
  }

  func peakOfFetch(_ store: TrellisStore) throws -> Work {
    if isMemory { _ = try insert(store)() }
    return {
      let context = try store.newContext()
      let all = try context.fetch(Diary.all)
      return withExtendedLifetime((all, context)) { peakMegabytes() }
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
