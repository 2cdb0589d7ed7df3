import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from './embedded-redis.ts'

async function answerTo(port: number, command: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(`${command}\r\n`)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return answer.toString()
}

test('Redis requires its password, which is on no command line', async () => {
  const dataFolder = mkdtempSync(path.join(tmpdir(), 'redis-'))
  const password = 'a-password-of-this-test'
  const redis = await startRedis({ dataFolder, password })
  onTestFinished(async () => {
    await redis.stop()
    rmSync(dataFolder, { recursive: true })
  })
  expect(await answerTo(redis.port, 'FLUSHALL')).toMatch(/^-NOAUTH/)
  expect(await answerTo(redis.port, 'AUTH wrong')).toMatch(/^-WRONGPASS/)
  expect(await answerTo(redis.port, `AUTH ${password}`)).toBe('+OK\r\n')
  expect(new URL(redis.url).password).toBe(password)
  expect(execFileSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8' })).not.toContain(password)
  expect(statSync(path.join(dataFolder, 'redis.conf')).mode & 0o777).toBe(0o600)

  await redis.restart()
  expect(await answerTo(redis.port, 'PING')).toMatch(/^-NOAUTH/)
  expect(readFileSync(path.join(dataFolder, 'redis.log'), 'utf8')).not.toContain(password)
})
