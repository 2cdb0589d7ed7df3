import { cp, mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { rolldown } from 'rolldown'
import { declarations } from './declarations.ts'

const clientFolder = path.join(import.meta.dirname, '..')

/** The entry points with their files. */
const entries = { '.': 'gateway', './console': 'console' } as const

const manifest = {
  name: '@gateway/client',
  version: '0.1.0',
  description: 'Flows, assets and money of a project-bound model gateway, from TypeScript and JavaScript',
  license: 'UNLICENSED',
  type: 'module',
  engines: { node: '>=20' },
  sideEffects: false,
  exports: Object.fromEntries(
    Object.entries(entries).map(([name, file]) => [name, { types: `./${file}.d.ts`, default: `./${file}.js` }]),
  ),
}

/** Rebuilds the published folder: scripts, declarations, the manifest, and the docs page as README. */
export async function buildPackage(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(path.join(folder, 'api'), { recursive: true })
  const bundle = await rolldown({
    input: Object.fromEntries(
      Object.values(entries).map((name) => [name, path.join(clientFolder, 'src', `${name}.ts`)]),
    ),
    platform: 'neutral',
    onLog(_, { message }) {
      throw new Error(message)
    },
  })
  await bundle.write({ dir: folder, format: 'esm', chunkFileNames: 'shared.js' })
  await bundle.close()
  for (const [name, text] of declarations(Object.values(entries))) await writeFile(path.join(folder, name), text)
  await writeFile(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  await cp(path.join(clientFolder, '../../docs/typescript-client.md'), path.join(folder, 'README.md'))
}
