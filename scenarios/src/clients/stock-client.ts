// What a stock client is asked to do, so that each of them can be put to the same tests. How it does it, and what it sends, is
// its own affair: it is given nothing but a base address, a key and a model.

export interface StockClient {
  name: string
  at(endpoint: { baseUrl: string; key: string; model: string }): ClientAtWork
}

export interface ClientAtWork {
  complete(prompt: string, options?: CallOptions): Promise<Spoken>
  stream(prompt: string, options?: CallOptions): Promise<Spoken & { pieces: number }>
  /** Asks with the tool `forecast` at hand, calls it as the model wants, and asks again with what it said. */
  useTool(prompt: string, tool: Forecast): Promise<Spoken>
  /** Asks for an object of the form of `CITY_SCHEMA`. */
  object(prompt: string): Promise<Spoken & { value: unknown }>
  /** Streams, and leaves after the first piece. */
  leaveStream(prompt: string): Promise<void>
}

export interface CallOptions {
  idempotencyKey?: string
  /** How often the client may repeat by itself. */
  retries?: number
}

export interface Spoken {
  text: string
  /** Of all calls that it took. */
  usage: { prompt: number; completion: number }
}

export type Forecast = (city: string) => { degrees: number }

const text = { type: 'string' as const }

export const FORECAST = {
  name: 'forecast',
  description: 'The forecast in a city',
  parameters: {
    type: 'object' as const,
    properties: { city: text },
    required: ['city'],
    additionalProperties: false,
  },
}

export const CITY_SCHEMA = {
  type: 'object' as const,
  properties: { city: text, users: { type: 'number' as const }, capital: { type: 'boolean' as const } },
  required: ['city', 'users', 'capital'],
  additionalProperties: false,
}

/** What a client throws where it was refused, as far as it tells. */
export interface Thrown {
  status: number | undefined
  code: string | undefined
  message: string
}
