import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { plantSecrets } from '@gateway/testbed/planted-secrets'

const program = fileURLToPath(new URL('./fixtures/small-service.ts', import.meta.url))
const running: { kill(signal: NodeJS.Signals): unknown }[] = []
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
})

function startProgram(env: Record<string, string>) {
  const child = fork(program, { env, silent: true, execArgv: [] })
  running.push(child)
  let output = ''
  let errors = ''
  child.stdout?.on('data', (text) => (output += String(text)))
  child.stderr?.on('data', (text) => (errors += String(text)))
  const streamsEnd = [child.stdout, child.stderr].flatMap((stream) => (stream ? [once(stream, 'close')] : []))
  const ended = Promise.all([once(child, 'exit'), ...streamsEnd]).then(([exit]) => exit[0] as number | null)
  return {
    child,
    ended,
    output: () => output,
    errors: () => errors,
    messages: () =>
      output
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { message: string }).message),
    /** Its addresses, once it listens. */
    async urls(): Promise<{ listening: string; metrics: string }> {
      const [word] = (await once(child, 'message')) as [{ listening: string; metrics: string }]
      for (;;) {
        if ((await fetch(`${word.listening}/health/ready`)).status === 200) return word
      }
    },
    async url(): Promise<string> {
      return (await this.urls()).listening
    },
  }
}

