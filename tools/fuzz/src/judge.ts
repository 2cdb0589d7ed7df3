import { Ajv2020 } from 'ajv/dist/2020.js'
import { isRevocation } from '@gateway/api/request-kinds'
import { apiDocument, operations, type Json, type Operation } from '@gateway/testbed/example-request'
import type { Caller, FuzzRequest } from './draft.ts'
import type { FuzzAnswer } from './send.ts'

/** What is wrong with a response. */
export interface Fault {
  kind: 'server error' | 'no response' | 'slow' | 'let in' | 'status' | 'shape' | 'refusal' | 'leak' | 'headers'
  what: string
}

const SLOW_MS = 2_000
/** Responses of the HTTP layer to changed requests, the same for every operation. */
const GENERAL = new Set([304, 400, 405, 406, 408, 413, 414, 415, 431])
/** Statuses that report a failure of the provider. */
const OF_PROVIDER = new Set(['provider_failed', 'provider_timeout'])
const NEVER_ACCEPTED = new Set<Caller>(['none', 'forged', 'legacyKey', 'revokedKey', 'expiredKey', 'endedToken'])
const INTERNALS = /\.ts:\d+|node_modules|PrismaClient|SQLSTATE|\n\s+at [\w.]+ \(/

const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema({ $id: 'api', components: apiDocument.components })
const byRoute = new Map(operations.map((operation) => [operation.name, operation]))

/** Compares a response with the document and with the rules that hold for every response. */
export function judge(request: FuzzRequest, answer: FuzzAnswer): Fault[] {
  const { status, ms, error, text } = answer
  const faults: Fault[] = []
  if (ms > SLOW_MS) faults.push({ kind: 'slow', what: `${status} after more than ${SLOW_MS / 1000} s` })
  if (status === 0)
    return request.transport.kind === 'raw' ? faults : [...faults, { kind: 'no response', what: error! }]
  if (status >= 500 && !isOfProvider(status, text) && !isOwnShare(request, answer))
    faults.push({ kind: 'server error', what: `${status} ${codeIn(text)}` })
  if (isLetIn(request, answer)) faults.push({ kind: 'let in', what: `${status} for ${request.caller}` })
  if (status >= 400 && INTERNALS.test(text)) faults.push({ kind: 'leak', what: `${status} shows internals` })
  if (status !== 100 && answer.headers['x-request-id'] === undefined)
    faults.push({ kind: 'headers', what: `${status} without X-Request-Id` })
  const operation = operationOf(request)
  const documented = operation ? Object.hasOwn(operation.responses, status) : false
  const general = GENERAL.has(status) && request.changes.length > 0
  if (!documented && !general && operation !== null)
    faults.push({ kind: 'status', what: `${status} ${codeIn(text)} is not documented` })
  if (request.method === 'HEAD' && request.transport.kind === 'raw') return faults // it may not have been read as HEAD
  if (request.method === 'HEAD' || status === 204 || status === 304)
    return text === '' ? faults : [...faults, { kind: 'shape', what: `${status} has a body` }]
  if (status >= 400) return [...faults, ...refusalFaults(answer)]
  return documented ? [...faults, ...shapeFaults(operation!, answer)] : faults
}

/** The operation that a request reaches, or null if its method or path was changed. */
export function operationOf({ operation, method, path, transport }: FuzzRequest): Operation | null {
  if (transport.kind === 'raw') return null
  if (method === operation.method) return hasPathOf(operation, path) ? operation : null
  const sameMethod = method === 'HEAD' ? 'GET' : method
  return hasPathOf(operation, path) ? (byRoute.get(`${sameMethod} ${operation.path}`) ?? null) : null
}

function hasPathOf(operation: Operation, path: string): boolean {
  const pattern = operation.path.replaceAll(/\{\w+\}/g, '[^/]+')
  return new RegExp(`^${pattern}$`, 'i').test(path.split('?')[0]!)
}

function isOfProvider(status: number, text: string): boolean {
  return (status === 502 || status === 504) && OF_PROVIDER.has(codeIn(text))
}

/** Whether the connections of one user have as many revocations under way as a user may have. */
function isOwnShare({ method, path }: FuzzRequest, { text, headers }: FuzzAnswer): boolean {
  const isRefusal = codeIn(text) === 'overloaded' && headers['retry-after'] !== undefined
  return isRefusal && isRevocation(method, path.split('?')[0]!)
}

/** Whether a caller succeeded who must not. A changed method may reach another operation, which is open. */
function isLetIn(request: FuzzRequest, { status }: FuzzAnswer): boolean {
  const { caller, foreign, method } = request
  const { security } = operationOf(request) ?? request.operation
  const leadsElsewhere = status === 302 // `/` to the console
  if (status >= 400 || leadsElsewhere || security.length === 0 || method === 'OPTIONS') return false
  return NEVER_ACCEPTED.has(caller) || foreign
}

interface Refused {
  type?: unknown
  error?: { code?: unknown; message?: unknown; resolution?: unknown }
  jsonrpc?: unknown
}

function refusalFaults({ status, text, headers }: FuzzAnswer): Fault[] {
  const body = jsonOf(text) as Refused | null
  const { code, message, resolution } = body?.error ?? {}
  if (body?.jsonrpc !== undefined) return message ? [] : [{ kind: 'refusal', what: `${status} without a message` }]
  const missing = Object.entries({ code, message, resolution }).filter(
    ([, part]) => typeof part !== 'string' || part === '',
  )
  if (missing.length > 0)
    return [{ kind: 'refusal', what: `${status} without ${missing.map(([name]) => name).join(', ')}` }]
  if (!isJson(headers)) return [{ kind: 'refusal', what: `${status} as ${headers['content-type']}` }]
  const faults = wrongWith(body?.type === 'error' ? messageErrorSchema : refusalSchema, body)
  return faults === null ? [] : [{ kind: 'shape', what: `${status} ${faults}` }]
}

const refusalSchema: Json = { $ref: '#/components/schemas/Refusal' }
const messageErrorSchema: Json = { $ref: '#/components/schemas/MessageError' }

function shapeFaults({ responses }: Operation, { status, text, headers }: FuzzAnswer): Fault[] {
  const fault = (what: string): Fault[] => [{ kind: 'shape', what: `${status} ${what}` }]
  const { content } = responses[status]!
  if (!content) return text === '' ? [] : fault('has a body')
  const [type = ''] = (headers['content-type'] ?? '').split(';')
  const described = content[type]
  if (!described) return fault(`as ${type || 'nothing'}`)
  if (/^(image|audio)\/|csv$/.test(type)) return []
  for (const part of partsOf(type, text)) {
    const value = jsonOf(part)
    if (value === undefined) return fault('is not JSON')
    const wrong = wrongWith(described.schema, value)
    if (wrong !== null) return fault(wrong)
  }
  return []
}

/** The JSON texts in a body: lines of a stream, or one. */
function partsOf(type: string, text: string): string[] {
  if (type === 'application/x-ndjson') return text.split('\n').filter((line) => line.trim() !== '')
  if (type !== 'text/event-stream') return [text]
  return text.split('\n').flatMap((line) => (/^data: [^[]/.test(line) ? [line.slice(6)] : []))
}

const validators = new Map<Json, ReturnType<typeof ajv.compile>>()

function wrongWith(schema: Json, value: unknown): string | null {
  let valid = validators.get(schema)
  if (!valid) {
    valid = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/')) as Json)
    validators.set(schema, valid)
  }
  if (valid(value)) return null
  const [first] = valid.errors!
  return `${first!.instancePath.replaceAll(/\/\d+/g, '/0')} ${first!.message}`
}

const isJson = (headers: FuzzAnswer['headers']) => (headers['content-type'] ?? '').startsWith('application/json')

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

export function codeIn(text: string): string {
  const { error } = (jsonOf(text) ?? {}) as Refused
  return typeof error?.code === 'string' ? error.code : 'without a code'
}
