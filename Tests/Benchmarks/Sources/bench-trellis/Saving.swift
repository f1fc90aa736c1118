import BenchModel
import Trellis
import Workload

extension TrellisBench {
  /// One property of every diary, in one save.
  func update(_ store: TrellisStore) throws -> Work {
    let container = try store.container()
    return {
      let context = container.newContext()
      let all = try context.fetch(Diary.all)
      for diary in all { diary.intensity += 1 }
      try context.save()
      return all.count
    }
  }

  /// One object fetched, changed and saved, each in a save of its own.
  func smallSaves(_ workload: Workload, _ store: TrellisStore) throws -> Work {
    let container = try store.container()
    let ids = try container.newContext().ids(of: Diary.all)
    return {
      let context = container.newContext()
      var chance = Generator(seed: 9)
      for _ in 0..<settings.items(workload) {
        try context.object(with: ids[chance.below(ids.count)])?.isFavorite.toggle()
        try context.save()
      }
      return settings.items(workload)
    }
  }

  /// One object of many saved, each in a save of its own.
  func saveOneDirty(_ request: Diary.FetchRequest, _ store: TrellisStore) throws -> Work {
    let context = try store.newContext()
    let held = try context.fetch(request)
    return {
      for turn in 0..<2_000 {
        held[turn % 100].isFavorite.toggle()
        try context.save()
      }
      return 2_000
    }
  }

  /// One property of every diary changed, and all of it taken back.
  func rollback(_ store: TrellisStore) throws -> Work {
    let context = try store.newContext()
    let all = try context.fetch(Diary.all)
    return {
      for diary in all { diary.intensity += 1 }
      context.rollback()
      return all.reduce(0) { $0 &+ Int($1.intensity) }
    }
  }

  /// The same, taken back as one step of the history.
  func undo(_ store: TrellisStore) throws -> Work {
    let context = try store.newContext()
    let all = try context.fetch(Diary.all)
    context.undo.enable()
    return {
      for diary in all { diary.intensity += 1 }
      try context.undo.undo()
      return all.reduce(0) { $0 &+ Int($1.intensity) }
    }
  }
}
