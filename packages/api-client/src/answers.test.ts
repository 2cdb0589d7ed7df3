import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { linesOf, textOf } from './answers.ts'

test('linesOf yields the same lines however the bytes are split, and skips blank lines', () => {
  const line = fc.record({ text: fc.string({ unit: 'binary', maxLength: 6 }), n: fc.integer() })
  const blank = fc.constantFrom('', ' ', '\n', ' \n\n')
  return fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(line, blank)),
      fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
      fc.boolean(),
      async (lines, sizes, isOpen) => {
        const text = lines.map(([value, blank]) => `${blank}${JSON.stringify(value)}\n`).join('')
        let bytes = Buffer.from(isOpen ? text.trimEnd() : text)
        const body = new ReadableStream<Uint8Array>({
          pull(controller) {
            if (bytes.length === 0) return controller.close()
            const size = sizes.next().value
            controller.enqueue(new Uint8Array(bytes.subarray(0, size)))
            bytes = bytes.subarray(size)
          },
        })
        const read = await Array.fromAsync(linesOf(new Response(body), undefined))
        expect(read).toEqual(lines.map(([value]) => value))
      },
    ),
    { numRuns: 200 * inject('propertyShare') },
  )
})

test('textOf rejects and closes the connection if a response falls silent or never ends', async () => {
  const left = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const silent = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"data":[')),
    cancel: () => left[0]!.resolve(),
  })
  const failure = (again: boolean, message: string) => ({ name: 'Unreachable', message, again: { worth: again } })
  await expect(textOf(new Response(silent), 20)).rejects.toMatchObject(failure(true, 'The answer fell silent.'))
  const part = Buffer.alloc(2 ** 20, ' ')
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(part),
    cancel: () => left[1]!.resolve(),
  })
  await expect(textOf(new Response(endless))).rejects.toMatchObject(failure(false, 'The answer has no end.'))
  await Promise.all(left.map(({ promise }) => promise))
})

test('linesOf rejects and closes the connection if no more bytes arrive', async () => {
  const left = Promise.withResolvers<void>()
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"seq":0}\n ')),
    cancel: () => left.resolve(),
  })
  const lines = linesOf(new Response(body), undefined, { silenceMs: 20 })
  expect((await lines.next()).value).toEqual({ seq: 0 })
  await expect(lines.next()).rejects.toMatchObject({ name: 'Unreachable', again: { worth: true } })
  await left.promise
})
