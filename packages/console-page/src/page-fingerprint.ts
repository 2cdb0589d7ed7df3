import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { projectFolder } from './page-folders.ts'

const OURS = '@gateway/'

/**
 * Inputs of the build: sources of the page and of the workspace packages it imports, and the lockfile for all other
 * packages.
 */
function sources(): string[] {
  const { devDependencies } = JSON.parse(
    readFileSync(path.join(projectFolder, 'packages/console-page/package.json'), 'utf8'),
  ) as { devDependencies: Record<string, string> }
  const imported = Object.keys(devDependencies).filter((name) => name.startsWith(OURS))
  return [
    'packages/console-page/page',
    'packages/console-page/src',
    ...imported.map((name) => `packages/${name.slice(OURS.length)}/src`),
    'pnpm-lock.yaml',
    'tsconfig.json',
  ]
}

/** Hash of the build inputs. The page must be rebuilt when it changes. */
export function pageFingerprint(): string {
  const hash = createHash('sha256')
  for (const file of sources().flatMap(filesIn).toSorted())
    hash.update(`\0${file}\0`).update(readFileSync(path.join(projectFolder, file)))
  return hash.digest('hex')
}

/** Files in a folder, or the file itself. Tests do not affect the build. */
function filesIn(place: string): string[] {
  if (path.extname(place) !== '') return [place]
  return readdirSync(path.join(projectFolder, place), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !/\.(test|fixture)\.tsx?$/.test(entry.name))
    .map(({ parentPath, name }) => path.relative(projectFolder, path.join(parentPath, name)))
}
