import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { request } from 'undici'
import { expect, test as base } from 'vitest'
import { acceptedAnswer } from './read-invocation.ts'

/* oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs */
const test = base.extend('accepted', { scope: 'file' }, async ({}, { onCleanup }) => {
  const server = createServer(express().use((req, res) => void res.send(acceptedAnswer(req))))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onCleanup(() => server.close().closeAllConnections())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return async (accept?: string | string[]) =>
    (await request(url, accept === undefined ? {} : { headers: { accept } })).body.text()
})

test('allows raw image bytes if the Accept header names no content type', async ({ accepted }) => {
  for (const accept of [undefined, '*/*', ' */* ', '', '*/*;q=0.5'])
    expect([accept, await accepted(accept)]).toEqual([accept, 'bytes'])
})

// spec: 4.3/s1
test('selects progress if the Accept header prefers application/x-ndjson', async ({ accepted }) => {
  for (const accept of [
    'application/x-ndjson',
    'application/x-ndjson, application/json;q=0.5',
    'application/x-ndjson, */*;q=0.1',
    'Application/X-NDJSON',
    'application/x-ndjson; charset=utf-8',
    'application/x-ndjson;charset="utf-8";q=0.9, application/json;q=0.8',
  ])
    expect([accept, await accepted(accept)]).toEqual([accept, 'progress'])
})

// spec: 4.3/s1
test('selects the record for any other Accept header, never 406', async ({ accepted }) => {
  for (const accept of [
    'application/json',
    'application/json, application/x-ndjson',
    'application/x-ndjson;q=0, application/json',
    'application/*',
    'image/png',
    'image/png, */*',
    '*/*, application/json',
    'application/json; charset=utf-8, application/x-ndjson; charset=utf-8; q=0.5',
    'text/html',
    'nonsense',
    ',,;;q=',
  ])
    expect([accept, await accepted(accept)]).toEqual([accept, 'record'])
})
