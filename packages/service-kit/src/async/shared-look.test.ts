import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openSharedLook } from './shared-look.ts'

function openLooks() {
  const begun: { name: string; answer: PromiseWithResolvers<string> }[] = []
  const look = openSharedLook(({ name }: { name: string }) => {
    const answer = Promise.withResolvers<string>()
    begun.push({ name, answer })
    return answer.promise
  })
  return { begun, look: (name: string) => look({ name }) }
}

test('answers 500 askers of one question by a single look', async () => {
  const { begun, look } = openLooks()
  const askers = Array.from({ length: 500 }, () => look('a'))
  await turn()
  expect(begun).toHaveLength(1)
  begun[0]!.answer.resolve('seen')
  expect(new Set(await Promise.all(askers))).toEqual(new Set(['seen']))
})

test('starts a new look for those who ask while one is under way, after it has ended', async () => {
  const { begun, look } = openLooks()
  const first = look('a')
  await turn()
  const later = [look('a'), look('a')]
  await turn()
  expect(begun).toHaveLength(1)
  begun[0]!.answer.resolve('old')
  expect(await first).toBe('old')
  await turn()
  expect(begun).toHaveLength(2)
  begun[1]!.answer.resolve('new')
  expect(await Promise.all(later)).toEqual(['new', 'new'])
})

test('lets no question wait for another one', async () => {
  const { begun, look } = openLooks()
  const [, b] = [look('a'), look('b')]
  await turn()
  expect(begun.map(({ name }) => name)).toEqual(['a', 'b'])
  begun[1]!.answer.resolve('seen')
  expect(await b).toBe('seen')
})

test('fails all askers of a look that fails, and looks again for the next one', async () => {
  const { begun, look } = openLooks()
  const askers = [look('a'), look('a')]
  await turn()
  begun[0]!.answer.reject(new Error('unavailable'))
  for (const asker of askers) await expect(asker).rejects.toThrow('unavailable')
  const next = look('a')
  await turn()
  begun[1]!.answer.resolve('seen')
  expect(await next).toBe('seen')
})
