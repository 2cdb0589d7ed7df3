import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { Graph } from '@gateway/contracts/graph'
import { z } from 'zod'
import { CommandFailure } from '../frame/command-failure.ts'
import { readIfThere } from '../session/private-file.ts'
import { fileOf, nameOfFile } from './flow-name.ts'

// A folder of flows, to be kept in git: a file each, as the console shows and takes it, and beside them what they were made of.
//   L1  The lock file says of each flow which revision its author has seen last. What is newer was seen by nobody here, so it is
//       neither saved over nor lost.
//   L2  Names of files come from readFlowName, nameFor and nameOfFile: nothing that others wrote leads out of the folder.

const LOCK = 'gateway.lock.json'

const lockShape = z.strictObject({
  organization: z.string().nullable().describe('whose flows these are'),
  project: z.string().nullable(),
  flows: z.record(
    z.string().refine((name) => nameOfFile(fileOf(name)) === name, 'is no name of a flow'),
    z.strictObject({
      sandbox: z.string().startsWith('sbx-'),
      revision: z.int().min(0).describe('the one that was seen last; 0: none'),
      digest: z.string().nullable().describe('SHA-256 of the canonical JSON of its graph'),
    }),
  ),
})
export type Lock = z.infer<typeof lockShape>
export type LockedFlow = Lock['flows'][string]

export interface FlowFolder {
  folder: string
  lock: Lock
  /** Of the files and of the lock. */
  names: string[]
  /** As it is written; null: there is no file. */
  read(name: string): Promise<string | null>
  write(name: string, graph: Graph): Promise<void>
  keepLock(): Promise<void>
}

export async function openFlowFolder(folder: string): Promise<FlowFolder> {
  const text = await readIfThere(path.join(folder, LOCK))
  const lock = text === null ? { organization: null, project: null, flows: {} } : lockOf(text)
  const files = await readdir(folder).catch(() => [])
  const names = [
    ...new Set([...Object.keys(lock.flows), ...files.flatMap((file) => nameOfFile(file) ?? [])]),
  ].toSorted()

  return {
    folder,
    lock,
    names,
    read: (name) => readIfThere(path.join(folder, fileOf(name))),
    write: (name, graph) => writeWhole(path.join(folder, fileOf(name)), graph),
    keepLock: () => writeWhole(path.join(folder, LOCK), { ...lock, flows: sorted(lock.flows) }),
  }
}

/** Of the graph as it says the same in whatever order its fields stand. */
export function digestOf(graph: Graph): string {
  return createHash('sha256').update(canonicalize(graph)!).digest('hex')
}

/** Takes the place of what was there, also of a link that leads elsewhere. */
async function writeWhole(file: string, value: unknown): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true })
  const work = `${file}.${process.pid}`
  try {
    await writeFile(work, `${JSON.stringify(value, null, 2)}\n`, { flag: 'wx' })
    await rename(work, file)
  } finally {
    await rm(work, { force: true })
  }
}

function lockOf(text: string): Lock {
  try {
    return lockShape.parse(JSON.parse(text))
  } catch {
    throw new CommandFailure(`${LOCK} is not as it was written.`, `Take ${LOCK} back from git`)
  }
}

const sorted = (flows: Lock['flows']) =>
  Object.fromEntries(Object.entries(flows).toSorted(([a], [b]) => (a < b ? -1 : 1)))
