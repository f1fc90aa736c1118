import BenchModel
import Foundation
import HistoryModel
import Trellis
import TrellisJSON
import Workload

/// Trellis's work for each workload.
struct TrellisBench: Participant {
  let settings: Settings
  let isMemory: Bool
  private let model: ObjectModel

  /// `BENCH_HISTORY` says what the store records about changes.
  init(_ settings: Settings) {
    self.settings = settings
    model =
      switch settings.word("BENCH_HISTORY") {
      case "changes": .bench(.changes)
      case "values": .bench(.values)
      default: .bench
      }
    isMemory = settings.isOn("BENCH_MEMORY_STORE")
  }

  var name: String { isMemory ? "trellis-memory" : "trellis" }
  var count: Int { settings.count }

  func store(at path: String, kind: Plan.StoreKind, isNew: Bool) -> TrellisStore {
    let file = URL(fileURLWithPath: path), durability: Durability = settings.isDurable ? .durable : .relaxed
    let key = settings.word("BENCH_KEY").map { text in { @Sendable in Data(text.utf8) } }
    return switch isMemory ? .memory : kind {
    case .database: TrellisStore(.sqlite(at: file, durability: durability, key: key), model)
    case .document: TrellisStore(.json(at: file, durability: durability), model)
    case .memory: TrellisStore(.memory, model)
    }
  }

  func prepare(_ workload: Workload, _ store: TrellisStore) throws -> Work? {
    // These are about files, and about memory anyway.
    if isMemory && (workload.plan.storeKind != .database || workload.origin == .photosWrite) { return nil }
    return switch workload {
    case .insert: try insert(store)
    case .fetchAll: try fetchAll(store)
    case .fetchAllAgain: try fetchAllAgain(store)
    case .snapshots: try snapshots(store)
    case .byID: try byID(store)
    case .byIDPinned: isMemory ? nil : try byIDPinned(store)
    case .byIDRegistered, .byIDInDictionary: try byIDRegistered(store)
    case .latestByEmotion: try latestByEmotion(store)
    case .searchText: try searchText(store)
    case .filterSort: try filterSort(store)
    case .traverse: try traverse(store)
    case .toMany: try toMany(Diary.all, store)
    case .toManyPrefetch: try toMany(Diary.all.prefetching { $0.images }, store)
    case .readInt64: try access(store) { object, _ in Int(object.intensity) }
    case .readString: try access(store) { object, _ in object.content.utf8.count }
    case .readBool: try access(store) { object, _ in object.isFavorite ? 1 : 0 }
    case .writeInt64: try writes(store) { $0.intensity = Int64($1) }
    case .writeString: try writes(store) { $0.content = writtenTexts[$1 & 1] }
    case .writeBool: try writes(store) { $0.isFavorite = $1 & 1 == 1 }
    case .tagAll: try tagAll(store)
    case .manyToMany: try manyToMany(store)
    case .update: try update(store)
    case .smallSaves: try smallSaves(workload, store)
    case .saveOneDirtyOf100: try saveOneDirty(Diary.all.limit(100), store)
    case .saveOneDirtyOfAll: try saveOneDirty(Diary.all, store)
    case .rollback: try rollback(store)
    case .undo: try undo(store)
    case .upsert: try upsert(store)
    case .deleteCascade: try deleteCascade(store)
    case .peakMegabytes: { peakMegabytes() }
    case .importInSaves: try importInSaves(store)
    case .musicInsert: try musicInsert(store)
    case .joinCount: try joinCount(store)
    case .joinKeys: try joinKeys(store)
    case .joinObjects: try joinObjects(store)
    case .sumAll: try sumAll(store)
    case .groupCountSum: try groupCountSum(store)
    case .groupLargest: try groupLargest(store)
    case .albumInsert: try albumInsert(store)
    case .frontInsert: try insertEach(store) { _ in 0 }
    case .middleInsert: try insertEach(store) { $0 / 2 }
    case .middleInserts:
      try edit(store) { tracks, track in tracks.insert(track(), at: tracks.count / 2) }
    case .removes: try edit(store) { tracks, _ in tracks.remove(at: tracks.count / 2) }
    case .moves: try edit(store) { tracks, _ in tracks.move(from: tracks.count - 1, to: 0) }
    case .appends: try edit(store) { tracks, track in tracks.append(track()) }
    case .deleteValidated: try deleteValidated(store)
    case .deleteRefused: try deleteRefused(store)
    case .chainInsert: try chainInsert(store)
    case .chainDown: try chainDown(store)
    case .chainUp: try chainUp(store)
    case .chainDelete: try chainDelete(store)
    case .wordsUnited: try wordsUnited(store)
    case .wordsRefused: try wordsRefused(store)
    case .liveLists: try liveLists(observedLists, store)
    case .liveListsOfN: try liveLists(settings.items(workload) / savesBesideLists, store)
    case .freshContexts: try freshContexts(store)
    case .readersAndWriter: try readersAndWriter(store)
    case .photosWrite: try photosWrite(store)
    case .photosRead: try photosRead(store)
    case .documentWrite, .memoryInsert: try diariesInsert(store)
    case .documentOpen: try documentOpen(store)
    case .documentSaveOne: try documentSaveOne(store)
    case .memoryFetchAll: try fetchAll(store)
    case .memoryFilterSort: try filterSort(store)
    case .fetchAllCold: isMemory ? nil : try fetchAll(store)
    case .smallSavesDurable: isMemory ? nil : try smallSaves(workload, store)
    case .bytesPerObject: try bytesPerObject(store)
    case .peakOfFetch: try peakOfFetch(store)
    case .firstFetch50, .firstFetch200: nil
    }
  }
}

/// A container that is opened when it is first used.
final class TrellisStore: WorkloadStore {
  private let configuration: StoreConfiguration
  private let model: ObjectModel
  private var opened: PersistentContainer?

  init(_ configuration: StoreConfiguration, _ model: ObjectModel) {
    self.configuration = configuration
    self.model = model
  }

  func container() throws -> PersistentContainer {
    if let opened { return opened }
    let container = try PersistentContainer(model: model, store: configuration)
    opened = container
    return container
  }

  func close() {
    opened?.close()
    opened = nil
  }

  func newContext() throws -> ManagedObjectContext { try container().newContext() }

  /// Lends a new context, which lives until the body ends: objects whose context is gone load nothing more.
  func withContext(_ body: (ManagedObjectContext) throws -> Int) throws -> Int {
    let context = try newContext()
    defer { withExtendedLifetime(context) {} }
    return try body(context)
  }
}
