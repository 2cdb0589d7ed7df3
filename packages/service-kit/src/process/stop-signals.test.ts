import { EventEmitter } from 'node:events'
import { describe, expect, test } from 'vitest'
import { onStopSignals } from './run-service.ts'

function listening(env: Record<string, string>, { channel = false } = {}) {
  const stdin = Object.assign(new EventEmitter(), { resume: () => {} })
  const source = Object.assign(new EventEmitter(), { stdin, ...(channel && { channel: {} }) })
  const said: string[] = []
  const clock = { ms: 0 }
  onStopSignals({
    source,
    env,
    stop: (reason) => said.push(`stop: ${reason}`),
    force: (reason) => said.push(`force: ${reason}`),
    now: () => clock.ms,
  })
  return { source, stdin, said, clock }
}

describe('onStopSignals', () => {
  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'])('stops on %s', (signal) => {
    const { source, said } = listening({})
    source.emit(signal)
    expect(said).toEqual([`stop: ${signal}`])
  })

  test('forces the stop on a second signal, but not on the echo of the first', () => {
    const { source, said, clock } = listening({})
    source.emit('SIGINT')
    clock.ms = 5
    source.emit('SIGINT')
    expect(said).toEqual(['stop: SIGINT'])
    clock.ms = 3_000
    source.emit('SIGINT')
    expect(said).toEqual(['stop: SIGINT', 'force: SIGINT'])
  })

  test('stops when the channel to the parent closes', () => {
    const { source, said } = listening({ STOP_WITH_PARENT: '1' }, { channel: true })
    source.emit('disconnect')
    expect(said).toEqual(['stop: the parent process has ended'])
  })

  test('stops when standard input closes, if there is no channel', () => {
    const { stdin, said } = listening({ STOP_WITH_PARENT: '1' })
    stdin.emit('close')
    expect(said).toEqual(['stop: the parent process has ended'])
  })

  test('does not force the stop if the parent ends during it', () => {
    const { source, said, clock } = listening({ STOP_WITH_PARENT: '1' }, { channel: true })
    source.emit('SIGTERM')
    clock.ms = 5_000
    source.emit('disconnect')
    expect(said).toEqual(['stop: SIGTERM'])
  })

  test('outlives its parent by default', () => {
    const { source, stdin, said } = listening({}, { channel: true })
    source.emit('disconnect')
    stdin.emit('close')
    expect(said).toEqual([])
  })
})
