import { createContext, runInContext } from 'node:vm'
import { rolldown, type Plugin } from 'rolldown'

/**
 * Bundles a file and all its imports into one script, as bundlers for browsers do, and lists the files in it. The
 * exports of the file are in `program`.
 * @param plugins of the bundler
 * @throws for an import that can't be resolved in a browser, such as a Node module
 */
export async function browserBundle(
  file: string,
  { minify = false, plugins = [] }: { minify?: boolean; plugins?: Plugin[] } = {},
): Promise<{ script: string; files: string[] }> {
  const bundle = await rolldown({
    input: file,
    plugins,
    platform: 'browser',
    onLog(_, { message }) {
      throw new Error(message)
    },
  })
  const { output } = await bundle.generate({ format: 'iife', name: 'program', minify })
  await bundle.close()
  return { script: output[0].code, files: output[0].moduleIds }
}

/**
 * The exports of a script of `browserBundle`, run with only the language, these browser globals, and nothing of Node.
 */
export function inBrowser(script: string): Record<string, unknown> {
  const context = createContext({ TextDecoder, TextEncoder, URL })
  return runInContext(`${script}\nprogram`, context) as Record<string, unknown>
}
