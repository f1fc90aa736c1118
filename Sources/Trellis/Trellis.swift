// The only import that a program using Trellis needs. Only names that users write are exported. The names of the
// modules below, such as `Store` or `Index`, remain available for the entities of a model.

@_exported import struct TrellisModel.ContentDigest
@_exported import struct TrellisModel.PredicateFormatError
@_exported import struct TrellisStorage.SearchQuery
@_exported import struct TrellisStorage.SearchSnippet
@_exported import struct TrellisModel.TextOptions
@_exported import TrellisRuntime
@_exported import protocol TrellisStorage.AttributeValue
@_exported import protocol TrellisStorage.CodableAttribute
@_exported import enum TrellisStorage.Durability
@_exported import enum TrellisStorage.EncryptedStore
@_exported import struct TrellisStorage.ExternalData
@_exported import protocol TrellisStorage.ModelEnum
@_exported import struct TrellisStorage.PoolFigures
@_exported import protocol TrellisStorage.PredicateArgument
@_exported import struct TrellisStorage.MigrationPlan
@_exported import struct TrellisStorage.MigrationPolicy
@_exported import struct TrellisStorage.QueryLog
@_exported import struct TrellisStorage.QueryLogEntry
@_exported import struct TrellisStorage.QueryPlan
@_exported import protocol TrellisStorage.ScalarAttribute
@_exported import struct TrellisStorage.SaveConflict
@_exported import struct TrellisStorage.SQLiteLibrary
@_exported import struct TrellisStorage.StoreConfiguration
@_exported import struct TrellisStorage.StoreError
@_exported import struct TrellisStorage.StoreFinding
@_exported import struct TrellisStorage.UnknownRawValue
