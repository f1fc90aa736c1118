import CTestDisk
import Foundation
import Testing
import TrellisModel

/// One step that changes the disk or opens a file.
struct DiskStep: Sendable {
  enum Kind: CaseIterable {
    // SQLite's steps, in the order of their numbers.
    case open, write, truncate, sync, delete, read, map
    // Steps of ``FileOperations`` beside them.
    case rename, makeFolder, syncFolder

    init?(_ number: Int32) {
      guard Self.allCases.indices.contains(Int(number)) else { return nil }
      self = Self.allCases[Int(number)]
    }
  }

  var kind: Kind
  /// The file's name in the folder.
  var file: String
  /// The name that a file gets.
  var newName = ""
  var offset = 0
  /// What is left by a truncation.
  var length = 0
  var bytes: [UInt8] = []
  /// A sync or a delete that brings the names in the folder to the disk too; an open that may make the file.
  var includesFolder = false
}

/// The disk under the SQLite files of one folder: it tells what it does, and fails where a test wants it.
///
/// Files that were opened on it must be closed before it goes.
final class TestDisk: Sendable {
  fileprivate struct State {
    var keepsSteps = false
    var steps: [DiskStep] = []
    var failure: Failure?
    var count = 0
    var failures = 0
  }

  /// Which step fails, and how.
  struct Failure {
    /// The steps that count; they are numbered from 1.
    var kinds: Set<DiskStep.Kind>
    var number: Int
    var isForEver = false
    /// SQLite's code of the failure.
    var code: Int32
    /// Whether the first half of a failing write is done.
    var writesHalf = false
  }

  private let state = Locked(State())
  private let prefix: String
  private let watch = Locked<Int32>(-1)

  init(_ folder: URL) throws {
    prefix = folder.resolvingSymlinksInPath().path + "/"
    let context = Unmanaged.passUnretained(self).toOpaque()
    let number = trellis_disk_watch(
      prefix,
      { context, step in
        guard let context, let step else { return 0 }
        // Sound because the watch ends before the disk goes.
        return Unmanaged<TestDisk>.fromOpaque(context).takeUnretainedValue().answer(&step.pointee)
      }, context)
    try #require(number >= 0)
    watch.withLock { $0 = number }
  }

  deinit { trellis_disk_unwatch(watch.withLock { $0 }) }

  // MARK: For tests

  /// From now on steps are kept, for a ``DiskHistory``.
  func record() { state.withLock { $0.keepsSteps = true } }

  /// What was recorded.
  var steps: [DiskStep] { state.withLock { $0.steps } }
  var stepCount: Int { state.withLock { $0.steps.count } }

  /// Counts from now on, and fails as it is told; never with nil.
  func fail(_ failure: Failure?) {
    state.withLock { ($0.failure, $0.count, $0.failures) = (failure, 0, 0) }
  }

  /// How many steps have failed since the last word about failures.
  var failures: Int { state.withLock { $0.failures } }

  /// Keeps a step that was done beside SQLite.
  func add(_ step: DiskStep) {
    state.withLock { if $0.keepsSteps { $0.steps.append(step) } }
  }

  // MARK: For SQLite

  private func answer(_ step: inout trellis_disk_step) -> Int32 {
    guard let kind = DiskStep.Kind(step.kind), let path = step.path else { return 0 }
    let name = String(String(cString: path).dropFirst(prefix.count))
    return state.withLock { state in
      if let code = state.failed(kind, &step) { return code }
      if state.keepsSteps && kind != .read && kind != .map { state.steps.append(Self.copy(step, kind, name)) }
      return 0
    }
  }

  private static func copy(_ step: trellis_disk_step, _ kind: DiskStep.Kind, _ name: String) -> DiskStep {
    let bytes = UnsafeRawBufferPointer(start: step.bytes, count: step.bytes == nil ? 0 : Int(step.length))
    return DiskStep(
      kind: kind, file: name, offset: Int(step.offset), length: Int(step.length), bytes: Array(bytes),
      includesFolder: step.includes_folder != 0)
  }
}

extension TestDisk.State {
  fileprivate mutating func failed(_ kind: DiskStep.Kind, _ step: inout trellis_disk_step) -> Int32? {
    guard let failure, failure.kinds.contains(kind) else { return nil }
    count += 1
    guard count == failure.number || failure.isForEver && count > failure.number else { return nil }
    failures += 1
    if kind == .write { step.length = failure.writesHalf ? step.length / 2 : 0 }
    return failure.code
  }
}
