import { execFile } from 'node:child_process'
import { cp } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { buildCommandLine } from '@gateway/cli/build-command-line'

const workspace = path.resolve(import.meta.dirname, '../../..')
const run = promisify(execFile)

/** Puts the archive of the command line into a folder, as `npm pack` in clients/cli makes it. */
export async function packCommandLine(folder: string): Promise<void> {
  const packed = path.join(folder, 'package')
  await buildCommandLine(path.join(packed, 'dist'))
  await cp(path.join(workspace, 'clients/cli/package.json'), path.join(packed, 'package.json'))
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', '..'], { cwd: packed })
}
