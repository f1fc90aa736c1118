import Workload

/// Hand-written code for each workload.
struct Floor: Participant {
  let settings: Settings
  let isBare: Bool

  init(_ settings: Settings) {
    self.settings = settings
    isBare = settings.isOn("BENCH_BARE")
  }

  var name: String { isBare ? "sqlite-bare" : "sqlite" }
  var count: Int { settings.count }

  func store(at path: String, kind: Plan.StoreKind, isNew: Bool) -> FloorStore {
    FloorStore(DatabaseFile(path: path, isBare: isBare, synchronous: settings.synchronous), isNew: isNew)
  }

  func prepare(_ workload: Workload, _ store: FloorStore) throws -> Work? {
    // The bare schema has diaries only.
    if isBare && workload.origin != .insert && workload != .peakMegabytes { return nil }
    return switch workload {
    case .insert: insert(store)
    case .fetchAll: fetchAll(store)
    case .fetchAllAgain: fetchAllAgain(store)
    case .snapshots: snapshots(store)
    // Without an identity map, the row is read again; a dictionary is measured beside that.
    case .byID, .byIDPinned, .byIDRegistered: byID(store)
    case .byIDInDictionary: byIDInDictionary(store)
    case .latestByEmotion: latestByEmotion(store)
    case .searchText: searchText(store)
    case .filterSort: filterSort(store)
    case .traverse: traverse(store)
    case .toMany, .toManyPrefetch: toMany(store)
    case .readInt64: access(store) { object, _ in object.intensity }
    case .readString: access(store) { object, _ in object.content.utf8.count }
    case .readBool: access(store) { object, _ in object.isFavorite ? 1 : 0 }
    case .writeInt64: writes(store) { $0.intensity = $1 }
    case .writeString: writes(store) { $0.content = writtenTexts[$1 & 1] }
    case .writeBool: writes(store) { $0.isFavorite = $1 & 1 == 1 }
    case .tagAll: tagAll(store)
    case .manyToMany: manyToMany(store)
    case .update: update(store)
    case .smallSaves, .smallSavesDurable: smallSaves(workload, store)
    case .saveOneDirtyOf100: saveOneDirty(limit: 100, store)
    case .saveOneDirtyOfAll: saveOneDirty(limit: -1, store)
    case .rollback, .undo: rollback(store)
    case .upsert: upsert(store)
    case .deleteCascade: deleteCascade(store)
    case .peakMegabytes: { peakMegabytes() }
    case .importInSaves: importInSaves(store)
    case .musicInsert: musicInsert(store)
    case .joinCount: joinCount(store)
    case .joinKeys: joinKeys(store)
    case .joinObjects: joinObjects(store)
    case .sumAll: sumAll(store)
    case .groupCountSum: groupCountSum(store)
    case .groupLargest: groupLargest(store)
    case .albumInsert: albumInsert(store)
    case .frontInsert: frontInsert(store)
    case .middleInsert: middleInsert(store)
    case .removes: removes(store)
    case .moves: moves(store)
    case .appends: appends(store)
    case .deleteValidated, .deleteRefused: countMembers(store)
    case .chainInsert: chainInsert(store)
    case .chainDown: chainDown(store)
    case .chainUp: chainUp(store)
    case .chainDelete: chainDelete(store)
    case .wordsUnited: wordsUnited(store)
    case .liveLists, .liveListsOfN: liveLists(workload, store)
    case .freshContexts: freshContexts(store)
    case .readersAndWriter: readersAndWriter(store)
    case .photosWrite: photosWrite(store)
    case .photosRead: photosRead(store)
    case .documentWrite: documentWrite(store)
    case .documentOpen: documentOpen(store)
    case .documentSaveOne: try documentSaveOne(store)
    case .memoryInsert: memoryInsert(store)
    case .memoryFetchAll: memoryFetchAll(store)
    case .memoryFilterSort: memoryFilterSort(store)
    case .fetchAllCold: fetchAll(store)
    case .bytesPerObject: bytesPerObject(store)
    case .peakOfFetch: peakOfFetch(store)
    // By hand, the places of many insertions are chosen at once, for the case at hand; the first duplicate ends an INSERT.
    case .middleInserts, .wordsRefused: nil
    case .firstFetch50, .firstFetch200: nil
    }
  }
}

/// What hand-written code keeps: a database that is opened when it is first used, files beside it, and arrays.
final class FloorStore: WorkloadStore {
  let file: DatabaseFile
  private let isNew: Bool
  private(set) lazy var connection = open()
  /// What a program without a file keeps.
  var diaries: [DiaryRow] = []
  private var isOpen = false

  init(_ file: DatabaseFile, isNew: Bool) {
    self.file = file
    self.isNew = isNew
  }

  var path: String { file.path }

  private func open() -> Connection {
    isOpen = true
    let connection = file.open()
    if isNew { Schema.create(in: connection, isBare: file.isBare) }
    return connection
  }

  func close() { if isOpen { connection.close() } }
}

/// A database and how it is opened.
struct DatabaseFile {
  let path: String
  let isBare: Bool
  let synchronous: String

  /// Opens the file with the settings that Trellis has, too.
  func open() -> Connection {
    let connection = Connection(path)
    connection.execute(
      """
      PRAGMA journal_mode=WAL; PRAGMA synchronous=\(synchronous); PRAGMA foreign_keys=\(isBare ? "OFF" : "ON");
      PRAGMA cache_size=-16384; PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=\(isBare ? "OFF" : "ON")
      """)
    return connection
  }
}
