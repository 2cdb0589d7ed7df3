import { findProgram, runs, type Machine } from './find-program.ts'

const names = ['chromium', 'chromium-headless-shell', 'google-chrome', 'google-chrome-stable', 'chromium-browser']

/**
 * Finds a Chromium for the tests of the console, and returns its file: the one named in `CHROMIUM`, else one on the
 * PATH, else, for root on Debian or Ubuntu, the package of the distribution, which it installs. Throws one message with
 * the remedies if none is available.
 */
export async function findChromium(machine: Machine = {}): Promise<string> {
  const { env = process.env } = machine
  const named = env['CHROMIUM']
  if (named) {
    if (await runs(named, env)) return named
    throw new Error(`CHROMIUM is ${named}, which does not run. Name a Chromium, or leave it empty.`)
  }
  const found = await findProgram(names, 'chromium', machine)
  if ('file' in found) return found.file
  throw new Error(
    [
      'A Chromium is needed to test the console, and there is none here. One of these mends it:',
      '  1. install chromium or google-chrome (Debian: apt-get install chromium; macOS: brew install chromium),',
      '  2. set CHROMIUM to the program of one.',
      `(Installing the package of the distribution failed: ${found.problem})`,
    ].join('\n'),
  )
}
