import { rm } from 'node:fs/promises'
import path from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { installPacked } from '@gateway/client/packed-project'
import { browserBundle } from '@gateway/testbed/browser-bundle'
import { temporaryFolder } from '@gateway/testbed/test-servers'
import type { BenchDeps } from '../bench.ts'
import { describeRun } from '../report/machine.ts'
import { table } from '../report/table.ts'
import { formatTargets } from '../report/targets.ts'

// What the TypeScript client adds to a page: published, installed, bundled and minified for a browser, and compressed.

const WANTED_KIB = 12
const entries = ['gateway', 'console']
const kib = (bytes: number) => `${bytes.toFixed(2)} KiB`

export async function clientSize({ stops }: BenchDeps): Promise<string> {
  const project = await temporaryFolder('client')
  stops.add(() => rm(project, { recursive: true, force: true }))
  const installed = await installPacked(project)
  const sizes: number[] = []
  for (const entry of entries) {
    const { script } = await browserBundle(path.join(installed, `${entry}.js`), { minify: true })
    sizes.push(brotliCompressSync(script).length / 1_024)
  }
  return [
    await describeRun(new Date()),
    table(
      ['entry point', 'in a page'],
      entries.map((entry, n) => [entry, kib(sizes[n]!)]),
    ),
    formatTargets([
      { what: 'the larger one', wanted: WANTED_KIB, found: Math.max(...sizes), better: 'less', say: kib },
    ]),
  ].join('\n\n')
}
