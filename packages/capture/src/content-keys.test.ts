import { expect, test } from 'vitest'
import { openContentKeys, sealContent } from './content-keys.ts'

const keysOf = (key: string, previousKey?: string) => openContentKeys({ key: key.repeat(32), previousKey })
const name = { project: 'prj_1', invocation: 'inv_1' }
const content = {
  request: { messages: [{ role: 'user', content: 'ünïcödé' }] },
  answer: null,
  failure: null,
  isCut: false,
}

test('only the console opens what is sealed with the public key of a project (E1)', async () => {
  const keys = keysOf('a')
  const sealed = await sealContent(keys.publicKeyOf('prj_1'), name, content)
  expect(await keys.open(name, sealed)).toEqual(content)
  await expect(keysOf('b').open(name, sealed)).rejects.toThrow('another CAPTURE_KEY')
})

test('content opens for its own call and project only (E2)', async () => {
  const keys = keysOf('a')
  const sealed = await sealContent(keys.publicKeyOf('prj_1'), name, content)
  for (const other of [
    { ...name, invocation: 'inv_2' },
    { ...name, project: 'prj_2' },
  ])
    await expect(keys.open(other, sealed)).rejects.toThrow('for another call')
})

test('content sealed under the previous key still opens', async () => {
  const sealed = await sealContent(keysOf('a').publicKeyOf('prj_1'), name, content)
  expect(await keysOf('b', 'a'.repeat(32)).open(name, sealed)).toEqual(content)
})
