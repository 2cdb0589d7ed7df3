import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { IGNORED_IF_UNSUPPORTED } from './chat-request.ts'
import { keyRecord, newKeyBody } from './console/keys.ts'
import { chatWire } from './wires/chat/chat-wire.ts'

// The pages list fields of the API by hand. These tests compare the lists with the schemas.

const page = (name: string) => readFileSync(path.join(import.meta.dirname, `../../../docs/${name}.md`), 'utf8')
const rules = page('rules')
const namesIn = (text: string | undefined) => [...(text ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name!)

test('the rules list the fields of a new key and of its record', () => {
  const [, body = ''] = /^\| `GET\/POST …\/keys`.*\| `\{ ([^}]+) \}`; 201/m.exec(rules) ?? []
  expect(body.split(', ').toSorted()).toEqual(Object.keys(newKeyBody.shape).toSorted())
  const [, record] = /^### 6\.3 .*\n\n([^]+?)\n\n/m.exec(rules) ?? []
  expect(namesIn(record)).toEqual(expect.arrayContaining(Object.keys(keyRecord.shape)))
})

test.each([
  ['rules', /`temperature`,\s+((?:(?!\.\n)[^])*?) (?:are|is) silently dropped/],
  ['providers', /\(then\s+([^)]*?) are ignored/],
  ['moving-from', /\| `drop_params` \| left out \| (.*) left out; others/],
])('docs/%s.md lists the parameters that are ignored if the model does not support them', (name, list) => {
  const [text] = list.exec(page(name)) ?? []
  expect(namesIn(text)).toEqual(expect.arrayContaining([...IGNORED_IF_UNSUPPORTED]))
})

test('docs/wires.md lists the parts of a wire', () => {
  const parts = [...page('wires').matchAll(/^\| (`.*?) \|/gm)].flatMap(([, names]) => namesIn(names))
  expect(parts.toSorted()).toEqual(Object.keys(chatWire).toSorted())
})
