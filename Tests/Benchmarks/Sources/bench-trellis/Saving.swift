import BenchModel
import Trellis
import Workload

extension TrellisBench {
  /// One property of every diary, in one save.
  func update(_ container: PersistentContainer) throws {
    try report.run("update", items: count) {
      let context = container.newContext()
      let all = try context.fetch(Diary.all)
      for diary in all { diary.intensity += 1 }
      try context.save()
      return all.count
    }
  }

  /// One object fetched, changed and saved, each in a save of its own.
  func smallSaves(_ workload: String, _ ids: [ObjectID<Diary>], _ container: PersistentContainer) throws {
    try report.run(workload, items: settings.smallSaves) {
      let context = container.newContext()
      var chance = Generator(seed: 9)
      for _ in 0..<settings.smallSaves {
        try context.object(with: ids[chance.below(ids.count)])?.isFavorite.toggle()
        try context.save()
      }
      return settings.smallSaves
    }
  }

  /// One object of many saved, each in a save of its own.
  func saveOneDirty(_ container: PersistentContainer) throws {
    try saveOneDirty("saveOneDirtyOf100", Diary.all.limit(100), container)
    try saveOneDirty("saveOneDirtyOfAll", Diary.all, container)
  }

  private func saveOneDirty(
    _ workload: String, _ request: FetchRequest<Diary.Columns>, _ container: PersistentContainer
  ) throws {
    guard settings.wants(workload) else { return }
    let context = container.newContext()
    let held = try context.fetch(request)
    try report.run(workload, items: 2_000) {
      for turn in 0..<2_000 {
        held[turn % 100].isFavorite.toggle()
        try context.save()
      }
      return 2_000
    }
  }

  /// One property of every diary changed, and all of it taken back.
  func rollback(_ container: PersistentContainer) throws {
    guard settings.wants("rollback") else { return }
    let context = container.newContext()
    let all = try context.fetch(Diary.all)
    report.run("rollback", items: count) {
      for diary in all { diary.intensity += 1 }
      context.rollback()
      return all.reduce(0) { $0 &+ Int($1.intensity) }
    }
  }

  /// The same, taken back as one step of the history.
  func undo(_ container: PersistentContainer) throws {
    guard settings.wants("undo") else { return }
    let context = container.newContext()
    let all = try context.fetch(Diary.all)
    context.undo.enable()
    try report.run("undo", items: count) {
      for diary in all { diary.intensity += 1 }
      try context.undo.undo()
      return all.reduce(0) { $0 &+ Int($1.intensity) }
    }
  }
}
