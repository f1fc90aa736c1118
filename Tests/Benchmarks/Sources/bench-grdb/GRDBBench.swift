import GRDB
import Workload

/// GRDB's work for each workload.
struct GRDBBench: Participant {
  let settings: Settings

  init(_ settings: Settings) { self.settings = settings }

  var name: String { "grdb" }
  var count: Int { settings.count }

  func store(at path: String, kind: Plan.StoreKind, isNew: Bool) -> GRDBStore {
    GRDBStore(path: path, isNew: isNew, synchronous: settings.synchronous)
  }

  func prepare(_ workload: Workload, _ store: GRDBStore) throws -> Work? {
    switch workload {
    case .insert: try insert(store)
    // Records are values without an identity map: a second fetch reads them again, and a record is its own snapshot.
    case .fetchAll, .fetchAllAgain, .snapshots, .fetchAllCold: fetchAll(store)
    case .byID, .byIDPinned, .byIDRegistered: try byID(store)
    case .latestByEmotion: try latestByEmotion(store)
    case .searchText: try searchText(store)
    case .filterSort: try filterSort(store)
    case .traverse: try traverse(store)
    case .toMany, .toManyPrefetch: try toMany(store)
    case .tagAll: try tagAll(store)
    case .manyToMany: try manyToMany(store)
    case .update: try update(store)
    case .smallSaves, .smallSavesDurable: try smallSaves(workload, store)
    case .saveOneDirtyOf100: try saveOneDirty(Diary.limit(100), store)
    case .saveOneDirtyOfAll: try saveOneDirty(Diary.all(), store)
    case .rollback, .undo: try rollback(store)
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
    case .chainInsert: try chainInsert(store)
    case .chainDown: try chainDown(store)
    case .chainUp: try chainUp(store)
    case .chainDelete: try chainDelete(store)
    case .liveLists: try liveLists(store)
    case .freshContexts: try freshContexts(store)
    case .readersAndWriter: try readersAndWriter(store)
    case .photosWrite: try photosWrite(store)
    case .photosRead: try photosRead(store)
    case .bytesPerObject: try bytesPerObject(store)
    case .peakOfFetch: try peakOfFetch(store)
    // Values have stored properties, and dictionaries are the floor's.
    case .byIDInDictionary, .readInt64, .readString, .readBool, .writeInt64, .writeString, .writeBool: nil
    // GRDB has no ordered lists, and leaves unique keys to SQLite.
    case .albumInsert, .frontInsert, .middleInsert, .middleInserts, .removes, .moves, .appends: nil
    case .deleteValidated, .deleteRefused, .wordsUnited, .wordsRefused: nil
    case .liveListsOfN: nil
    // It is SQLite only.
    case .documentWrite, .documentOpen, .documentSaveOne, .memoryInsert, .memoryFetchAll, .memoryFilterSort: nil
    case .firstFetch50, .firstFetch200: nil
    }
  }
}

/// A pool that is opened when it is first used.
final class GRDBStore: WorkloadStore {
  private let path, synchronous: String
  private let isNew: Bool
  private var opened: DatabasePool?

  init(path: String, isNew: Bool, synchronous: String) {
    self.path = path
    self.isNew = isNew
    self.synchronous = synchronous
  }

  /// Opens the file with the settings that the other participants have, too.
  func pool() throws -> DatabasePool {
    if let opened { return opened }
    var configuration = Configuration()
    configuration.prepareDatabase {
      try $0.execute(sql: "PRAGMA cache_size=-16384; PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON")
    }
    let pool = try DatabasePool(path: path, configuration: configuration)
    // A pool sets this by itself when it opens, so what was prepared before would be lost.
    let synchronous = synchronous
    try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous=\(synchronous)") }
    if isNew { try pool.write(Schema.create) }
    opened = pool
    return pool
  }

  func close() throws { try opened?.close() }
}
