import { expect, test } from 'vitest'
import { Prisma } from '@gateway/database/client'
import { isDatabaseUnavailable, ranOutOfTime } from './explain-error.ts'

// These are the error shapes that the console logged when its database connections were cut.

interface Cause {
  kind: string
  originalCode?: string
}

/** Error thrown by the driver adapter itself, not wrapped by the engine: for example by BEGIN. */
function ofTheAdapter(cause: Cause): Error {
  return Object.assign(new Error(cause.kind, { cause }), { name: 'DriverAdapterError' })
}
/** Error thrown by a query. */
function ofTheEngine(code: string, cause: Cause): Error {
  const meta = { modelName: 'User', driverAdapterError: ofTheAdapter(cause) }
  return new Prisma.PrismaClientKnownRequestError('failed', { code, clientVersion: '7', meta })
}
const ofPostgres = (code: string) => ({ kind: 'postgres', code, originalCode: code, severity: 'FATAL' })
const ofTheSocket = (code: string) => Object.assign(new Error(`read ${code}`), { code, errno: -1, syscall: 'read' })

const lost: [what: string, error: unknown][] = [
  ...[
    'Connection terminated',
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
    'Client has encountered a connection error and is not queryable',
    'Client was closed and is not queryable',
    'Cannot use a pool after calling end on the pool',
  ].map((message): [string, Error] => [message, new Error(message)]),
  [
    'Connection terminated unexpectedly, from the engine',
    Object.assign(new Error('Connection terminated unexpectedly'), { clientVersion: '7' }),
  ],
  ['an error caused by a lost connection', new Error('it failed', { cause: new Error('Connection terminated') })],
  ...['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'].map(
    (code): [string, Error] => [code, ofTheSocket(code)],
  ),
  ...['ConnectionClosed', 'DatabaseNotReachable', 'SocketTimeout', 'TooManyConnections'].map(
    (kind): [string, Error] => [`${kind} from the adapter`, ofTheAdapter({ kind })],
  ),
  ...['57P01', '57P02', '57P03', '08006', '25P03', '25P04', '53300'].flatMap((code): [string, Error][] => [
    [`${code} from the adapter`, ofTheAdapter(ofPostgres(code))],
    [`${code} from the engine`, ofTheEngine('P2010', ofPostgres(code))],
  ]),
  ['P1001', ofTheEngine('P1001', { kind: 'DatabaseNotReachable' })],
  ['P1008', ofTheEngine('P1008', { kind: 'SocketTimeout' })],
  ['P1017', ofTheEngine('P1017', { kind: 'ConnectionClosed' })],
  ['P2028', new Prisma.PrismaClientKnownRequestError('Transaction API error', { code: 'P2028', clientVersion: '7' })],
  ['a client that did not start', new Prisma.PrismaClientInitializationError('no', '7')],
]
test.for(lost)('treats %s as an unavailable database', ([, error]) => {
  expect(isDatabaseUnavailable(error)).toBe(true)
})

const ours: [what: string, error: unknown][] = [
  ['a bug', new TypeError('undefined is not a function')],
  ['an error that only mentions a connection', new Error('The answer said: Connection terminated.')],
  ['a unique violation', ofTheEngine('P2002', { kind: 'UniqueConstraintViolation', originalCode: '23505' })],
  ['a missing privilege, from the adapter', ofTheAdapter(ofPostgres('42501'))],
  ['a missing table', ofTheEngine('P2021', { kind: 'TableDoesNotExist', originalCode: '42P01' })],
  ['undefined', undefined],
  ['null', null],
  ['a string', 'Connection terminated'],
]
test.for(ours)('does not treat %s as an unavailable database', ([, error]) => {
  expect(isDatabaseUnavailable(error)).toBe(false)
})

test('terminates on an error that is its own cause', () => {
  const error = new Error('it failed')
  error.cause = error
  expect(isDatabaseUnavailable(error)).toBe(false)
})

test('recognizes a statement that Postgres cancelled, with or without the engine around it', () => {
  expect(ranOutOfTime(ofTheAdapter(ofPostgres('57014')))).toBe(true)
  expect(ranOutOfTime(ofTheEngine('P2010', ofPostgres('57014')))).toBe(true)
  expect(ranOutOfTime(ofTheEngine('P2010', ofPostgres('57P01')))).toBe(false)
})
