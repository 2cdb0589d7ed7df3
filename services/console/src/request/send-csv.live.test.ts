import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { sendCsv } from './send-csv.ts'

test('sends a table as RFC 4180 CSV, and escapes text that looks like a formula', async ({ onTestFinished }) => {
  const rows = [
    ['name', 'micro', 'none'],
    ['a "b", c', -5n, null],
    ['=1+1', -2, '@x'],
    ['two\nlines', 0, ''],
    ['＝1+1', 'a;b', '\n=1'],
  ]
  const server = createServer((_req, res) => sendCsv(res, 'a-table', rows)).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="a-table.csv"')
  expect(await answer.text()).toBe(
    ['name,micro,none', '"a ""b"", c",-5,', "'=1+1,-2,'@x", '"two\nlines",0,', '\'＝1+1,"a;b","\'\n=1"', ''].join(
      '\r\n',
    ),
  )
})
