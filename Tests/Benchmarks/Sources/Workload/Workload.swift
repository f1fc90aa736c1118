/// Everything that is measured, in the order in which it runs.
///
/// A workload is a case here, its ``plan``, and a body of each participant that takes part. The compiler names what is missing.
public enum Workload: String, CaseIterable, Sendable {
  // Diaries with their images.
  case insert, fetchAll, fetchAllAgain, snapshots, byID, byIDPinned, byIDRegistered, byIDInDictionary
  case latestByEmotion, searchText, filterSort, traverse, toMany, toManyPrefetch
  case readInt64, readString, readBool, writeInt64, writeString, writeBool
  // Diaries with their tags, too.
  case tagAll, manyToMany, update, smallSaves, saveOneDirtyOf100, saveOneDirtyOfAll, rollback, undo, upsert
  case deleteCascade
  case peakMegabytes
  case importInSaves
  // Tracks of albums of artists of labels of countries.
  case musicInsert, joinCount, joinKeys, joinObjects, sumAll, groupCountSum, groupLargest
  // One album with all tracks in their order.
  case albumInsert, frontInsert, middleInsert, middleInserts, removes, moves, appends
  case deleteValidated, deleteRefused
  // Nodes, each the child of the one before.
  case chainInsert, chainDown, chainUp, chainDelete
  // Unique keys that clash in one save.
  case wordsUnited, wordsRefused
  // Many observers, many contexts.
  case liveLists, liveListsOfN, freshContexts, readersAndWriter
  // Large values.
  case photosWrite, photosRead
  // A document instead of a database.
  case documentWrite, documentOpen, documentSaveOne
  // No file at all.
  case memoryInsert, memoryFetchAll, memoryFilterSort
  // In a process that has done nothing before, on the file that others have left.
  case fetchAllCold, bytesPerObject, peakOfFetch, smallSavesDurable
  // In a program of its own, whose model has as many entities.
  case firstFetch50, firstFetch200
}

/// How a workload runs.
public struct Plan: Sendable {
  public enum Process: Sendable {
    /// With the others, one after the other.
    case shared
    /// Alone, on the file that the workload which it needs has left.
    case reopened
    /// Alone, with a model of as many entities.
    case firstFetch(entities: Int)
  }

  public enum StoreKind: Sendable { case database, document, memory }

  /// The workload that makes the data for this one; with nil it begins with an empty store.
  public internal(set) var needs: Workload?
  /// How many items are worked on, by the number of diaries.
  public internal(set) var items: @Sendable (_ count: Int) -> Int
  /// Whether others cannot start from the data as this one leaves them.
  public internal(set) var spoils = false
  public internal(set) var process = Process.shared
  public internal(set) var storeKind = StoreKind.database
  /// Whether the body returns a figure instead of a checksum, and its time means nothing.
  public internal(set) var isFigure = false
  /// Whether its instructions can be counted: they are not the same each time where threads wait for each other.
  public internal(set) var isCounted = true

  init(on needs: Workload? = nil, _ items: @escaping @Sendable (_ count: Int) -> Int) {
    self.needs = needs
    self.items = items
  }

  /// A copy with one thing set.
  func with<Value>(_ property: WritableKeyPath<Plan, Value>, _ value: Value) -> Plan {
    var copy = self
    copy[keyPath: property] = value
    return copy
  }

  func spoiling() -> Plan { with(\.spoils, true) }
}

extension Workload {
  public var plan: Plan {
    switch self {
    case .insert: Plan { $0 * (1 + imagesOfADiary) }
    case .fetchAll, .fetchAllAgain, .snapshots, .byID, .byIDPinned, .byIDRegistered, .byIDInDictionary, .searchText,
      .filterSort:
      Plan(on: .insert) { $0 }
    case .latestByEmotion: Plan(on: .insert) { min($0 / 10, 10_000) }
    case .traverse, .toMany, .toManyPrefetch: Plan(on: .insert) { $0 * imagesOfADiary }
    case .readInt64, .readString, .readBool, .writeInt64, .writeString, .writeBool:
      Plan(on: .insert) { _ in accessedObjects * accessRounds }
    case .tagAll: Plan(on: .insert) { $0 }.spoiling()
    case .manyToMany, .update, .rollback, .undo, .upsert: Plan(on: .tagAll) { $0 }
    case .smallSaves: Plan(on: .tagAll) { max(1, min($0 / 100, 1_000)) }
    case .saveOneDirtyOf100, .saveOneDirtyOfAll: Plan(on: .tagAll) { _ in 2_000 }
    case .deleteCascade: Plan(on: .tagAll) { $0 / 10 }
    case .peakMegabytes: Plan { $0 }.with(\.isFigure, true)
    case .importInSaves: Plan { $0 }

    case .musicInsert: Plan { $0 }
    case .joinCount, .joinKeys, .joinObjects, .sumAll, .groupCountSum, .groupLargest: Plan(on: .musicInsert) { $0 }

    case .albumInsert: Plan { $0 }
    case .frontInsert, .middleInsert: Plan(on: .albumInsert) { _ in savedEdits }.spoiling()
    case .middleInserts, .removes, .moves, .appends: Plan(on: .albumInsert) { _ in editsOfASave }.spoiling()
    case .deleteValidated, .deleteRefused: Plan(on: .albumInsert) { _ in 1 }

    case .chainInsert: Plan { $0 }
    case .chainDown, .chainUp: Plan(on: .chainInsert) { $0 }
    case .chainDelete: Plan(on: .chainInsert) { $0 }.spoiling()

    case .wordsUnited, .wordsRefused: Plan { $0 }

    case .liveLists: Plan { _ in savesBesideLists }
    case .liveListsOfN: Plan { min($0, 10_000) * savesBesideLists }
    case .freshContexts: Plan { min($0, 10_000) }
    case .readersAndWriter: Plan { _ in readers * readsOfAReader }.with(\.isCounted, false)

    case .photosWrite: Plan { min(max($0 / 1_000, 5), 100) }
    case .photosRead: Plan(on: .photosWrite) { min(max($0 / 1_000, 5), 100) }

    case .documentWrite: Plan { $0 }.with(\.storeKind, .document)
    case .documentOpen: Plan(on: .documentWrite) { $0 }.with(\.storeKind, .document)
    case .documentSaveOne: Plan(on: .documentWrite) { $0 * documentSaves }.with(\.storeKind, .document)

    case .memoryInsert: Plan { $0 }.with(\.storeKind, .memory)
    case .memoryFetchAll, .memoryFilterSort: Plan(on: .memoryInsert) { $0 }.with(\.storeKind, .memory)

    case .fetchAllCold: Plan(on: .insert) { $0 }.with(\.process, .reopened)
    case .bytesPerObject, .peakOfFetch:
      Plan(on: .insert) { $0 }.with(\.process, .reopened).with(\.isFigure, true)
    case .smallSavesDurable: Plan(on: .insert) { max(1, min($0 / 100, 1_000)) }.with(\.process, .reopened)

    case .firstFetch50: Plan { _ in 1 }.with(\.process, .firstFetch(entities: 50))
    case .firstFetch200: Plan { _ in 1 }.with(\.process, .firstFetch(entities: 200))
    }
  }

  /// The workload that makes the first data of the store on which this one works.
  public var origin: Workload { plan.needs?.origin ?? self }
}
