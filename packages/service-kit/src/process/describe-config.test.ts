import { expect, test } from 'vitest'
import { z } from 'zod'
import { configTable, port, sharedSecret } from './config.ts'

test('configTable lists each variable with its purpose and its default', () => {
  const schema = z.object({
    PORT: port().default(8080).meta({ description: 'Port to listen on' }),
    MODE: z.enum(['a', 'b']).meta({ description: 'One of a|b' }).default('a'),
    REDIS_URL: z.string().optional().meta({ description: 'Address of Redis' }),
    WEBHOOK_KEY: sharedSecret().meta({ description: 'Shared secret', secret: true }),
  })
  expect(configTable(schema)).toBe(
    [
      '| Variable | Description | Default |',
      '|---|---|---|',
      '| `PORT` | Port to listen on | `8080` |',
      '| `MODE` | One of a\\|b | `a` |',
      '| `REDIS_URL` | Address of Redis | none |',
      '| `WEBHOOK_KEY` | Shared secret. Secret: `WEBHOOK_KEY_FILE` may name a file that holds it | required |',
      '',
    ].join('\n'),
  )
})
