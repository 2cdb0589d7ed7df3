import { describe, expect, test } from 'vitest'
import { createLifecycle } from './open-service.ts'

function lifecycleWithLog() {
  const errors: string[] = []
  const lifecycle = createLifecycle({
    log: { info: () => {}, error: (_facts: unknown, message?: string) => void errors.push(message ?? '') },
  })
  return { lifecycle, errors }
}

describe('lifecycle', () => {
  test('stops in reverse order, one at a time', async () => {
    const { lifecycle } = lifecycleWithLog()
    const seen: string[] = []
    for (const name of ['postgres', 'ledger', 'gateway']) {
      lifecycle.onStop(name, async () => {
        seen.push(`${name} stopping`)
        await new Promise(setImmediate)
        seen.push(`${name} stopped`)
      })
    }
    expect(await lifecycle.stop('test')).toBe(true)
    expect(seen).toEqual(['gateway', 'ledger', 'postgres'].flatMap((name) => [`${name} stopping`, `${name} stopped`]))
  })

  test('delays the other parts by a hanging one for at most its limit', async () => {
    const { lifecycle, errors } = lifecycleWithLog()
    const seen: string[] = []
    lifecycle.onStop('first', () => seen.push('first'))
    lifecycle.onStop('hanging', () => new Promise(() => {}), { limitMs: 1 })
    expect(await lifecycle.stop('test')).toBe(false)
    expect(seen).toEqual(['first'])
    expect(errors).toEqual(['hanging did not stop cleanly'])
  })

  test('stops the other parts if one fails to stop', async () => {
    const { lifecycle, errors } = lifecycleWithLog()
    const seen: string[] = []
    lifecycle.onStop('first', () => seen.push('first'))
    lifecycle.onStop('throwing', () => {
      throw new Error('no')
    })
    lifecycle.onStop('rejecting', () => Promise.reject(new Error('no')))
    expect(await lifecycle.stop('test')).toBe(false)
    expect(seen).toEqual(['first'])
    expect(errors).toHaveLength(2)
  })

  test('stops once for any number of requests', async () => {
    const { lifecycle } = lifecycleWithLog()
    let stops = 0
    lifecycle.onStop('part', () => (stops += 1))
    await Promise.all([lifecycle.stop('one'), lifecycle.stop('two')])
    await lifecycle.stop('three')
    expect(stops).toBe(1)
  })

  test('notifies listeners before the first part stops', async () => {
    const { lifecycle } = lifecycleWithLog()
    lifecycle.onStop('part', () => expect(lifecycle.stopping.aborted).toBe(true))
    expect(lifecycle.stopping.aborted).toBe(false)
    expect(await lifecycle.stop('test')).toBe(true)
  })

  test('stops parts that start during or after the shutdown', async () => {
    const { lifecycle } = lifecycleWithLog()
    const seen: string[] = []
    lifecycle.onStop('early', () => lifecycle.onStop('during', () => seen.push('during')))
    await lifecycle.stop('test')
    lifecycle.onStop('after', () => seen.push('after'))
    await lifecycle.stop('again')
    expect(seen).toEqual(['during', 'after'])
  })
})
