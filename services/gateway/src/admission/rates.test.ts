import { describe, expect, test } from 'vitest'
import { openRates, ratesConfig } from './limits.ts'

const MINUTE = 60
const key1 = { key: 'key_1', project: 'prj_1' }
const key2 = { key: 'key_2', project: 'prj_1' }

describe('rates', () => {
  test('limit no key if the operator configures none', async () => {
    const rates = openRates({})
    for (let n = 0; n < 1_000; n++) expect(await rates.count('a', key1)).toBe(null)
    expect(await rates.exceeded('a')).toBe(null)
  })

  test('refuse a key over its limit, with the time until it may retry', async () => {
    const rates = openRates({ key: { requests: 2, seconds: MINUTE } })
    expect(await rates.exceeded('a')).toBe(null) // the key is not known yet
    expect([await rates.count('a', key1), await rates.count('a', key1)]).toEqual([null, null])
    const over = await rates.exceeded('a')
    expect(over).toMatchObject({ scope: 'key', rate: { requests: 2, seconds: MINUTE } })
    expect(over!.retryAfterMs).toBeGreaterThan(0)
    expect(over!.retryAfterMs).toBeLessThanOrEqual(MINUTE * 1_000)
    expect(await rates.count('a', key1)).toMatchObject({ scope: 'key' }) // a concurrent call that passed the check
    expect(await rates.count('b', key2)).toBe(null)
  })

  test('count all keys of a project toward its project limit', async () => {
    const rates = openRates({ project: { requests: 2, seconds: MINUTE } })
    await rates.count('a', key1)
    await rates.count('b', key2)
    expect(await rates.exceeded('a')).toMatchObject({ scope: 'project' })
    expect(await rates.exceeded('b')).toMatchObject({ scope: 'project' })
    expect(await rates.count('c', { key: 'key_3', project: 'prj_2' })).toBe(null)
  })

  test('let an override for one key or project replace the default', async () => {
    const rates = openRates({
      key: { requests: 1, seconds: MINUTE },
      keys: { key_2: null },
      project: { requests: 1, seconds: MINUTE },
      projects: { prj_1: { requests: 3, seconds: MINUTE } },
    })
    await rates.count('a', key1)
    expect(await rates.exceeded('a')).toMatchObject({ scope: 'key' })
    await rates.count('b', key2)
    expect(await rates.exceeded('b')).toBe(null)
    await rates.count('b', key2)
    expect(await rates.exceeded('b')).toMatchObject({ scope: 'project', rate: { requests: 3 } })
  })

  test('reject an invalid configuration', () => {
    for (const wrong of [{ key: { requests: 0, seconds: 1 } }, { key: { requests: 1 } }, { user: {} }, { keys: 1 }])
      expect(ratesConfig.safeParse(wrong).success).toBe(false)
  })
})
