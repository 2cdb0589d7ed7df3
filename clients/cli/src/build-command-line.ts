import path from 'node:path'
import { rolldown } from 'rolldown'

/** Bundles the command: one self-contained file for any Node from 20 on. Returns its path. */
export async function buildCommandLine(folder = path.join(import.meta.dirname, '../dist')): Promise<string> {
  const file = path.join(folder, 'gateway.js')
  const bundle = await rolldown({
    input: path.join(import.meta.dirname, 'main.ts'),
    platform: 'node',
    transform: { target: 'node20' },
    onLog(level, { message }) {
      if (level === 'warn') throw new Error(message)
    },
  })
  await bundle.write({ file, format: 'esm', banner: '#!/usr/bin/env node', codeSplitting: false })
  await bundle.close()
  return file
}
