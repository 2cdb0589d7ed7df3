import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const projectFolder = path.resolve(import.meta.dirname, '../..')

// Each line is a separate file: its path, its code, and what the linter reports.
const forbidden: [file: string, code: string, answer: RegExp][] = [
  ['services/gateway/src/a.ts', "import '@gateway/ledger/app'", /A service never imports a service/],
  ['services/gateway/src/b.ts', "import '../../ledger/src/app.ts'", /entered by its door/],
  ['services/gateway/src/c.ts', "import '@gateway/database/client'", /Only ledger and console reach the database/],
  ['services/worker/src/a.ts', "import { Queue } from 'bullmq'", /node-queue is the only place that knows BullMQ/],
  ['services/worker/src/b.ts', "await import('@prisma/client')", /Prisma stays in/],
  ['services/ledger/src/a.ts', "export * from '@gateway/testbed/fixture'", /made for tests never runs in production/],
  ['services/ledger/src/b.ts', "import { Client } from 'pg'", /made by the database package/],
  ['services/console/src/a.ts', "import '@gateway/local-stack/ready-facts'", /no part of the stack knows them/],
  ['packages/providers/src/a.ts', "import '@gateway/ledger/app'", /A package never imports a service/],
  ['packages/providers/src/b.ts', "import express from 'express'", /Express stays in the services/],
  [
    'packages/providers/src/c.ts',
    "import '@gateway/service-kit/process/logger'",
    /providers may know service-kit\/async, api, pricing/,
  ],
  ['packages/api/src/a.ts', "import '@gateway/providers/open-providers'", /api may know pricing/],
  ['packages/api/src/e.ts', "import '@gateway/ledger-protocol/ledger-items'", /wire to the ledger is private/],
  [
    'packages/console-page/page/a.ts',
    "import '@gateway/ledger-protocol/ledger-items'",
    /wire to the ledger is private/,
  ],
  [
    'packages/console-page/page/b.ts',
    "import '@gateway/providers/open-providers'",
    /console-page may know api-client, api/,
  ],
  ['clients/cli/src/a.ts', "import '@gateway/ledger-protocol/flow-reads'", /wire to the ledger is private/],
  [
    'clients/typescript/src/a.ts',
    "export * from '@gateway/ledger-protocol/ledger-items'",
    /wire to the ledger is private/,
  ],
  ['packages/api-client/src/a.ts', "import '@gateway/pricing/price'", /api-client may know api/],
  ['packages/api-client/src/b.ts', "import 'node:http'", /a browser has no node:http/],
  ['packages/pricing/src/a.ts', "import '@gateway/api/ids'", /pricing may know no other package/],
  ['packages/pricing/src/b.ts', "import { readFileSync } from 'node:fs'", /is pure/],
  ['packages/pricing/src/c.ts', "import { randomBytes } from 'node:crypto'", /is pure/],
  ['packages/pricing/src/d.ts', 'export const at = Date.now()', /may not use Date.now/],
  ['packages/pricing/src/e.ts', 'export const at = new Date()', /may not use the clock/],
  ['packages/pricing/src/f.ts', 'export const chance = Math.random()', /may not use Math.random/],
  ['packages/flow/src/a.ts', 'export const day = process.env.DAY', /may not use process/],
  ['packages/flow/src/b.ts', "void fetch('http://127.0.0.1')", /may not use fetch/],
  ['packages/api/src/b.ts', "export { hostname } from 'os'", /is pure/],
  ['services/ledger/oracle/a.ts', 'export const at = performance.now()', /may not use performance/],
  [
    'packages/flow/src/d.ts',
    "import { hash } from 'node:crypto'\nexport const digest = hash",
    /a browser has no node:crypto/,
  ],
  ['packages/flow/src/e.ts', "export const read = () => import('zlib')", /a browser has no zlib/],
  [
    'packages/api/src/c.ts',
    'export const bytes = (text: string) => Buffer.byteLength(text)',
    /a browser has no Buffer/,
  ],
  ['packages/api/src/d.ts', 'export const has = globalThis.process', /a browser has no process/],
  [
    'packages/pricing/src/j.ts',
    "export const is = typeof (globalThis as { Buffer?: {} })['Buffer']",
    /a browser has no Buffer/,
  ],
  [
    'packages/pricing/src/k.ts',
    "import type { Buffer } from 'node:buffer'\nexport type B = Buffer",
    /a browser has no node:buffer/,
  ],
  ['services/gateway/src/d.ts', 'export const url = process.env.LEDGER_URL', /process.env is read in a main.ts only/],
  ['packages/assets/src/a.ts', "export const url = process['env'].S3", /process.env is read in a main.ts only/],
  ['services/gateway/src/e.ts', 'async function ask() {}\nask()', /no-floating-promises/],
]

