import path from 'node:path'
import type { PluginContext } from 'rolldown'

// Bundles programs with everything that they import. A process that reads one file is ready about a second sooner than
// one that strips the types of a thousand, and an image with a bundle needs no packages.

export const projectFolder = path.resolve(import.meta.dirname, '../../..')

export interface BundledModule {
  /** Absolute path of its source. */
  file: string
  bytes: number
}

interface Options {
  /** Source of each program by the name of its bundle, relative to the project. */
  programs: Record<string, string>
  /** Folder for the bundles. */
  folder: string
  /**
   * Folder that the bundles run in, from where they find the files next to their modules: in the project, or in a copy
   * of these files with the same paths. Default: `folder`
   */
  runIn?: string
}

/**
 * Writes `<name>.js` for each program and for each thread that one opens, and the chunks that they share.
 * @returns the modules in the bundles
 * @throws Error if an import cannot be resolved or a module locates itself in an unsupported way
 */
export async function bundlePrograms({ programs, folder, runIn = folder }: Options): Promise<BundledModule[]> {
  const input = Object.fromEntries(
    Object.entries(programs).map(([name, file]) => [name, path.join(projectFolder, file)]),
  )
  function transform(this: PluginContext, code: string, id: string): string | null {
    const moved = keepPlaces(code, id, runIn)
    for (const thread of moved?.threads ?? [])
      this.emitFile({ type: 'chunk', id: thread, fileName: `${path.basename(thread, '.ts')}.js` })
    return moved && moved.code
  }
  const { rolldown } = await import('rolldown')
  const build = await rolldown({ input, platform: 'node', plugins: [{ name: 'places', transform }] })
  const naming = { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' }
  const { output } = await build.write({ dir: folder, format: 'esm', ...naming })
  await build.close()
  return output.flatMap((part) =>
    part.type === 'chunk'
      ? Object.entries(part.modules)
          .filter(([file]) => path.isAbsolute(file))
          .map(([file, { code }]) => ({ file, bytes: Buffer.byteLength(code ?? '') }))
      : [],
  )
}

/**
 * Replaces a module's location by that of its source, since the bundles are in another folder. A thread's program is
 * the exception: its bundle is next to the others.
 * @param folder of the bundles
 * @returns null if the module does not locate itself; `threads` are the sources of the programs of its threads
 * @throws Error if it does so in a way that would yield the location of the bundle
 */
export function keepPlaces(code: string, id: string, folder: string): { code: string; threads: string[] } | null {
  if (!code.includes('import.meta.') || id.includes('node_modules')) return null
  const relative = path.relative(folder, id).split(path.sep).map(encodeURIComponent).join('/')
  const own = `new URL(${JSON.stringify(relative)}, import.meta.url)`
  const file = `process.getBuiltinModule('node:url').fileURLToPath(${own})`
  const from: Record<string, string> = {
    dirname: `process.getBuiltinModule('node:path').dirname(${file})`,
    url: `${own}.href`,
  }
  const threads: string[] = []
  const locations = /new URL\('\.\/([\w-]+-main)\.ts', import\.meta\.url\)|import\.meta\.(\w+)/g
  const moved = code.replaceAll(locations, (_, thread: string | undefined, name: string) => {
    if (thread !== undefined) {
      threads.push(path.join(path.dirname(id), `${thread}.ts`))
      return `new URL('./${thread}.js', import.meta.url)`
    }
    if (from[name] === undefined)
      throw new Error(`${id} uses import.meta.${name}, which a bundle would answer wrongly.`)
    return from[name]
  })
  return { code: moved, threads }
}
