@_exported import TrellisQuery
@_exported import TrellisRuntime
@_exported import TrellisSchema
@_exported import TrellisStorage
