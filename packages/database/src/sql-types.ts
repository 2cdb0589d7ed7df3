/**
 * The value for a function argument, by its Postgres type. A list of bytes has no null: the driver takes the type of a
 * list from its first item.
 */
export interface Taken {
  boolean: boolean
  integer: number
  bigint: number | bigint
  text: string
  /** JSON text. */
  jsonb: string
  bytea: Uint8Array
  'integer[]': readonly (number | null)[]
  'text[]': readonly (string | null)[]
  'bytea[]': readonly Uint8Array[]
}

/** The value of a function result, by its Postgres type. */
export interface Answered {
  boolean: boolean
  integer: number
  bigint: bigint
  text: string
  jsonb: unknown
  bytea: Uint8Array
  'integer[]': number[]
  'text[]': string[]
  'bytea[]': Uint8Array[]
}
