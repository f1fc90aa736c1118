import Trellis

extension Watched {
  static func willSave(_ watched: Watched) throws {}
  static func willDelete(_ watched: Watched) {}
}
