import { createContext, runInContext } from 'node:vm'
import { rolldown } from 'rolldown'

/**
 * One script of a file and all that it imports, as a bundler for browsers makes it; what the file exports is in `program`.
 * @throws where it imports what can't be resolved there, such as a module of Node
 */
export async function browserBundle(file: string, minify = false): Promise<string> {
  const bundle = await rolldown({
    input: file,
    platform: 'browser',
    onLog(_, { message }) {
      throw new Error(message)
    },
  })
  const { output } = await bundle.generate({ format: 'iife', name: 'program', minify })
  await bundle.close()
  return output[0].code
}

/** What a script of `browserBundle` exports, run where there is the language, these names of browsers, and nothing of Node. */
export function inBrowser(script: string): Record<string, unknown> {
  const context = createContext({ TextDecoder, TextEncoder, URL })
  return runInContext(`${script}\nprogram`, context) as Record<string, unknown>
}
