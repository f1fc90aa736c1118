// What Swift's module of the Windows API declares beside the headers. The compiler looks for the type of C's `BOOL` in it.
@_exported public import CWindows
@_exported public import ucrt

public let INVALID_HANDLE_VALUE = HANDLE(bitPattern: -1)
public let INVALID_FILE_ATTRIBUTES = DWORD.max
public let FILE_ATTRIBUTE_REPARSE_POINT: DWORD = 0x400

@frozen public struct WindowsBool {
  public var value: Int32
  public init(_ value: Bool) { self.value = value ? 1 : 0 }
}

@_transparent public func _convertBoolToWindowsBool(_ value: Bool) -> WindowsBool { WindowsBool(value) }
@_transparent public func _convertWindowsBoolToBool(_ value: WindowsBool) -> Bool { value.value != 0 }
