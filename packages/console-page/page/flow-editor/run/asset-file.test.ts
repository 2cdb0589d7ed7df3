import { expect, test } from 'vitest'
import { readAssetFile } from './asset-file.ts'

const png = new Blob([Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a), 'and so on'], {
  type: 'text/plain',
})

test('detects the type of a file from its bytes, not its name', async () => {
  expect(await readAssetFile(png, 'image')).toEqual({ type: 'image/png' })
  expect(await readAssetFile(new Blob(['ID3 and so on']), 'audio')).toEqual({ type: 'audio/mpeg' })
})

test('names the supported types when it refuses a file', async () => {
  const sound = await readAssetFile(png, 'audio')
  expect(sound).toEqual({ fault: 'This file type is not supported. Choose a WAV or MP3 file.' })
  const large = await readAssetFile(new Blob([png, new Uint8Array(25_000_000)]), 'image')
  expect(large).toEqual({
    fault: 'The file has 25,000,017 bytes, more than the maximum of 25,000,000. Choose a smaller file.',
  })
})
