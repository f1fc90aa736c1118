extension ManagedObject: CustomStringConvertible {
  /// The entity and the object's key, `EmotionDiary#3`. Nothing is loaded for it, and it contains no user data.
  public var description: String { "\(type(of: self))#\(_key)" }
}

extension ToMany: CustomStringConvertible {
  /// The members as an array prints them, `[Tag#1, Tag#2]`. They are loaded if necessary.
  public var description: String { objects.description }
}

extension OrderedToMany: CustomStringConvertible {
  /// The members as an array prints them, `[DiaryImage#1, DiaryImage#2]`. They are loaded if necessary.
  public var description: String { objects.description }
}
