import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { projectFolder } from './page-folders.ts'

const OURS = '@gateway/'

/** All that the built page depends on: its own sources, those of the packages that it imports, and the versions of all others. */
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

/** Changes whenever the page has to be built again. */
export function pageFingerprint(): string {
  const hash = createHash('sha256')
  for (const file of sources().flatMap(filesIn).toSorted())
    hash.update(`\0${file}\0`).update(readFileSync(path.join(projectFolder, file)))
  return hash.digest('hex')
}

/** The files below a folder, or the file itself; tests say nothing of what is built. */
function filesIn(place: string): string[] {
  if (path.extname(place) !== '') return [place]
  return readdirSync(path.join(projectFolder, place), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map(({ parentPath, name }) => path.relative(projectFolder, path.join(parentPath, name)))
}