const permitted: [file: string, code: string][] = [
  ['services/ledger/src/c.ts', "import '@gateway/database/client'\nimport '@gateway/api/ids'\nimport 'express'"],
  ['services/ledger/src/d.live.test.ts', "import '@gateway/testbed/fixture'"],
  ['services/gateway/src/main.ts', 'export const url = process.env.LEDGER_URL'],
  ['packages/tokens/src/a.ts', "import '@gateway/ledger-protocol/ledger-refusal'"],
  ['packages/node-queue/src/a.ts', "import 'bullmq'"],
  ['packages/database/src/a.ts', "import '@prisma/client'\nimport 'pg'"],
  ['services/ledger/oracle/b.ts', "import { createHash } from 'node:crypto'\nexport const hash = createHash"],
  ['packages/flow/src/package.ts', "import { hash } from 'node:crypto'\nexport const digest = hash"],
  ['packages/api/src/text-bytes.ts', 'export const native = (globalThis as { Buffer?: unknown }).Buffer'],
  ['packages/api/src/f.ts', 'export const b = (x: { Buffer: 1; process: 2 }) => x.Buffer + x.process'],
  ['packages/api/src/g.test.ts', 'export const bytes = Buffer.byteLength'],
  ['packages/pricing/src/h.ts', 'export const day = (ms: number) => new Date(ms).getUTCDate()'],
  ['packages/flow/src/c.ts', 'export const run = (crypto: { id: string }) => crypto.id'],
  ['packages/pricing/src/i.test.ts', "import '@gateway/testbed/fixture'\nexport const at = Date.now()"],
  ['scenarios/src/a.scenario.ts', "import '@gateway/testbed/fixture'\nimport '@gateway/ledger/app'"],
]

const project = mkdtempSync(path.join(tmpdir(), 'local-rules-'))
let answers: { filename: string; text: string }[] = []

beforeAll(async () => {
  for (const [file, code] of [...forbidden, ...permitted]) {
    mkdirSync(path.join(project, path.dirname(file)), { recursive: true })
    writeFileSync(path.join(project, file), `${code}\n`)
  }
  writeFileSync(
    path.join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { strict: true, module: 'nodenext' } }),
  )
  const args = ['--type-aware', '-c', path.join(projectFolder, '.oxlintrc.json'), '-f', 'json', '.']
  const oxlint = path.join(projectFolder, 'node_modules/.bin/oxlint')
  const { stdout } = await promisify(execFile)(oxlint, args, { cwd: project }).catch(
    (error: { stdout: string }) => error,
  )
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { filename: string; message: string; code: string }[] }
  answers = diagnostics.map(({ filename, message, code }) => ({ filename, text: `${code} ${message}` }))
}, 30_000)
afterAll(() => rmSync(project, { recursive: true }))

const saidOf = (file: string) => answers.filter(({ filename }) => filename === file).map(({ text }) => text)

describe('the linter refuses', () => {
  test.each(forbidden)('%s: %s', (file, _code, answer) => {
    expect(saidOf(file)).toContainEqual(expect.stringMatching(answer))
  })
})

describe('the linter accepts', () => {
  test.each(permitted)('%s: %s', (file) => {
    expect(saidOf(file).filter((text) => /local|floating/.test(text))).toEqual([])
  })
})
