import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { compressFile } from './compress-file.ts'
import { leftOut } from './left-out.ts'
import { pageAddress } from './page-address.ts'
import { pageFingerprint } from './page-fingerprint.ts'
import { builtFolder, madeFromFile, pageFolder } from './page-folders.ts'
import { withoutEval } from './without-eval.ts'

/** Browsers released since spring 2024. They support `light-dark()`, so no fallbacks are needed. */
const browsers = ['chrome123', 'edge123', 'firefox125', 'safari17.5']

/**
 * Builds the page into `dist` if a source changed: files with hashed names, each also compressed. `dist` is replaced as
 * a whole, also if several processes build at the same time. Returns whether it built.
 */
export async function buildPage(): Promise<boolean> {
  const wanted = pageFingerprint()
  if (await isBuilt(wanted)) return false
  const work = `${builtFolder}-${process.pid}`
  await mkdir(work)
  try {
    await runVite(work)
    for (const name of await readdir(work)) await compressFile(path.join(work, name))
    await writeFile(path.join(work, path.basename(madeFromFile)), wanted)
    await rm(builtFolder, { recursive: true, force: true })
    await rename(work, builtFolder).catch(async (error: unknown) => {
      if (!(await isBuilt(wanted))) throw error // otherwise another process finished first
    })
  } finally {
    await rm(work, { recursive: true, force: true })
  }
  return true
}

async function isBuilt(wanted: string): Promise<boolean> {
  return (await readFile(madeFromFile, 'utf8').catch(() => '')) === wanted
}

async function runVite(outDir: string): Promise<void> {
  const { build } = await import('vite') // takes half a second, so import it only for a build
  await build({
    root: pageFolder,
    base: `${pageAddress}/`,
    configFile: false,
    logLevel: 'error',
    plugins: [leftOut],
    build: {
      outDir,
      emptyOutDir: true,
      assetsDir: '',
      assetsInlineLimit: 0, // the content security policy blocks `data:` URLs
      modulePreload: { polyfill: false },
      target: browsers,
      rolldownOptions: {
        treeshake: { manualPureFunctions: ['z'] }, // drops unused schemas
        output: { banner: withoutEval },
      },
      chunkSizeWarningLimit: 1_000, // page-sizes.test.ts enforces the limits
    },
  })
}
