import path from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { browserBundle } from '@gateway/testbed/browser-bundle'

const MOST_BYTES = 4096

test('the browser bundle of the client is small and has none of the contract', async () => {
  const { script, files } = await browserBundle(path.join(import.meta.dirname, 'open-api-client.ts'), { minify: true })
  expect(files.length).toBeGreaterThan(3)
  expect(files.filter((file) => path.dirname(file) !== import.meta.dirname)).toEqual([])
  expect(brotliCompressSync(script).length).toBeLessThan(MOST_BYTES)
})