test('a service starts in order, responds, and stops in reverse on SIGTERM with exit code 0', async () => {
  const service = startProgram({ GREETING: 'hello' })
  const { listening: url, metrics } = await service.urls()
  expect(await (await fetch(url)).text()).toBe(`hello ${'0'.repeat(32)}`) // the no-op tracer
  const measured = await fetch(`${metrics}/metrics`)
  expect(measured.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(await measured.text()).toContain('greetings_total{path="/"')
  service.child.kill('SIGTERM')
  expect(await service.ended).toBe(0)
  expect(service.messages()).toEqual(['listening', 'greeting', 'stopping', 'last stopped', 'first stopped', 'stopped'])
})

test('metrics are served on a separate port, and nothing else is', async () => {
  const { listening, metrics } = await startProgram({ GREETING: 'hello' }).urls()
  expect(new URL(metrics).port).not.toBe(new URL(listening).port)
  const statusOf = async (path: string, method = 'GET') => (await fetch(metrics + path, { method })).status
  expect(await Promise.all(['/', '/health/ready', '/metrics/', '/metrics?x'].map((path) => statusOf(path)))).toEqual(
    Array(4).fill(404),
  )
  expect(await statusOf('/metrics', 'POST')).toBe(405)
})

test('the error for a metrics port in use names METRICS_PORT', async () => {
  const { metrics } = await startProgram({ GREETING: 'hello' }).urls()
  const second = startProgram({ GREETING: 'hello', METRICS_PORT: new URL(metrics).port })
  expect(await second.ended).toBe(78)
  expect(second.errors()).toContain('or set METRICS_PORT to a free one.')
})

test('an invalid configuration is explained in sentences and exits with 78', async () => {
  const service = startProgram({ LOG_LEVEL: 'loud', GREETING: '' })
  expect(await service.ended).toBe(78)
  expect(service.errors()).toBe(
    [
      "small can't start:",
      '  LOG_LEVEL (Minimum severity to log) is wrong: expected one of "fatal"|"error"|"warn"|"info"|"debug"|"trace"; it is "loud".',
      '  GREETING (What it answers) is missing: set GREETING, or GREETING_FILE to a file that holds it.',
      '',
    ].join('\n'),
  )
})

test('a port in use is reported with the variable to change and exits with 78', async () => {
  const instance = createTcpServer().listen(0, '127.0.0.1')
  await once(instance, 'listening')
  const { port } = instance.address() as AddressInfo
  const service = startProgram({ GREETING: 'hello', PORT: String(port) })
  expect(await service.ended).toBe(78)
  instance.close()
  expect(service.errors()).toContain(
    `PORT: ${port} on 127.0.0.1 is taken. Stop what listens there, or set PORT to a free one.`,
  )
})

test('a failed start stops the parts already started and exits with 1', async () => {
  const service = startProgram({ GREETING: 'hello', FAIL: 'start' })
  expect(await service.ended).toBe(1)
  expect(service.messages()).toEqual(['could not start', 'stopping', 'first stopped', 'stopped'])
})

test('an unhandled rejection is logged and exits with 1', async () => {
  const service = startProgram({ GREETING: 'hello' })
  const url = await service.url()
  await fetch(`${url}/fail`).catch(() => undefined)
  expect(await service.ended).toBe(1)
  expect(service.messages().at(-1)).toBe('unhandled rejection')
})

test('what a crash writes has no secret in it, nor has the report of a wrong configuration', async () => {
  const planted = plantSecrets()
  const service = startProgram({ GREETING: 'hello' })
  const url = await service.url()
  const text = planted.map(({ byName, ...one }) => `${byName ? `${byName}: ` : ''}${one.text}`).join('\n')
  await fetch(`${url}/fail?${encodeURIComponent(text)}`).catch(() => undefined)
  expect(await service.ended).toBe(1)
  const crashed = service.output() + service.errors()
  expect(crashed).toContain('unhandled rejection')

  const byForm = planted.filter(({ byName }) => byName === undefined)
  const misplaced = byForm.map((one) => startProgram({ GREETING: 'hello', LOG_LEVEL: one.text }))
  const reports = await Promise.all(
    misplaced.map(async (wrong) => [await wrong.ended, wrong.output() + wrong.errors()]),
  )
  for (const [code, report] of reports) expect([code, report]).toEqual([78, expect.stringContaining('LOG_LEVEL')])
  for (const { secret } of planted) expect(crashed + reports.join()).not.toContain(secret)
})

test('a warning of Node is logged as a JSON line', async () => {
  const service = startProgram({ GREETING: 'hello' })
  await fetch(`${await service.url()}/warn`)
  service.child.kill('SIGTERM')
  expect(await service.ended).toBe(0)
  expect([service.messages(), service.errors()]).toEqual([expect.arrayContaining(['node.js warning']), ''])
})

test('a part that does not stop in time causes exit code 1, and the others still stop', async () => {
  const service = startProgram({ GREETING: 'hello', FAIL: 'stop' })
  await service.url()
  service.child.kill('SIGINT')
  expect(await service.ended).toBe(1)
  expect(service.messages()).toContain('first stopped')
})

test('a service stops when its parent process is gone', async () => {
  const service = startProgram({ GREETING: 'hello', STOP_WITH_PARENT: '1' })
  await service.url()
  service.child.disconnect()
  expect(await service.ended).toBe(0)
})

test.each([
  ['refuses connections', 'http://127.0.0.1:1'],
  ['has no address', 'http://collector.invalid:4318'],
])('a collector that %s makes no stop unclean', async (_, endpoint) => {
  const service = startProgram({ GREETING: 'hello', OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })
  await fetch(await service.url())
  service.child.kill('SIGTERM')
  expect(await service.ended).toBe(0)
  expect(service.messages().slice(-2)).toEqual(['telemetry was not sent', 'stopped'])
})

test('a collector that refuses spans is logged once while the service runs', async () => {
  let refused = 0
  const collector = createServer(
    (req, res) => void req.resume().on('end', () => res.writeHead(400).end(() => refused++)),
  )
  await once(collector.listen(0, '127.0.0.1'), 'listening')
  const { port } = collector.address() as AddressInfo
  const service = startProgram({
    GREETING: 'hello',
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_BSP_SCHEDULE_DELAY: '10',
  })
  const url = await service.url()
  const failures = () => service.messages().filter((message) => message === 'telemetry failed')
  for (const times of [1, 2]) {
    await fetch(url)
    await expect.poll(() => refused).toBeGreaterThanOrEqual(times)
    await expect.poll(failures).toHaveLength(1)
  }
  service.child.kill('SIGTERM')
  expect(await service.ended).toBe(0)
  collector.close()
  expect([failures(), service.errors()]).toEqual([['telemetry failed'], ''])
  expect(service.output()).toMatch(/"level":"warn".*400.*"message":"telemetry failed"/)
})

test('spans and metrics are sent to the OTLP endpoint, the last ones before the process ends', async () => {
  const received = new Map<string, string>()
  const collector = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      received.set(req.url ?? '', (received.get(req.url ?? '') ?? '') + Buffer.concat(chunks).toString('latin1'))
      res.end()
    })
  }).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  const { port } = collector.address() as AddressInfo

  const service = startProgram({ GREETING: 'hello', OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` })
  const answer = await (await fetch(await service.url())).text()
  service.child.kill('SIGTERM')
  expect(await service.ended).toBe(0)
  collector.close()

  const traceId = answer.split(' ')[1] ?? ''
  expect(traceId).not.toBe('0'.repeat(32))
  expect(received.get('/v1/traces')).toContain(Buffer.from(traceId, 'hex').toString('latin1'))
  expect(received.get('/v1/traces')).toContain('greet')
  expect(received.get('/v1/metrics')).toContain('greetings')
})
