import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage
import TrellisTimeTravel

// MARK: - Data that answers name

/// Data that was read for a piece of it.
struct FetchedContent {
  let content: ExternalFile
  let bytes: [UInt8]
  /// When it was read, in microseconds since 1970.
  let time: Int64

  /// How long it is kept for the next piece, in microseconds.
  static let life: Int64 = 60_000_000
}

extension SyncServer {
  private static let mostFetched = 1 << 26

  /// Answers with pieces of data that an answer has named. The scope is not compared: a digest is known only from such an
  /// answer, or from the data itself.
  func fetch(_ request: ContentRequest, from user: String? = nil) throws -> ContentAnswer {
    let bridge = try bridge(from: request.model)
    _ = try record(request.replica, of: user)
    guard request.places.count <= ContentRequest.mostPlaces else { throw SyncError.refused("it has too many places") }
    guard let moment = HistoryToken(request.moment) else { throw SyncError.refused("a moment is invalid") }
    do {
      let view = MomentView(try container.newContext(asOf: moment))
      var pieces: [ContentPiece] = []
      var size = 0
      let most = max(1, min(request.size, Self.mostFetched))
      for wanted in request.places where size < most {
        let place = wanted.place
        guard let bytes = try bytes(wanted, bridge, view) else { continue }
        let piece = Array(bytes.dropFirst(place.offset).prefix(most - size))
        size += piece.count
        pieces.append(ContentPiece(content: place.content, offset: place.offset, bytes: piece))
        remember(bytes, place.content, after: place.offset + piece.count)
      }
      return ContentAnswer(pieces: pieces)
    } catch let error as StoreError where error.code == .historyExpired || error.code == .otherHistory {
      throw SyncError.expired
    }
  }

  private func bytes(_ wanted: ContentRequest.Place, _ bridge: ModelBridge?, _ view: MomentView) throws -> [UInt8]? {
    let content = wanted.place.content
    if let last = lastContent.withLock({ $0 }), last.content == content { return last.bytes }
    var place: (entity: Int, property: Int)? = (wanted.entity, wanted.property)
    if let bridge { place = bridge.newer(wanted.entity, wanted.property) }
    guard let (entity, number) = place,
      let property = container.model.property(entity, number), property.attribute != nil,
      let object = try view.object(wanted.key, of: entity), view.entity(of: object).index == entity,
      let value = try view.rowValue(of: property, object)
    else { return nil }
    switch value {
    case .blob(let bytes): return bytes.withUnsafeBytes(content.holds) ? bytes : nil
    case .file(let file): return file == content ? try file.origin?.bytes(of: file) : nil
    default: return nil
    }
  }

  /// Keeps data for the request for its next piece.
  private func remember(_ bytes: [UInt8], _ content: ExternalFile, after count: Int) {
    let time = clock()
    lastContent.withLock { last in
      if count < bytes.count {
        last = FetchedContent(content: content, bytes: bytes, time: time)
      } else if last?.content == content {
        last = nil
      }
    }
  }

  /// Gives back the memory of data whose next piece was not asked for.
  func forgetOldContent() {
    guard let time = lastContent.withLock({ $0?.time }) else { return }
    let age = clock() &- time
    if age < 0 || age > FetchedContent.life { lastContent.withLock { $0 = nil } }
  }
}
