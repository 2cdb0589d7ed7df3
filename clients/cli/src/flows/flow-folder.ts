import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { Graph, ContractSide } from '@gateway/api/graph'
import { z } from 'zod'
import { CommandFailure, systemFailure } from '../frame/command-failure.ts'
import { writeWhole } from '../frame/write-whole.ts'
import { readIfThere } from '../session/profiles.ts'
import { readJson } from './json-positions.ts'
import { readContractSide, type Field } from '@gateway/flow/contract'

// A folder of flows, to keep in git: one file per flow, as in the console, and a lock file with their origins.
//   L1  The lock file records for each flow the last revision that its author has seen. A newer one has not been seen
//       here, so it is neither overwritten nor lost.
//   L2  File names come from readFlowName, nameFor and nameOfFile: no text of another user leads out of the folder.

const LOCK = 'gateway.lock.json'

const lockShape = z.strictObject({
  organization: z.string().nullable().describe('whose flows these are'),
  project: z.string().nullable(),
  flows: z
    .record(
      z.string().refine((name) => nameOfFile(fileOf(name)) === name, 'is not a name of a flow'),
      z.strictObject({
        sandbox: z.string().startsWith('sbx-'),
        revision: z.int().min(0).describe('the one that was seen last; 0: none'),
        digest: z.string().nullable().describe('SHA-256 of the canonical JSON of its graph'),
      }),
    )
    .refine(
      (flows) => new Set(Object.values(flows).map(({ sandbox }) => sandbox)).size === Object.keys(flows).length,
      'Two files name the same sandbox product.',
    ),
})
export type Lock = z.infer<typeof lockShape>
export type LockedFlow = Lock['flows'][string]

export interface FlowFolder {
  folder: string
  lock: Lock
  /** Names in the files and in the lock file. */
  names: string[]
  /** Whether the folder exists. */
  isThere: boolean
  /** Files that look like flows, but whose name no flow here has: they are left out. */
  others: string[]
  /** The text of the file; null if there is none. */
  read(name: string): Promise<string | null>
  write(name: string, graph: Graph): Promise<void>
  keepLock(): Promise<void>
}

export async function openFlowFolder(folder: string): Promise<FlowFolder> {
  const text = await readIfThere(path.join(folder, LOCK))
  const lock = text === null ? lockOf('{"organization":null,"project":null,"flows":{}}') : lockOf(text)
  const files = await filesIn(folder)
  const names = [
    ...new Set([...Object.keys(lock.flows), ...(files ?? []).flatMap((file) => nameOfFile(file) ?? [])]),
  ].toSorted()

  return {
    folder,
    lock,
    names,
    isThere: files !== null,
    others: (files ?? []).filter((file) => /\.flow\.json$/i.test(file) && nameOfFile(file) === null),
    read: (name) => readIfThere(path.join(folder, fileOf(name))),
    write: (name, graph) => writeJson(path.join(folder, fileOf(name)), graph),
    keepLock: () => writeJson(path.join(folder, LOCK), { ...lock, flows: sorted(lock.flows) }),
  }
}

async function filesIn(folder: string): Promise<string[] | null> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw systemFailure(error, folder) ?? error
  })
}

/** Digest of the graph, independent of the order of its fields. */
export function digestOf(graph: Graph): string {
  return createHash('sha256').update(canonicalize(graph)!).digest('hex')
}

/** Replaces the file, also if it is a link that leads elsewhere. */
const writeJson = (file: string, value: unknown) => writeWhole(file, `${JSON.stringify(value, null, 2)}\n`)

/** Without a prototype, so that names such as `constructor` exist only if the file has them. */
function lockOf(text: string): Lock {
  if (/^<{7} /m.test(text))
    throw new CommandFailure(
      `${LOCK} has merge conflicts.`,
      'For each flow keep the part with the higher revision, remove the conflict markers, and review the result: gateway flows diff',
    )
  const read = readJson(text)
  const { data, error } = lockShape.safeParse('fault' in read ? null : read.value)
  if (data) return { ...data, flows: Object.assign(Object.create(null) as Lock['flows'], data.flows) }
  const [issue] = error.issues
  const { line } = 'fault' in read ? read.position : read.at(issue!.path as (string | number)[])
  const why = 'fault' in read ? read.fault : issue!.message
  throw new CommandFailure(
    `${LOCK}:${line} is damaged: ${why}`,
    `Restore ${LOCK} from git, or use the newer version of this command if that wrote it`,
  )
}

const sorted = (flows: Lock['flows']) =>
  Object.fromEntries(Object.entries(flows).toSorted(([a], [b]) => (a < b ? -1 : 1)))

const FILE = /^[a-z0-9][a-z0-9-]{0,99}$/
const ENDING = '.flow.json'

export const fileOf = (name: string) => name + ENDING

/** A file name for any name of a flow, always inside this folder. @param taken names of others */
export function nameFor(title: string, id: string, taken: ReadonlySet<string>): string {
  const plain = title
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60)
    .replace(/-+$/, '')
  const own = id.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  const name = plain === '' ? own : plain
  return taken.has(name) || !FILE.test(name) ? `${name}-${own}`.slice(-100).replace(/^-+/, '') : name
}

/** The name of a flow from user input: the name, or its file. */
export function readFlowName(text: string): string {
  const name = text.endsWith(ENDING) ? text.slice(0, -ENDING.length) : text
  if (FILE.test(name)) return name
  throw new CommandFailure(
    `${JSON.stringify(text)} is not a valid flow name.`,
    'Use lowercase letters, digits and dashes. Name another folder with --dir',
    'usage',
  )
}

/** Name of the flow in a file, or null if the file is not a flow. */
function nameOfFile(file: string): string | null {
  const name = file.endsWith(ENDING) ? file.slice(0, -ENDING.length) : ''
  return FILE.test(name) ? name : null
}

/** The contract of a flow as TypeScript types. @param name of its file */
export function flowTypes(name: string, { input, output }: { input: ContractSide; output: ContractSide }): string {
  const title = name.replaceAll(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()).replace(/^\d/, '_$&')
  return `${interfaceOf(`${title}Input`, input, true)}\n${interfaceOf(`${title}Output`, output, false)}`
}

function interfaceOf(name: string, side: ContractSide, isInput: boolean): string {
  const lines = fieldsOf(side).map(
    (field) => `  ${key(field.name)}${field.required ? '' : '?'}: ${typeOf(field, isInput)}\n`,
  )
  return `export interface ${name} {\n${lines.join('')}}\n`
}

const key = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

function typeOf({ type, options }: Field, isInput: boolean): string {
  if (options) return options.map((option) => JSON.stringify(option)).join(' | ')
  if (type === 'object') return 'Record<string, unknown>'
  if (type !== 'image' && type !== 'audio') return type
  return isInput ? '{ asset: string }' : '{ asset: string; mimeType: string; bytes: number }'
}

/** Fields of a valid side; problems are reported earlier. */
function fieldsOf(side: ContractSide): Field[] {
  const read = readContractSide(side)
  return read.problems ? [] : read.fields
}
