// Adapter that runs the same tests with every stock client. A client is configured with a base URL, a key and a model only; what it
// sends is its own choice.

export interface StockClient {
  name: string
  at(endpoint: { baseUrl: string; key: string; model: string }): ClientAtWork
}

export interface ClientAtWork {
  complete(prompt: string, options?: CallOptions): Promise<Spoken>
  stream(prompt: string, options?: CallOptions): Promise<Spoken & { pieces: number }>
  /** Offers the tool `forecast`, calls it as the model requests, and sends its result back. */
  useTool(prompt: string, tool: Forecast): Promise<Spoken>
  /** Requests an object that matches `CITY_SCHEMA`. */
  object(prompt: string): Promise<Spoken & { value: unknown }>
  /** Sends an image and a PDF with the prompt, both given as base64. */
  look(prompt: string, attached: { png: string; pdf: string }): Promise<Spoken>
  /** Streams and disconnects after the first piece. */
  leaveStream(prompt: string): Promise<void>
}

export interface CallOptions {
  idempotencyKey?: string
  /** Maximum number of automatic retries. */
  retries?: number
}

export interface Spoken {
  text: string
  /** Token usage of all calls made. */
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
  properties: { city: text, population: { type: 'number' as const }, capital: { type: 'boolean' as const } },
  required: ['city', 'population', 'capital'],
  additionalProperties: false,
}

/** Error of a refused call, as far as the client exposes it. */
export interface Thrown {
  status: number | undefined
  code: string | undefined
  message: string
}
