package import TrellisSchema

extension ExternalFolder {
  /// Whether there may be unreferenced files.
  package var isMarked: Bool { (try? files.stamp(markPath)) ?? nil != nil }

  /// Removes the unreferenced files. No save may commit meanwhile.
  ///
  /// - Parameter referenced: the contents that committed rows refer to.
  /// - Returns: the number of removed files.
  /// - Throws: ``StoreError`` with the code `busy` if another user in this process or another one has the store open;
  ///   errors of `referenced`.
  package func collect(_ referenced: () throws -> Set<ContentDigest>) throws -> Int {
    do {
      guard try files.isFolder(path) else { return 0 }
      let lock = try shared.withLock { shared in
        if shared.copies > 0 { throw FileProblem(.busy, "the store is being copied") }
        if let lock = shared.lock { return lock }
        let lock = try files.share(lockPath)
        shared.lock = lock
        return lock
      }
      defer { release(lock) }
      try lock.hold(alone: true)
      return try collectAlone(referenced())
    } catch let problem as FileProblem {
      throw problem.externalError("collected", path)
    }
  }

  /// Changes the exclusive lock back to a shared one. If that fails, the lock is released and the next save acquires a
  /// new one.
  private func release(_ lock: any OpenFile) {
    if (try? lock.hold(alone: false)) != nil { return }
    shared.withLock { shared in
      shared.lock = nil
      shared.isLockTried = false
    }
    try? lock.close()
  }

  private func collectAlone(_ referenced: Set<ContentDigest>) throws -> Int {
    var (removed, kept) = (0, 0)
    for name in try files.names(in: path) {
      switch ContentDigest(name) {
      case let digest? where referenced.contains(digest): continue
      case let digest? where shared.withLock({ $0.users[digest] != nil }): kept += 1
      case nil where !isLeftover(name): continue
      default:
        try files.remove("\(path)/\(name)")
        removed += 1
      }
    }
    if kept == 0 {
      shared.withLock { $0.isMarked = false }
      try files.remove(markPath)
    }
    return removed
  }

  /// Whether a file was left behind by a crash while it was being written.
  private func isLeftover(_ name: String) -> Bool {
    let parts = name.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, ContentDigest(parts[0]) != nil, parts[1].hasSuffix(".new") else { return false }
    return shared.withLock { !$0.temporaries.contains(name) }
  }
}
