import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { promisify } from 'node:util'
import { readFunctions } from './apply-functions.ts'
import { sqlFunctionsModule } from './generate-sql-functions.ts'

const projectFolder = path.resolve(import.meta.dirname, '../../..')
const schemaFolder = path.join(projectFolder, 'prisma/schema')
const functionsFolder = path.join(projectFolder, 'prisma/functions')
const generated = path.join(import.meta.dirname, 'generated')
const madeFrom = path.join(generated, 'made-from.txt')

/** Generates the signatures of the SQL functions into src/generated. */
export async function generateSqlFunctions(): Promise<void> {
  await mkdir(generated, { recursive: true })
  const { files } = await readFunctions(functionsFolder)
  await writeFile(path.join(generated, 'sql-functions.ts'), sqlFunctionsModule(files))
}

/**
 * Generates the Prisma client into src/generated if the schema or the version of Prisma changed since the last run.
 * Works without a network: Prisma would download an engine that generating doesn't use, and accepts any file in its
 * place. Returns whether it generated.
 */
export async function generateClient(): Promise<boolean> {
  const require = createRequire(import.meta.url)
  const manifest = require.resolve('prisma/package.json')
  const wanted = await fingerprint(await readFile(manifest, 'utf8'))
  if ((await readFile(madeFrom, 'utf8').catch(() => '')) === wanted) return false

  const command = path.join(path.dirname(manifest), 'build/index.js')
  const args = [command, 'generate', '--schema', schemaFolder, '--no-hints']
  const env = {
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    CHECKPOINT_DISABLE: '1',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
  }
  try {
    await promisify(execFile)(process.execPath, args, { cwd: projectFolder, env })
  } catch (error) {
    throw new Error(`The Prisma client can't be generated. ${String(error)}`, { cause: error })
  }
  await writeFile(madeFrom, wanted)
  return true
}

async function fingerprint(prismaManifest: string): Promise<string> {
  const hash = createHash('sha256').update(prismaManifest)
  for (const file of (await readdir(schemaFolder)).toSorted()) {
    hash.update(`\0${file}\0`).update(await readFile(path.join(schemaFolder, file)))
  }
  return hash.digest('hex')
}
