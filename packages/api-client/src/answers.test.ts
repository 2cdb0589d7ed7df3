import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { linesOf } from './answers.ts'

test('lines are the same wherever their bytes are divided, and blanks are none', () => {
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

test('a connection on which nothing comes any more is lost', async () => {
  const left = Promise.withResolvers<void>()
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"seq":0}\n ')),
    cancel: () => left.resolve(),
  })
  const lines = linesOf(new Response(body), undefined, 20)
  expect((await lines.next()).value).toEqual({ seq: 0 })
  await expect(lines.next()).rejects.toMatchObject({ name: 'Unreachable', again: { worth: true } })
  await left.promise
})
