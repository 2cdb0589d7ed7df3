import { createContext, runInContext } from 'node:vm'
import { rolldown, type Plugin } from 'rolldown'

/**
 * One script of a file and all that it imports, as a bundler for browsers makes it, and the files that are in it. What the file
 * exports is in `program`.
 * @param plugins of the bundler
 * @throws where it imports what can't be resolved there, such as a module of Node
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

/** What a script of `browserBundle` exports, run where there is the language, these names of browsers, and nothing of Node. */
export function inBrowser(script: string): Record<string, unknown> {
  const context = createContext({ TextDecoder, TextEncoder, URL })
  return runInContext(`${script}\nprogram`, context) as Record<string, unknown>
}
