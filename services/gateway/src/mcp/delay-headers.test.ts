import { expect, test } from 'vitest'
import { delayHeaders } from './transport.ts'

function stream() {
  let controller!: ReadableStreamDefaultController<Uint8Array>
  let cancelled = false
  const body = new ReadableStream<Uint8Array>({
    start: (given) => void (controller = given),
    cancel: () => void (cancelled = true),
  })
  const answer = new Response(body, { status: 200, headers: { 'content-type': 'text/event-stream' } })
  const say = (text: string) => controller.enqueue(new TextEncoder().encode(text))
  return {
    answer,
    say,
    end: () => controller.close(),
    fail: (error: Error) => controller.error(error),
    isCancelled: () => cancelled,
  }
}
const never = new Promise<void>(() => {})

test('holds a response until the execution has started and loses no bytes', async () => {
  const { answer, say, end } = stream()
  const begun = Promise.withResolvers<void>()
  let held = true
  const holding = delayHeaders(answer, begun.promise).finally(() => (held = false))
  await new Promise(setImmediate)
  expect(held).toBe(true)
  begun.resolve()
  const passed = await holding
  expect(passed.headers.get('content-type')).toBe('text/event-stream')
  say('one ')
  say('two')
  end()
  expect(await passed.text()).toBe('one two')
})

test('passes a response with an earlier body or without a stream at once', async () => {
  const { answer, say, end } = stream()
  say('refused')
  end()
  expect(await (await delayHeaders(answer, never)).text()).toBe('refused')
  expect((await delayHeaders(new Response(null, { status: 202 }), never)).status).toBe(202)
  expect((await delayHeaders(Response.json({ a: 1 }, { status: 400 }), never)).status).toBe(400)
})

test('cancels the source stream if the client stops reading', async () => {
  const { answer, isCancelled } = stream()
  const passed = await delayHeaders(answer, Promise.resolve())
  await passed.body!.cancel()
  expect(isCancelled()).toBe(true)
})

test('propagates an error of the source stream to the reader', async () => {
  const { answer, fail } = stream()
  const passed = await delayHeaders(answer, Promise.resolve())
  fail(new Error('broken'))
  await expect(passed.text()).rejects.toThrow('broken')
})
