import { expect, test } from 'vitest'
import { z } from 'zod'
import { port, readServiceConfig } from './config.ts'

const schema = z.object({
  PORT: port().default(8080).meta({ description: 'Port to listen on' }),
  LEDGER_URL: z.string().meta({ description: 'Base address of the ledger' }),
})

test("a service's definition of a common variable overrides the common one", () => {
  expect(readServiceConfig(schema, { LEDGER_URL: 'x' })).toMatchObject({
    HOST: '127.0.0.1',
    PORT: 8080,
    LEDGER_URL: 'x',
  })
})

test('problems of common and service variables are reported together', () => {
  expect(() => readServiceConfig(schema, { LOG_LEVEL: 'loud' })).toThrow(/LOG_LEVEL.*\n.*LEDGER_URL/)
})
